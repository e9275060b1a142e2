# The MVG paper: three experiments, Tables 2 to 5.


rule mvg:
    input:
        expand("results/tables/table{table}.csv", table=[2, *sorted(EXPERIMENT_OF)]),


rule table2:
    input:
        "results/tables/table2.csv",


rule trials:
    input:
        data_of,
    output:
        "results/trials/{experiment}/default/{mechanism}.csv.gz",
    log:
        "results/logs/trials/{experiment}/{mechanism}.log",
    benchmark:
        "results/benchmarks/trials/{experiment}/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    params:
        dataset=lambda wildcards: EXPERIMENTS[wildcards.experiment]["dataset"],
        words=trial_words,
        code=trial_sources,
    shell:
        "python -m matrixdp trials {wildcards.experiment} {wildcards.mechanism}"
        " --data results/data/{params.dataset} {params.words} --out {output} > {log} 2>&1"


rule summary:
    input:
        trials_of,
    output:
        "results/summary/{experiment}.csv",
    log:
        "results/logs/summary/{experiment}.log",
    benchmark:
        "results/benchmarks/summary/{experiment}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=sources.digest("results/summary.py"),
    shell:
        "python -m matrixdp summary {input} --out {output} > {log} 2>&1"


rule setups:
    input:
        expand("results/data/{dataset}/provenance.json", dataset=DATASETS),
        published="workflow/published/table2.csv",
    output:
        expand("results/tables/table2.{format}", format=["csv", "md", "tex"]),
    log:
        "results/logs/tables/table2.log",
    benchmark:
        "results/benchmarks/tables/table2.tsv"
    conda:
        "../../environment.yml"
    params:
        config=json.dumps(config),
        provenance=lambda wildcards, input: input[:-1],
        code=sources.digest("results/setups.py"),
    shell:
        "python -m matrixdp setups {params.provenance} --config {params.config:q}"
        " --out results/tables > {log} 2>&1"


rule comparison:
    input:
        summary=lambda wildcards: f"results/summary/{EXPERIMENT_OF[wildcards.table]}.csv",
        published="workflow/published/table{table}.csv",
    output:
        expand("results/tables/table{{table}}.{format}", format=["csv", "md", "tex"]),
    log:
        "results/logs/tables/table{table}.log",
    benchmark:
        "results/benchmarks/tables/table{table}.tsv"
    conda:
        "../../environment.yml"
    params:
        epsilon=config["table_epsilon"],
        tau=config["public_tau"],
        code=sources.digest("results/tables.py"),
    shell:
        "python -m matrixdp table {wildcards.table} --summary {input.summary}"
        " --epsilon {params.epsilon} --public-tau {params.tau} --out results/tables > {log} 2>&1"


for number in EXPERIMENT_OF:

    rule:
        name:
            f"table{number}"
        input:
            f"results/tables/table{number}.csv",
