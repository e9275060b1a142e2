# Trials of experiments on releases and of private training, under one reading or all; summaries.


# A mechanism of an experiment is a job, by its wildcards, where a job makes one row. Else jobs make
# as many as per_job says: schemes share their start and compilation; reference rows take no time.
JOBS = [("trials", "{experiment}", ["{mechanism}"])]
for name, rows in configuration.bundles(config):
    alone = name in EXPERIMENTS and EXPERIMENTS[name]["per_job"] == 1
    verb = "train" if name in TRAINING else "trials"
    JOBS.append((f"references_{name}" if alone else f"{verb}_{name}_{rows[0]}", name, rows))

for job, name, rows in JOBS:

    rule:
        name:
            job
        input:
            functools.partial(material, name),
        output:
            expand("results/trials/{name}/{{reading}}/{row}.csv.gz", name=name, row=rows),
        log:
            f"results/logs/trials/{name}/{{reading}}/{rows[0]}.log",
        benchmark:
            f"results/benchmarks/trials/{name}/{{reading}}/{rows[0]}.tsv"
        wildcard_constraints:
            experiment="|".join(n for n in EXPERIMENTS if EXPERIMENTS[n]["per_job"] == 1) or "none",
        conda:
            "../../environment.yml"
        resources:
            **(LARGE if name in TRAINING else {}),
        params:
            root=root,
            rows=functools.partial(filled, [name, *rows]),
            made=functools.partial(made_by, [name, *rows]),
            verb="train" if name in TRAINING else "trials",
            under="" if name in TRAINING else " --reading {reading}",
            choices=lambda wildcards: dependence.choices(wildcards.reading),
        message:
            "Trials: {params.rows}, {wildcards.reading}"
        shell:
            "python -m matrixdp {params.verb} {params.rows}{params.under} --results {params.root}"
            " --out {params.root}/trials/{params.rows[0]}/{wildcards.reading} > {log} 2>&1"


rule summary:
    input:
        lambda wildcards: trials_of(
            wildcards.any_experiment, wildcards.get("other", readings.DEFAULT)
        ),
    output:
        "results/summary/{any_experiment}.csv",
        "results/comparisons/{any_experiment}.csv",
    log:
        "results/logs/summary/{any_experiment}.log",
    benchmark:
        "results/benchmarks/summary/{any_experiment}.tsv"
    conda:
        "../../environment.yml"
    params:
        root=root,
        reading=lambda wildcards: wildcards.get("other", readings.DEFAULT),
        made=lambda wildcards: made_from(
            wildcards.any_experiment, wildcards.get("other", readings.DEFAULT), code=False
        ),
        metrics=METRICS,
        code=sources.digest("cli/summary.py"),
    message:
        "Summary: {wildcards.any_experiment}, {params.reading}"
    shell:
        "python -m matrixdp summary {wildcards.any_experiment} --reading {params.reading}"
        " --results {params.root} > {log} 2>&1"


use rule summary as summary_of_reading with:
    output:
        "results/readings/{other}/summary/{any_experiment}.csv",
        "results/readings/{other}/comparisons/{any_experiment}.csv",
    log:
        "results/logs/summary/{other}/{any_experiment}.log",
    benchmark:
        "results/benchmarks/summary/{other}/{any_experiment}.tsv"
