# Experiments on releases: trials of every mechanism, under one reading or all, and their summaries.
PARTS = configuration.bundles(config)


rule trials:
    input:
        lambda wildcards: data_of(wildcards.experiment),
    output:
        "results/trials/{experiment}/{reading}/{mechanism}.csv.gz",
    log:
        "results/logs/trials/{experiment}/{reading}/{mechanism}.log",
    benchmark:
        "results/benchmarks/trials/{experiment}/{reading}/{mechanism}.tsv"
    wildcard_constraints:
        experiment="|".join(name for name in EXPERIMENTS if EXPERIMENTS[name]["per_job"] == 1)
        or "none",
    conda:
        "../../environment.yml"
    resources:
        **SMALL,
    params:
        root=root,
        made=lambda wildcards: made_from(
            wildcards.experiment, wildcards.reading, wildcards.mechanism
        ),
        choices=lambda wildcards: choices(wildcards.reading),
    message:
        "Trials: {wildcards.experiment}, {wildcards.mechanism}, {wildcards.reading}"
    shell:
        "python -m matrixdp trials {wildcards.experiment} {wildcards.mechanism}"
        " --reading {wildcards.reading} --results {params.root}"
        " --out {params.root}/trials/{wildcards.experiment}/{wildcards.reading} > {log} 2>&1"


# Rows that one job makes: reference rows, which take no time, or as many as per_job says.
for name, rows in [one for one in PARTS if one[0] in EXPERIMENTS]:

    rule:
        name:
            f"references_{name}"
            if EXPERIMENTS[name]["per_job"] == 1
            else f"trials_{name}_{rows[0]}"
        input:
            data_of(name),
        output:
            expand("results/trials/{name}/{{reading}}/{row}.csv.gz", name=name, row=rows),
        log:
            f"results/logs/trials/{name}/{{reading}}/{rows[0]}.log",
        benchmark:
            f"results/benchmarks/trials/{name}/{{reading}}/{rows[0]}.tsv"
        conda:
            "../../environment.yml"
        resources:
            **SMALL,
        params:
            root=root,
            experiment=name,
            rows=rows,
            made=functools.partial(
                lambda wildcards, name, rows: made_from(name, wildcards.reading, *rows),
                name=name,
                rows=rows,
            ),
            choices=lambda wildcards: choices(wildcards.reading),
        message:
            "Trials: {params.experiment}, {params.rows}, {wildcards.reading}"
        shell:
            "python -m matrixdp trials {params.experiment} {params.rows}"
            " --reading {wildcards.reading} --results {params.root}"
            " --out {params.root}/trials/{params.experiment}/{wildcards.reading} > {log} 2>&1"


rule summary:
    input:
        trials_of,
    output:
        "results/summary/{any_experiment}.csv",
        "results/comparisons/{any_experiment}.csv",
    log:
        "results/logs/summary/{any_experiment}.log",
    benchmark:
        "results/benchmarks/summary/{any_experiment}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **SMALL,
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


# Every mechanism under all its readings, at the epsilon of the tables.
rule sweep:
    input:
        lambda wildcards: data_of(wildcards.experiment),
    output:
        table="results/readings/{experiment}.csv",
        trials="results/readings/{experiment}_trials.csv.gz",
    log:
        "results/logs/readings/{experiment}.log",
    benchmark:
        "results/benchmarks/readings/{experiment}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **SMALL,
    params:
        root=root,
        rows=lambda wildcards: EXPERIMENTS[wildcards.experiment]["mechanisms"],
        part=lambda wildcards: configuration.swept(config, wildcards.experiment),
        choices=CHOICES,
        code=lambda wildcards: code_of("cli/sweep.py", wildcards.experiment),
    message:
        "Readings: {wildcards.experiment}"
    shell:
        "python -m matrixdp sweep {wildcards.experiment} --results {params.root}"
        " --out {output.table} > {log} 2>&1"
