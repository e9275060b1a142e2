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
    threads: 1
    resources:
        **SMALL,
    params:
        rows=lambda wildcards: list(mechanisms_of(wildcards.experiment)),
        part=lambda wildcards: configuration.audited(config, wildcards.experiment),
        runs=config["audit_runs"],
        code=lambda wildcards: sources.digest(
            ("cli/audit.py", "experiment"),
            task_of(wildcards.experiment),
            *mechanisms_of(wildcards.experiment).values(),
        ),
    message:
        "Audit: {wildcards.experiment}"
    shell:
        "python -m matrixdp audit {wildcards.experiment} --out results/audit > {log} 2>&1"


# What needs a seed alone: mistakes that the audit must catch, theory, and what measures the machine.
SEEDED = {
    "canaries": ["audit", ["canaries"], [("cli/audit.py", "canaries")]],
    "theory": ["theory", THEORY, ["cli/theory.py", *(sources.theory()[n] for n in THEORY)]],
    "sampler_times": ["theory", TIMED, ["cli/theory.py", *(sources.theory()[n] for n in TIMED)]],
}

for job, (verb, names, code) in SEEDED.items():

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
        threads: 1
        resources:
            **SMALL,
        params:
            verb=verb,
            names=names,
            seed=config["seed"],
            code=sources.digest(*code),
        message:
            "{rule}: {params.names}"
        shell:
            "python -m matrixdp {params.verb} {params.names} --seed {params.seed}"
            " --out results/{params.verb} > {log} 2>&1"
