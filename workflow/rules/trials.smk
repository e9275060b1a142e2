# Trials of experiments on releases and of private training, one file for each mechanism or scheme,
# and the summary of each experiment. A job's settings stand in its command.


rule trials:
    """Trials of a mechanism, or of a baseline."""
    input:
        data=data_of("matrix.npy"),
        scaling=scaling_of_reading,
        code=lambda wildcards: code(
            "cli.trials",
            task_of(wildcards),
            discovery.mechanisms().get(wildcards.mechanism),
        ),
    output:
        "<folder>/trials/{experiment}/<reading>/{mechanism}.csv.gz",
    log:
        "<folder>/logs/trials/{experiment}/<reading>/{mechanism}.log",
    benchmark:
        "<folder>/benchmarks/trials/{experiment}/<reading>/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    params:
        settings=settings(job_settings.trials),
        packages=packages_of,
        python=python,
    message:
        "Trials: {wildcards.experiment}, {wildcards.mechanism}"
    shell:
        "{params.python} -m reproduction trials {wildcards.mechanism} --settings {params.settings:q}"
        " --data {input.data[0]:q} --out {output:q} > {log:q} 2>&1"


rule train:
    """Trials of private training under a scheme, or of a baseline."""
    input:
        data=learned_from,
        code=lambda wildcards: code(
            "cli.train",
            discovery.trainings()[wildcards.training],
            *discovery.schemes(wildcards.training).values(),
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
        trials=lambda wildcards: trials_of(wildcards.run),
        code=code("cli.summary"),
    output:
        summary="<folder>/summary/{run}.csv",
        comparisons="<folder>/comparisons/{run}.csv",
    log:
        "<folder>/logs/summary/{run}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        settings=digests_of,
        fixed=fixed_of,
        same=lambda wildcards: job_settings.text(job_settings.same_as(config, wildcards.run)),
        python=python,
    message:
        "Summary: {wildcards.run}"
    shell:
        "{params.python} -m reproduction summary {input.trials:q} --settings {params.settings}"
        " --fixed {params.fixed:q} --same {params.same:q} --out {output.summary:q}"
        " --comparisons {output.comparisons:q} > {log:q} 2>&1"
