# Data sets: downloaded, or from a mirror, or simulated stand-ins; checked, prepared, described.


# A matrix of one's own is read from its own file.
FILES = {configuration.OWN: os.path.abspath(config["matrix"]["file"])} if OWN else {}


rule dataset:
    input:
        lambda wildcards: FILES.get(wildcards[0], []),
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
        root=root,
        name=lambda wildcards: wildcards[0],
        source=config["data"]["source"],
        seed=config["seed"],
        entry=lambda wildcards: configuration.entry(config, wildcards[0]),
        code=lambda wildcards: sources.digest(
            "cli/data.py", f"data/{wildcards[0]}.py", f"data/standins/{wildcards[0]}.yaml"
        ),
    message:
        "Data: {params.name}"
    shell:
        "python -m matrixdp data {params.name} --source {params.source} --seed {params.seed}"
        " --out {params.root}/data/{params.name} 2>&1 | tee {log}"


# What the neural experiments learn from.
use rule dataset as learning with:
    output:
        arrays="results/data/{learnt}/arrays.npz",
        provenance="results/data/{learnt}/provenance.json",
    log:
        "results/logs/data/{learnt}.log",
    benchmark:
        "results/benchmarks/data/{learnt}.tsv"
