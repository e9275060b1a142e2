# Data sets: downloaded, or from a mirror, or simulated stand-ins; checked, prepared, described.


rule data:
    input:
        expand("results/data/{dataset}/provenance.json", dataset=[*DATASETS, *LEARNING]),


rule dataset:
    input:
        catalogue="workflow/datasets.yaml",
        standin="workflow/matrixdp/data/standins/{dataset}.yaml",
    output:
        matrix="results/data/{dataset}/matrix.npy",
        provenance="results/data/{dataset}/provenance.json",
    log:
        "results/logs/data/{dataset}.log",
    benchmark:
        "results/benchmarks/data/{dataset}.tsv"
    conda:
        "../../environment.yml"
    params:
        name="{dataset}",
        source=config["data"]["source"],
        seed=config["seed"],
        code=lambda wildcards: sources.digest("data/__init__.py", f"data/{wildcards.dataset}.py"),
    message:
        "Data: {wildcards.dataset}"
    shell:
        "python -m matrixdp data {params.name} --source {params.source} --seed {params.seed}"
        " --out results/data/{params.name} 2>&1 | tee {log}"


# What the neural experiments learn from.
use rule dataset as learning with:
    input:
        catalogue="workflow/datasets.yaml",
        standin="workflow/matrixdp/data/standins/{learning}.yaml",
    output:
        arrays="results/data/{learning}/arrays.npz",
        provenance="results/data/{learning}/provenance.json",
    log:
        "results/logs/data/{learning}.log",
    benchmark:
        "results/benchmarks/data/{learning}.tsv"
    params:
        name="{learning}",
        source=config["data"]["source"],
        seed=config["seed"],
        code=lambda wildcards: sources.digest("data/__init__.py", f"data/{wildcards.learning}.py"),
    message:
        "Data: {wildcards.learning}"
