# Trials of experiments on releases and of private training, one file for each mechanism or scheme,
# and the summary of each experiment. A job's settings stand in its command.


rule trials:
    """Trials of a mechanism, or of a reference row, under one reading."""
    input:
        data=matrix_of,
        provenance=provenance_of,
        code=lambda wildcards: code_on_release("cli.trials", wildcards.mechanism),
    output:
        "<results>/trials/{experiment}/{reading}/{mechanism}.csv.gz",
    log:
        "<results>/logs/trials/{experiment}/{reading}/{mechanism}.log",
    benchmark:
        "<results>/benchmarks/trials/{experiment}/{reading}/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1200,
        runtime=30,
    params:
        settings=lambda wildcards: settings_of(
            wildcards.experiment, wildcards.mechanism, wildcards.reading
        ),
    message:
        "Trials: {wildcards.experiment}, {wildcards.mechanism}, {wildcards.reading}"
    shell:
        "python -m matrixdp trials {wildcards.mechanism} --settings {params.settings:q}"
        " --data {input.data} --out {output} > {log} 2>&1"


rule train:
    """Trials of private training under a scheme, or of a reference row."""
    input:
        data=learned_from,
        provenance=provenance_of,
        code=code_of_training(),
    output:
        "<results>/trials/{training}/default/{scheme}.csv.gz",
    log:
        "<results>/logs/trials/{training}/default/{scheme}.log",
    benchmark:
        "<results>/benchmarks/trials/{training}/default/{scheme}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        settings=lambda wildcards: settings_of(wildcards.training, wildcards.scheme),
    message:
        "Training: {wildcards.training}, {wildcards.scheme}"
    shell:
        "python -m matrixdp train {wildcards.scheme} --settings {params.settings:q}"
        " --data {input.data} --out {output} > {log} 2>&1"


rule summary:
    """Means and intervals of an experiment's rows, and how they compare."""
    input:
        trials=lambda wildcards: trials_of(wildcards.run),
        code=code("cli.summary"),
    output:
        summary="<results>/summary/{run}.csv",
        comparisons="<results>/comparisons/{run}.csv",
    log:
        "<results>/logs/summary/{run}.log",
    benchmark:
        "<results>/benchmarks/summary/{run}.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        settings=lambda wildcards: digests_of(wildcards.run),
    message:
        "Summary: {wildcards.run}"
    shell:
        "python -m matrixdp summary {input.trials} --settings {params.settings}"
        " --out {output.summary} --comparisons {output.comparisons} > {log} 2>&1"


use rule summary as summary_of_reading with:
    input:
        trials=lambda wildcards: trials_of(wildcards.run, wildcards.reading),
        code=code("cli.summary"),
    output:
        summary="<results>/readings/{reading}/summary/{run}.csv",
        comparisons="<results>/readings/{reading}/comparisons/{run}.csv",
    log:
        "<results>/logs/summary/{reading}/{run}.log",
    benchmark:
        "<results>/benchmarks/summary/{reading}/{run}.tsv"
    params:
        settings=lambda wildcards: digests_of(wildcards.run, wildcards.reading),
    message:
        "Summary: {wildcards.run}, {wildcards.reading}"
