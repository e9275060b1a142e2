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
    resources:
        **LARGE,
    params:
        root=root,
        part=lambda wildcards: configuration.extraction(config, wildcards.training),
        code=lambda wildcards: sources.digest(
            "cli/extract.py", sources.extractors()[wildcards.training]
        ),
    message:
        "Features: {wildcards.training}"
    shell:
        "python -m matrixdp extract {wildcards.training} --results {params.root}"
        " --out {output} > {log} 2>&1"


# Schemes of an experiment that one job trains share its start and its compilation.
for name, schemes in [one for one in PARTS if one[0] in TRAINING]:

    rule:
        name:
            f"train_{name}_{schemes[0]}"
        input:
            f"results/features/{name}.npz"
            if "extractor_epochs" in TRAINING[name]
            else data_of(name),
        output:
            expand("results/trials/{name}/{{reading}}/{scheme}.csv.gz", name=name, scheme=schemes),
        log:
            f"results/logs/trials/{name}/{{reading}}/{schemes[0]}.log",
        benchmark:
            f"results/benchmarks/trials/{name}/{{reading}}/{schemes[0]}.tsv"
        conda:
            "../../environment.yml"
        resources:
            **LARGE,
        params:
            root=root,
            experiment=name,
            schemes=schemes,
            made=made_from(name, readings.DEFAULT, *schemes),
        message:
            "Training: {params.experiment}, {params.schemes}"
        shell:
            "python -m matrixdp train {params.experiment} {params.schemes}"
            " --results {params.root}"
            " --out {params.root}/trials/{params.experiment}/{wildcards.reading} > {log} 2>&1"
