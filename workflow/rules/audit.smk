# What needs no trials: the privacy audit, and what the papers' theorems say in numbers.


rule audit_experiment:
    input:
        lambda wildcards: data_of(wildcards.experiment),
    output:
        "results/audit/{experiment}.csv",
        "results/audit/{experiment}_sensitivities.csv",
    log:
        "results/logs/audit/{experiment}.log",
    benchmark:
        "results/benchmarks/audit/{experiment}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **SMALL,
    params:
        root=root,
        rows=lambda wildcards: list(mechanisms_of(wildcards.experiment)),
        part=lambda wildcards: configuration.audited(config, wildcards.experiment),
        runs=config["audit_runs"],
        code=lambda wildcards: code_of(("cli/audit.py", "experiment"), wildcards.experiment),
    message:
        "Audit: {wildcards.experiment}"
    shell:
        "python -m matrixdp audit {wildcards.experiment} --results {params.root}"
        " --out {params.root}/audit > {log} 2>&1"


# What needs a seed alone: mistakes that the audit must catch, theory, and what measures the machine.
SEEDED = {
    "canaries": [
        "Mistakes that the audit must catch",
        "audit",
        ["canaries"],
        [("cli/audit.py", "canaries")],
    ],
    "theory": [
        "What the theorems say in numbers",
        "theory",
        THEORY,
        ["cli/theory.py", *(sources.theory()[n] for n in THEORY)],
    ],
    "sampler_times": [
        "How long samplers take here",
        "theory",
        TIMED,
        ["cli/theory.py", *(sources.theory()[n] for n in TIMED)],
    ],
}

for job, (about, verb, names, code) in SEEDED.items():

    rule:
        name:
            job
        output:
            expand("results/{verb}/{name}.csv", verb=verb, name=names),
        log:
            f"results/logs/{verb}/{job}.log",
        benchmark:
            f"results/benchmarks/{verb}/{job}.tsv"
        conda:
            "../../environment.yml"
        resources:
            **SMALL,
        params:
            root=root,
            verb=verb,
            names=names,
            seed=config["seed"],
            code=sources.digest(*code),
        message:
            "{rule}: {params.names}"
        shell:
            "python -m matrixdp {params.verb} {params.names} --seed {params.seed}"
            " --out {params.root}/{params.verb} > {log} 2>&1"

    described(job, about)
