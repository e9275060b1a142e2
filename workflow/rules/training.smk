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


# Schemes of an experiment that one job trains share its start and its compilation.
for name, schemes in configuration.bundles(config):
    known = sources.schemes(name)

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
        threads: 1
        resources:
            **LARGE,
        params:
            experiment=name,
            schemes=schemes,
            part=configuration.part(config, name, *schemes),
            code=sources.digest(
                "cli/train.py",
                sources.trainings()[name],
                *(known[scheme] for scheme in schemes if scheme in known),
            ),
        message:
            "Training: {params.experiment}, {params.schemes}"
        shell:
            "python -m matrixdp train {params.experiment} {params.schemes}"
            " --out results/trials/{params.experiment}/{wildcards.reading} > {log} 2>&1"
