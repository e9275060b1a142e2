# The IMGM paper: private training gradients (Adult, Cora) and private training features (IMDB).


# The feature extractor is trained once; what the schemes release starts from its features.
rule features:
    input:
        lambda wildcards: data_of(wildcards.training),
    output:
        "results/features/{training}.npz",
    log:
        "results/logs/features/{training}.log",
    benchmark:
        "results/benchmarks/features/{training}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **LARGE,
    params:
        part=lambda wildcards: configuration.extraction(config, wildcards.training),
        code=sources.digest("cli/extract.py"),
    message:
        "Features: {wildcards.training}"
    shell:
        "python -m matrixdp extract {wildcards.training} --out {output} > {log} 2>&1"


rule train:
    input:
        lambda wildcards: (
            f"results/features/{wildcards.training}.npz"
            if "extractor_epochs" in TRAINING[wildcards.training]
            else data_of(wildcards.training)
        ),
    output:
        "results/trials/{training}/default/{scheme}.csv.gz",
    log:
        "results/logs/trials/{training}/default/{scheme}.log",
    benchmark:
        "results/benchmarks/trials/{training}/default/{scheme}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **LARGE,
    params:
        part=lambda wildcards: part(wildcards.training, wildcards.scheme),
        code=lambda wildcards: sources.digest(
            "cli/train.py",
            sources.trainings()[wildcards.training],
            *(
                entry
                for name, entry in sources.schemes(wildcards.training).items()
                if name == wildcards.scheme
            ),
        ),
    message:
        "Training: {wildcards.training}, {wildcards.scheme}"
    shell:
        "python -m matrixdp train {wildcards.training} {wildcards.scheme}"
        " --out results/trials/{wildcards.training}/default > {log} 2>&1"
