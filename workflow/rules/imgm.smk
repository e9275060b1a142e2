# The IMGM paper: private training gradients (Adult, Cora) and private training features (IMDB).


rule imgm:
    input:
        expand("results/tables/{table}.csv", table=IMGM_TABLES),
        expand("results/figures/{figure}.svg", figure=IMGM_FIGURES),


rule table1:
    input:
        "results/tables/table1.csv",


rule figure1:
    input:
        expand(
            "results/figures/{figure}.svg",
            figure=[name for name in IMGM_FIGURES if name.startswith("figure1")],
        ),


# The feature extractor of IMDB is trained once; what the schemes release starts from its features.
rule features:
    input:
        learning_of,
    output:
        "results/features/{training}.npz",
    log:
        "results/logs/features/{training}.log",
    benchmark:
        "results/benchmarks/features/{training}.tsv"
    conda:
        "../../environment.yml"
    params:
        words=extractor_words,
        code=sources.digest("experiments/training/extractor.py"),
    message:
        "Features: {wildcards.training}"
    shell:
        "python -m matrixdp extract {wildcards.training} --data results/data/{wildcards.training}"
        " {params.words} --out {output} > {log} 2>&1"


rule train:
    input:
        examples_of,
    output:
        "results/trials/{training}/default/{mechanism}.csv.gz",
    log:
        "results/logs/trials/{training}/{mechanism}.log",
    benchmark:
        "results/benchmarks/trials/{training}/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    params:
        examples=lambda wildcards, input: (
            f"--features {input[0]}"
            if extracts(wildcards)
            else f"--data {os.path.dirname(input[0])}"
        ),
        words=training_words,
        code=training_sources,
    message:
        "Training: {wildcards.training}, {wildcards.mechanism}"
    shell:
        "python -m matrixdp train {wildcards.training} {wildcards.mechanism}"
        " {params.examples} {params.words}"
        " --out {output} > {log} 2>&1"


use rule summary as summary_of_training with:
    input:
        lambda wildcards: [
            f"results/trials/{wildcards.training}/default/{scheme}.csv.gz"
            for scheme in TRAINING[wildcards.training]["schemes"]
        ],
    output:
        "results/summary/{training}.csv",
    log:
        "results/logs/summary/{training}.log",
    benchmark:
        "results/benchmarks/summary/{training}.tsv"
    message:
        "Summary: {wildcards.training}"


use rule setups as training_setups with:
    input:
        expand("results/data/{learning}/provenance.json", learning=LEARNING),
        published="workflow/published/table1.csv",
    output:
        expand("results/tables/table1.{format}", format=["csv", "md", "tex"]),
    log:
        "results/logs/tables/table1.log",
    benchmark:
        "results/benchmarks/tables/table1.tsv"
    params:
        number=1,
    message:
        "Table 1: the set-ups"


rule schemes:
    input:
        "results/summary/{training}.csv",
    output:
        expand(
            "results/tables/imgm_{{training}}{part}.{format}",
            part=["", "_grid"],
            format=["csv", "md", "tex"],
        ),
    log:
        "results/logs/tables/{training}.log",
    benchmark:
        "results/benchmarks/tables/{training}.tsv"
    conda:
        "../../environment.yml"
    params:
        epsilon=config["table_epsilon"],
        code=sources.digest("report/tables/training.py"),
    message:
        "Tables: {wildcards.training}"
    shell:
        "python -m matrixdp schemes {wildcards.training} --summary {input}"
        " --epsilon {params.epsilon} --out results/tables > {log} 2>&1"


rule published_settings:
    input:
        "results/theory/settings.csv",
    output:
        expand("results/tables/imgm_settings.{format}", format=["csv", "md", "tex"]),
    log:
        "results/logs/tables/imgm_settings.log",
    benchmark:
        "results/benchmarks/tables/imgm_settings.tsv"
    conda:
        "../../environment.yml"
    params:
        code=sources.digest("report/tables/published_settings.py"),
    message:
        "Table: the true epsilon of every published setting"
    shell:
        "python -m matrixdp settings --theory {input} --out results/tables > {log} 2>&1"
