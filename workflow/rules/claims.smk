# The ledger of the papers' claims, what their printed cells imply, errata, and advice.


rule claims:
    input:
        "results/claims.csv",


rule ledger:
    input:
        expand("results/summary/{experiment}.csv", experiment=[*EXPERIMENTS, *TRAINING]),
        [
            f"results/trials/{name}/default/{mechanism}.csv.gz"
            for name, experiment in EXPERIMENTS.items()
            for mechanism in experiment["mechanisms"]
        ],
        [
            f"results/trials/{name}/default/{scheme}.csv.gz"
            for name, training in TRAINING.items()
            for scheme in training["schemes"]
        ],
        expand("results/tables/table{table}.csv", table=EXPERIMENT_OF),
        expand("results/theory/{theory}.csv", theory=["exact", "sampler_times"]),
        expand("results/readings/{experiment}.csv", experiment=EXPERIMENT_OF.values()),
        claims="workflow/claims.yaml",
        errata="workflow/errata.yaml",
    output:
        "results/claims.csv",
        "results/tables/claims_comparisons.csv",
        expand(
            "results/tables/{table}.{format}",
            table=["claims", "implied", "errata", "advice"],
            format=["csv", "md", "tex"],
        ),
    log:
        "results/logs/claims.log",
    benchmark:
        "results/benchmarks/claims.tsv"
    conda:
        "../../environment.yml"
    params:
        experiments=",".join([*EXPERIMENTS, *TRAINING]),
        epsilon=config["table_epsilon"],
        seed=config["seed"],
        code=sources.digest(
            "report/claims/__init__.py",
            "report/tables/implied.py",
            "report/tables/errata.py",
            "report/tables/advice.py",
        ),
    message:
        "Claims"
    shell:
        "python -m matrixdp claims --results results --experiments {params.experiments}"
        " --epsilon {params.epsilon} --seed {params.seed} > {log} 2>&1"
