# The ledger of the papers' claims, what their printed cells imply, errata, and advice.


rule claims:
    input:
        "results/claims.csv",


rule ledger:
    input:
        expand("results/summary/{experiment}.csv", experiment=EXPERIMENTS),
        [
            f"results/trials/{name}/default/{mechanism}.csv.gz"
            for name, experiment in EXPERIMENTS.items()
            for mechanism in experiment["mechanisms"]
        ],
        expand("results/tables/table{table}.csv", table=EXPERIMENT_OF),
        expand("results/theory/{theory}.csv", theory=["exact", "sampler_times"]),
        # Readings take minutes and are counted where they were run (`snakemake readings claims`).
        [
            f"results/readings/{experiment}.csv"
            for experiment in EXPERIMENTS
            if os.path.exists(f"results/readings/{experiment}.csv")
        ],
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
        experiments=",".join(EXPERIMENTS),
        epsilon=config["table_epsilon"],
        seed=config["seed"],
        code=sources.digest(
            "results/claims.py", "results/implied.py", "results/errata.py", "results/advice.py"
        ),
    message:
        "Claims"
    shell:
        "python -m matrixdp claims --results results --experiments {params.experiments}"
        " --epsilon {params.epsilon} --seed {params.seed} > {log} 2>&1"
