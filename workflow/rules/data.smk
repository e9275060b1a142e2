# Data sets: downloaded, or from a mirror, or simulated stand-ins; checked, prepared, described.


rule settings:
    """The checked configuration of the run, for whoever shows it."""
    output:
        "<folder>/settings.yaml",
    log:
        "<folder>/logs/settings.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        **by_key(lambda wildcards: configuration.public(config), [None]),
        text=lambda wildcards, output: configuration.text(config),
    message:
        "Settings"
    shell:
        "printf %s {params.text:q} > {output:q} 2> {log:q}"


rule matrix:
    """A data set of the MVG paper, or of one's own: a matrix in a public box."""
    input:
        file_of,
    output:
        matrix="<folder>/data/{dataset}/matrix.npy",
        provenance="<folder>/data/{dataset}/provenance.json",
    log:
        "<folder>/logs/data/{dataset}.log",
    benchmark:
        "<folder>/benchmarks/data/{dataset}.tsv"
    wildcard_constraints:
        dataset="|".join({each["dataset"] for each in EXPERIMENTS.values()}) or "none",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.prepare"),
        **by_key(
            lambda wildcards: job_settings.data(configuration.datasets(config)[wildcards.dataset]),
            [Namespace(dataset=name) for name in configuration.datasets(config)],
        ),
        module=lambda wildcards: code_of_data(wildcards.dataset),
        source=config["data"]["source"],
        seed=config["seed"],
        folder=subpath(output.provenance, parent=True),
        mirror=mirror,
        entry=lambda wildcards, output: job_settings.text(OWN.get(wildcards.dataset)),
        python=python,
    message:
        "Data: {wildcards.dataset}"
    shell:
        "{params.python} -m reproduction prepare {wildcards.dataset} --source {params.source}"
        " --seed {params.seed} --mirror={params.mirror:q}"
        " --scaling default --entry {params.entry:q} --out {params.folder:q} 2>&1 | tee {log:q}"


use rule matrix as learning_set with:
    output:
        arrays="<folder>/data/{dataset}/arrays.npz",
        provenance="<folder>/data/{dataset}/provenance.json",
    wildcard_constraints:
        dataset="|".join({training["dataset"] for training in TRAININGS.values()}) or "none",


rule scaling:
    """A matrix in another of its scalings, which a reading of the papers chooses."""
    input:
        provenance="<folder>/data/{dataset}/provenance.json",
    output:
        matrix="<folder>/data/{dataset}/{scaling}/matrix.npy",
        provenance="<folder>/data/{dataset}/{scaling}/provenance.json",
    log:
        "<folder>/logs/data/{dataset}/{scaling}.log",
    benchmark:
        "<folder>/benchmarks/data/{dataset}/{scaling}.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.prepare"),
        **by_key(
            lambda wildcards: job_settings.data(configuration.datasets(config)[wildcards.dataset]),
            [Namespace(dataset=name) for name in configuration.datasets(config)],
        ),
        module=lambda wildcards: code_of_data(wildcards.dataset),
        source=config["data"]["source"],
        seed=config["seed"],
        folder=subpath(input.provenance, parent=True),
        mirror=mirror,
        python=python,
    message:
        "Data: {wildcards.dataset}, {wildcards.scaling}"
    shell:
        "{params.python} -m reproduction prepare {wildcards.dataset} --source {params.source}"
        " --seed {params.seed} --mirror={params.mirror:q}"
        " --scaling {wildcards.scaling} --out {params.folder:q} > {log:q} 2>&1"


rule features:
    """The features of a network, trained once and without privacy, that IMGM's Type II releases."""
    input:
        data=arrays_of,
    output:
        "<folder>/features/{training}.npz",
    log:
        "<folder>/logs/features/{training}.log",
    benchmark:
        "<folder>/benchmarks/features/{training}.tsv"
    conda:
        "../../environment.yml"
    params:
        *code("cli.extract_features"),
        **by_key(
            of_extraction,
            [
                Namespace(training=run)
                for run, each in config["training"].items()
                if "extractor_epochs" in each
            ],
        ),
        network=lambda wildcards: code_of(
            "cli.extract_features", *modules(discovery.extractors(), wildcards.training)
        ),
        python=python,
    message:
        "Features: {wildcards.training}"
    shell:
        "{params.python} -m reproduction extract-features --settings {params.settings:q} --data {input.data[0]:q}"
        " --out {output:q} > {log:q} 2>&1"
