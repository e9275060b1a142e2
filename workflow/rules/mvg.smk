# The MVG paper: three experiments, Tables 2 to 5.


rule mvg:
    input:
        "results/tables/table2.csv",
        expand("{folder}/table{table}.csv", folder=TABLES, table=sorted(EXPERIMENT_OF)),
        expand("results/tables/{table}.csv", table=SECTION10_2),


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
        dataset=folder_of,
        words=trial_words,
        code=trial_sources,
    message:
        "Trials: {wildcards.experiment}, {wildcards.mechanism}"
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
        code=sources.digest("report/summary.py"),
    message:
        "Summary: {wildcards.experiment}"
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
        number=2,
        config=json.dumps(config),
        provenance=lambda wildcards, input: input[:-1],
        code=sources.digest("report/tables/setups.py"),
    message:
        "Table 2: the set-ups"
    shell:
        "python -m matrixdp setups {params.number} {params.provenance} --config {params.config:q}"
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
        out=lambda wildcards, output: os.path.dirname(output[0]),
        code=sources.digest("report/tables/comparison.py"),
    message:
        "Table {wildcards.table}"
    shell:
        "python -m matrixdp table {wildcards.table} --summary {input.summary}"
        " --epsilon {params.epsilon} --public-tau {params.tau} --out {params.out} > {log} 2>&1"


rule reduction:
    input:
        reduced="results/summary/section10_2.csv",
        full="results/summary/regression.csv",
        published=expand("workflow/published/{table}.csv", table=["section10_2", "table3"]),
    output:
        expand("results/tables/section10_2.{format}", format=["csv", "md", "tex"]),
    log:
        "results/logs/tables/section10_2.log",
    benchmark:
        "results/benchmarks/tables/section10_2.tsv"
    conda:
        "../../environment.yml"
    params:
        epsilon=config["table_epsilon"],
        tau=config["public_tau"],
        code=sources.digest("report/tables/section10_2.py"),
    message:
        "Section 10.2"
    shell:
        "python -m matrixdp reduction --reduced {input.reduced} --full {input.full}"
        " --epsilon {params.epsilon} --public-tau {params.tau} --out results/tables > {log} 2>&1"


rule section10_2:
    input:
        "results/tables/section10_2.csv",
        "results/figures/section10_2.svg",


for number in EXPERIMENT_OF:

    rule:
        name:
            f"table{number}"
        input:
            f"{TABLES}/table{number}.csv",
