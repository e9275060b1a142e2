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
        # One for each key, so that a dry run names the one that has changed; the text is not compared.
        **{
            f"setting_{key}": job_settings.dump_settings(value)
            for key, value in configuration.public(config).items()
        },
        text=lambda w, output: configuration.text(config),
    message:
        "Settings"
    shell:
        "{{ printf %s {params.text:q} > {output:q}; }} 2>&1 | tee {log:q} >&2"


rule matrix:
    """A data set, prepared: a matrix in a public box."""
    input:
        file=lambda w: (
            [local(os.path.expanduser(OWN[w.dataset]["file"]))] if w.dataset in OWN else []
        ),
    output:
        matrix="<folder>/data/{dataset}/matrix.npy",
        provenance="<folder>/data/{dataset}/provenance.json",
    log:
        "<folder>/logs/data/{dataset}.log",
    wildcard_constraints:
        dataset=wildcard_pattern(DATASET[name] for name in EXPERIMENTS),
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.prepare"),
        code=lambda w: ([] if w.dataset in OWN else code(f"data.{w.dataset}", beyond="cli.prepare")),
        settings=lambda w: job_settings.dump_settings(job_settings.data(SPECS[w.dataset])),
        source=config["data"]["source"],
        seed=config["seed"],
        scaling="default",
        folder=subpath(output.provenance, parent=True),
        # Paths of this machine; as functions of the output they are not compared.
        mirror=lambda w, output: os.environ.get("DATA_MIRROR") or config["data"]["mirror"],
        entry=lambda w, output: job_settings.dump_settings(OWN.get(w.dataset)),
        python=python,
    message:
        "Data: {wildcards.dataset}"
    shell:
        "{params.python} -m reproduction prepare {wildcards.dataset} --source {params.source}"
        " --seed {params.seed} --mirror={params.mirror:q} --scaling {params.scaling}"
        " --entry {params.entry:q} --out {params.folder:q} 2>&1 | tee {log:q}"


use rule matrix as learning_set with:
    """A data set, prepared, that networks learn from."""
    output:
        arrays="<folder>/data/{dataset}/arrays.npz",
        provenance="<folder>/data/{dataset}/provenance.json",
    wildcard_constraints:
        dataset=wildcard_pattern(DATASET[name] for name in TRAININGS),
    localrule: True


use rule matrix as scaling with:
    """A matrix in another scaling than the default one."""
    input:
        provenance="<folder>/data/{dataset}/provenance.json",
    output:
        matrix="<folder>/data/{dataset}/{scaling}/matrix.npy",
        provenance="<folder>/data/{dataset}/{scaling}/provenance.json",
    log:
        "<folder>/logs/data/{dataset}/{scaling}.log",
    localrule: True
    params:
        scaling="{scaling}",
        folder=subpath(input.provenance, parent=True),
    message:
        "Data: {wildcards.dataset}, {wildcards.scaling}"


rule features:
    """The features of a network, trained once and without privacy, that IMGM's Type II releases."""
    input:
        data=data_of("arrays.npz"),
    output:
        "<folder>/features/{training}.npz",
    log:
        "<folder>/logs/features/{training}.log",
    benchmark:
        "<folder>/benchmarks/features/{training}.tsv"
    wildcard_constraints:
        training=wildcard_pattern(TRAININGS.keys() & discovery.extractors().keys()),
    conda:
        "../../environment.yml"
    params:
        *code("cli.extract_features"),
        code=lambda w: code(
            discovery.extractors()[w.training].module, beyond="cli.extract_features"
        ),
        settings=settings(job_settings.extraction),
        python=python,
    message:
        "Features: {wildcards.training}"
    shell:
        "{params.python} -m reproduction extract-features --settings {params.settings:q}"
        " --data {input.data[0]:q} --out {output:q} > {log:q} 2>&1"
