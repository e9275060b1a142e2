# The privacy audit: every mechanism of every experiment, its sensitivities, and the canaries.
AUDITED = [
    f"{experiment}/{mechanism}"
    for experiment in EXPERIMENTS
    for mechanism in EXPERIMENTS[experiment]["mechanisms"]
    if mechanism in sources.mechanisms()
]


# At the epsilon of the tables; how many trials an experiment has is nothing to an audit.
AUDIT = {**config, "trials": 1, "epsilons": [config["table_epsilon"]]}


rule audit:
    input:
        expand(
            "results/tables/{table}.{format}",
            table=["audit", "canaries", "sensitivities", "effective_noise"],
            format=["csv", "md", "tex"],
        ),


rule audit_mechanism:
    input:
        data_of,
    output:
        "results/audit/{experiment}/{mechanism}.csv",
    log:
        "results/logs/audit/{experiment}/{mechanism}.log",
    benchmark:
        "results/benchmarks/audit/{experiment}/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    params:
        dataset=lambda wildcards: EXPERIMENTS[wildcards.experiment]["dataset"],
        # The sensitivities, which are no mechanism's, have an epsilon too.
        words=lambda wildcards: f"{trial_words(wildcards, AUDIT)} --delta {config['delta']}"
        f" --epsilons {config['table_epsilon']}",
        runs=f"--runs {config['audit_runs']}" if config["audit_runs"] else "",
        code=sources.digest("audit/releases.py", "audit/sensitivities.py"),
    message:
        "Audit: {wildcards.experiment}, {wildcards.mechanism}"
    shell:
        "python -m matrixdp audit {wildcards.experiment} {wildcards.mechanism}"
        " --data results/data/{params.dataset} {params.words} {params.runs} --out {output} > {log} 2>&1"


rule canaries:
    output:
        "results/audit/canaries.csv",
    log:
        "results/logs/audit/canaries.log",
    benchmark:
        "results/benchmarks/audit/canaries.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=config["seed"],
        code=sources.digest("audit/canaries.py"),
    message:
        "Audit: canaries"
    shell:
        "python -m matrixdp canaries --seed {params.seed} --out {output} > {log} 2>&1"


rule audit_tables:
    input:
        parts=expand("results/audit/{audited}.csv", audited=AUDITED),
        sensitivities=expand("results/audit/{experiment}/sensitivities.csv", experiment=EXPERIMENTS),
        canaries="results/audit/canaries.csv",
    output:
        "results/audit.csv",
        expand(
            "results/tables/{table}.{format}",
            table=["audit", "canaries", "sensitivities", "effective_noise"],
            format=["csv", "md", "tex"],
        ),
    log:
        "results/logs/audit/tables.log",
    benchmark:
        "results/benchmarks/audit/tables.tsv"
    conda:
        "../../environment.yml"
    params:
        code=sources.digest("report/tables/audit.py"),
    message:
        "Audit: tables"
    shell:
        "python -m matrixdp audits {input.parts} --sensitivities {input.sensitivities}"
        " --canaries {input.canaries} --results results > {log} 2>&1"
