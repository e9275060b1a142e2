# Trials of experiments on releases and of private training, one file for each mechanism or scheme,
# and the summary of each experiment. A job's settings stand in its command.


rule trials:
    """Trials of a mechanism, or of a baseline."""
    input:
        data=data_of("matrix.npy"),
        scaling=lambda w: scaled(w, READING.scaling(DATASET[w.experiment])),
    output:
        "<folder>/trials/{experiment}/<reading>/{mechanism}.csv.gz",
    log:
        "<folder>/logs/trials/{experiment}/<reading>/{mechanism}.log",
    benchmark:
        "<folder>/benchmarks/trials/{experiment}/<reading>/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    params:
        *code("cli.trials"),
        code=lambda w: code(task_of(w), *mechanisms_of(w), beyond="cli.trials"),
        settings=settings(job_settings.trials),
        python=python,
    message:
        "Trials: {wildcards.experiment}, {wildcards.mechanism}"
    shell:
        "{params.python} -m reproduction trials {wildcards.mechanism} --settings {params.settings:q}"
        " --data {input.data[0]:q} --out {output:q} > {log:q} 2>&1"


rule train:
    """Trials of private training under a scheme, or of a baseline."""
    input:
        # Private gradients start from the data, private features from a network's.
        data=lambda w: (
            [f"<folder>/features/{w.training}.npz"]
            if "extractor_epochs" in TRAININGS[w.training]
            else data_of("arrays.npz")(w)
        ),
    output:
        "<folder>/trials/{training}/<reading>/{scheme}.csv.gz",
    log:
        "<folder>/logs/trials/{training}/<reading>/{scheme}.log",
    benchmark:
        "<folder>/benchmarks/trials/{training}/<reading>/{scheme}.tsv"
    conda:
        "../../environment.yml"
    params:
        *code("cli.train"),
        code=lambda w: code(
            f"experiments.training.{TRAININGS[w.training]['perturbation']}",
            f"experiments.schemes.{TRAININGS[w.training]['perturbation']}",
            beyond="cli.train",
        ),
        settings=settings(job_settings.training),
        python=python,
    message:
        "Training: {wildcards.training}, {wildcards.scheme}"
    shell:
        "{params.python} -m reproduction train {wildcards.scheme} --settings {params.settings:q}"
        " --data {input.data[0]:q} --out {output:q} > {log:q} 2>&1"


rule summary:
    """Means and intervals of an experiment's rows, and how they compare."""
    input:
        trials=lambda w: trials_of(w.run),
    output:
        summary="<folder>/summary/{run}.csv",
        comparisons="<folder>/comparisons/{run}.csv",
    log:
        "<folder>/logs/summary/{run}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.summary"),
        settings=settings(job_settings.summary),
        python=python,
    message:
        "Summary: {wildcards.run}"
    shell:
        "{params.python} -m reproduction summary {input.trials:q} --settings {params.settings:q}"
        " --out {output.summary:q} --comparisons {output.comparisons:q} > {log:q} 2>&1"
