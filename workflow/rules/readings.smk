# Readings: everything under one of them (`--config reading=zeta_literal`), or all of them at the
# tables' epsilon (`snakemake readings`).
SWEPT = {
    **config,
    "epsilons": [config["table_epsilon"]],
    # A share that is fixed in public is no choice to be made anew under every reading.
    "taus": [config["public_tau"]],
    "experiments": {
        name: {**experiment, "directions": dict(list(experiment["directions"].items())[:1])}
        for name, experiment in EXPERIMENTS.items()
    },
}


rule readings:
    input:
        expand("results/readings/{experiment}.csv", experiment=EXPERIMENT_OF.values()),
        expand("results/figures/{figure}.svg", figure=READING_FIGURES),


rule rescaled:
    input:
        "results/data/{dataset}/provenance.json",
        catalogue="workflow/datasets.yaml",
    output:
        matrix="results/data/{dataset}-{scaling}/matrix.npy",
        provenance="results/data/{dataset}-{scaling}/provenance.json",
    log:
        "results/logs/data/{dataset}-{scaling}.log",
    benchmark:
        "results/benchmarks/data/{dataset}-{scaling}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=lambda wildcards: sources.digest("data/__init__.py", f"data/{wildcards.dataset}.py"),
    message:
        "Data: {wildcards.dataset}, {wildcards.scaling}"
    shell:
        "python -m matrixdp data {wildcards.dataset} --scaling {wildcards.scaling}"
        " --like results/data/{wildcards.dataset}"
        " --out results/data/{wildcards.dataset}-{wildcards.scaling} > {log} 2>&1"


rule sweep:
    input:
        data_of,
        lambda wildcards: [f"{folder}/provenance.json" for folder in scaled_of(wildcards)],
        catalogue="workflow/readings.yaml",
    output:
        "results/trials/{experiment}/readings/{mechanism}.csv.gz",
    log:
        "results/logs/readings/{experiment}/{mechanism}.log",
    benchmark:
        "results/benchmarks/readings/{experiment}/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    params:
        dataset=folder_of,
        words=lambda wildcards: trial_words(wildcards, SWEPT),
        scaled=lambda wildcards: [f"--scaled {folder}" for folder in scaled_of(wildcards)],
        code=trial_sources,
    message:
        "Readings: {wildcards.experiment}, {wildcards.mechanism}"
    shell:
        "python -m matrixdp sweep {wildcards.experiment} {wildcards.mechanism}"
        " --data results/data/{params.dataset} {params.scaled} {params.words} --out {output}"
        " > {log} 2>&1"


rule all_readings:
    input:
        lambda wildcards: expand(
            "results/trials/{experiment}/readings/{mechanism}.csv.gz",
            experiment=wildcards.experiment,
            mechanism=EXPERIMENTS[wildcards.experiment]["mechanisms"],
        ),
    output:
        "results/readings/{experiment}.csv",
    log:
        "results/logs/readings/{experiment}.log",
    benchmark:
        "results/benchmarks/readings/{experiment}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=sources.digest("report/specifications.py"),
    message:
        "Readings: {wildcards.experiment}"
    shell:
        "python -m matrixdp readings {input} --out {output} > {log} 2>&1"


# The jobs of the default reading, under another one.
use rule trials as trials_of_reading with:
    input:
        data_of,
        catalogue="workflow/readings.yaml",
    output:
        "results/trials/{experiment}/{reading}/{mechanism}.csv.gz",
    log:
        "results/logs/trials/{experiment}/{reading}/{mechanism}.log",
    benchmark:
        "results/benchmarks/trials/{experiment}/{reading}/{mechanism}.tsv"
    message:
        "Trials: {wildcards.experiment}, {wildcards.mechanism}, {wildcards.reading}"


use rule summary as summary_of_reading with:
    output:
        "results/readings/{reading}/summary/{experiment}.csv",
    log:
        "results/logs/summary/{reading}/{experiment}.log",
    benchmark:
        "results/benchmarks/summary/{reading}/{experiment}.tsv"
    message:
        "Summary: {wildcards.experiment}, {wildcards.reading}"


use rule comparison as comparison_of_reading with:
    input:
        summary=lambda wildcards: (
            f"results/readings/{wildcards.reading}/summary/{EXPERIMENT_OF[wildcards.table]}.csv"
        ),
        published="workflow/published/table{table}.csv",
        catalogue="workflow/readings.yaml",
    output:
        expand(
            "results/readings/{{reading}}/tables/table{{table}}.{format}",
            format=["csv", "md", "tex"],
        ),
    log:
        "results/logs/tables/{reading}/table{table}.log",
    benchmark:
        "results/benchmarks/tables/{reading}/table{table}.tsv"
    params:
        epsilon=config["table_epsilon"],
        tau=config["public_tau"],
        out=lambda wildcards, output: (
            f"{os.path.dirname(output[0])} --reading {wildcards.reading}"
        ),
        code=sources.digest("report/tables/comparison.py"),
    message:
        "Table {wildcards.table}, {wildcards.reading}"
