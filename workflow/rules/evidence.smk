# What judges the papers beside trials: all readings, audits, theory, and the verdicts on claims.


rule sweep:
    """An experiment under all its readings, at the tables' epsilon."""
    input:
        data=matrix_of,
        code=lambda wildcards: code_of(
            "cli.sweep", discovery.mechanisms(), *parts.rows(config, wildcards.experiment)
        ),
    output:
        rows="<folder>/readings/{experiment}.csv",
        trials="<folder>/readings/{experiment}_trials.csv.gz",
    log:
        "<folder>/logs/readings/{experiment}.log",
    benchmark:
        "<folder>/benchmarks/readings/{experiment}.tsv"
    conda:
        "../../environment.yml"
    params:
        settings=lambda wildcards: parts.text(parts.sweep(config, wildcards.experiment)),
    message:
        "Readings: {wildcards.experiment}"
    shell:
        "python -m reproduction sweep --settings {params.settings:q} --data {input.data[0]}"
        " --out {output.rows} --trials {output.trials} > {log} 2>&1"


rule audit_releases:
    """The privacy that an experiment's mechanisms really give, and attacks on sensitivities."""
    input:
        data=matrix_of,
        code=lambda wildcards: code_of(
            "cli.audit", discovery.mechanisms(), *parts.rows(config, wildcards.experiment)
        ),
    output:
        releases="<folder>/audit/{experiment}.csv",
        sensitivities="<folder>/audit/{experiment}_sensitivities.csv",
    log:
        "<folder>/logs/audit/{experiment}.log",
    benchmark:
        "<folder>/benchmarks/audit/{experiment}.tsv"
    conda:
        "../../environment.yml"
    params:
        settings=lambda wildcards: parts.text(parts.audit(config, wildcards.experiment)),
    message:
        "Audit: {wildcards.experiment}"
    shell:
        "python -m reproduction audit --settings {params.settings:q} --data {input.data[0]}"
        " --out {output.releases} --sensitivities {output.sensitivities} > {log} 2>&1"


rule known_bugs:
    """Mistakes that the audit must catch."""
    input:
        code=code("cli.known_bugs"),
    output:
        "<folder>/audit/known_bugs.csv",
    log:
        "<folder>/logs/audit/known_bugs.log",
    benchmark:
        "<folder>/benchmarks/audit/known_bugs.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=config["seed"],
    message:
        "Known-bug tests: mistakes that the audit must catch"
    shell:
        "python -m reproduction known_bugs --seed {params.seed} --out {output} > {log} 2>&1"


rule held_out:
    """Rules that were made on the papers' data, on three other data sets."""
    input:
        code=lambda wildcards: code_of(
            "cli.held_out", discovery.mechanisms(), *discovery.mechanisms()
        ),
    output:
        "<folder>/held_out.csv",
    log:
        "<folder>/logs/held_out.log",
    benchmark:
        "<folder>/benchmarks/held_out.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=config["seed"],
        trials=config["experiment_defaults"]["trials"],
    message:
        "Held-out data"
    shell:
        "python -m reproduction held_out --seed {params.seed} --trials {params.trials}"
        " --out {output} > {log} 2>&1"


rule theory:
    """What the papers' theorems say in numbers, and how long samplers take here."""
    input:
        code=lambda wildcards: code_of("cli.theory", discovery.theory(), wildcards.theory),
    output:
        "<folder>/theory/{theory}.csv",
    log:
        "<folder>/logs/theory/{theory}.log",
    benchmark:
        "<folder>/benchmarks/theory/{theory}.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=config["seed"],
    message:
        "Theory: {wildcards.theory}"
    shell:
        "python -m reproduction theory {wildcards.theory} --seed {params.seed} --out {output}"
        " > {log} 2>&1"


rule judge:
    """The verdicts on the papers' claims, before they are shown."""
    input:
        expand("<folder>/{kind}/{run}.csv", kind=["summary", "comparisons"], run=RUNS),
        [file for run in RUNS for file in trials_of(run)],
        "<folder>/theory/exact.csv",
        expand("<folder>/readings/{name}{ending}", name=SWEPT, ending=[".csv", "_trials.csv.gz"]),
        published("table1", "table2", "table3", "table4", "table5", "section10_2"),
        settings="<folder>/settings.yaml",
    output:
        claims="<folder>/claims.csv",
        comparisons="<folder>/tables/claims_comparisons.csv",
    log:
        "<folder>/logs/claims.log",
    benchmark:
        "<folder>/benchmarks/claims.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.judge"),
    message:
        "Claims: the verdicts"
    shell:
        "{REPRODUCTION} judge {input:q} --out {output.claims:q}"
        " --comparisons {output.comparisons:q} > {log:q} 2>&1"
