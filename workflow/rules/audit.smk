# What needs no trials: the privacy audit, and what the papers' theorems say in numbers.


rule audit_experiment:
    input:
        lambda wildcards: data_of(wildcards.experiment),
    output:
        audit="results/audit/{experiment}.csv",
        sensitivities="results/audit/{experiment}_sensitivities.csv",
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
            "cli/audit.py",
            task_of(wildcards.experiment),
            *mechanisms_of(wildcards.experiment).values(),
        ),
    message:
        "Audit: {wildcards.experiment}"
    shell:
        "python -m matrixdp audit {wildcards.experiment} --out {output.audit} > {log} 2>&1"


# What needs a seed alone: known mistakes that the audit must catch, and theory; what measures this
# machine is a job of its own.
SEEDED = {
    "canaries": ["audit canaries", "audit/canaries", [], "results/audit/canaries.csv"],
    "theory": ["theory " + " ".join(THEORY), "theory/theory", THEORY, "results/theory"],
    "sampler_times": ["theory sampler_times", "theory/sampler_times", TIMED, "results/theory"],
}

for job, (command, place, names, out) in SEEDED.items():

    rule:
        name:
            job
        output:
            [f"{out}/{name}.csv" for name in names] or out,
        log:
            f"results/logs/{place}.log",
        benchmark:
            f"results/benchmarks/{place}.tsv"
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            **SMALL,
        params:
            command=command,
            out=out,
            seed=config["seed"],
            code=sources.digest(
                f"cli/{command.split()[0]}.py",
                *(sources.theory()[name] for name in names),
            ),
        message:
            "{params.command}"
        shell:
            "python -m matrixdp {params.command} --seed {params.seed} --out {params.out} > {log} 2>&1"
