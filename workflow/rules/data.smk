# Data sets: downloaded, or from a mirror, or simulated stand-ins; checked, scaled, described.


rule data:
    input:
        expand("results/data/{dataset}/provenance.json", dataset=DATASETS),


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
        source=config["data"]["source"],
        seed=config["seed"],
        code=lambda wildcards: sources.digest("data/__init__.py", f"data/{wildcards.dataset}.py"),
    message:
        "Data: {wildcards.dataset}"
    shell:
        "python -m matrixdp data {wildcards.dataset} --source {params.source} --seed {params.seed}"
        " --out results/data/{wildcards.dataset} 2>&1 | tee {log}"
