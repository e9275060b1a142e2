# What judges the papers beside trials: other readings, audits, theory, and the verdicts on claims.


rule readings_trials:
    """Trials of an experiment, with one open question changed at a time, at the tables' epsilon."""
    input:
        data=matrix_of,
        scalings=scalings_of,
    output:
        "<folder>/readings/{experiment}_trials.csv.gz",
    log:
        "<folder>/logs/readings/{experiment}_trials.log",
    benchmark:
        "<folder>/benchmarks/readings/{experiment}_trials.tsv"
    conda:
        "../../environment.yml"
    params:
        *code("cli.readings"),
        **{
            f"mechanism_{mechanism}": lambda wildcards, mechanism=mechanism: (
                code_of_mechanism("cli.readings", mechanism)
                if mechanism in mechanisms_of(wildcards)
                else []
            )
            for mechanism in discovery.mechanisms()
        },
        **by_key(of_readings, RELEASES),
        task=lambda wildcards: code_of("cli.readings", *task_of(wildcards)),
        python=python,
    message:
        "Readings: trials of {wildcards.experiment}"
    shell:
        "{params.python} -m reproduction readings --settings {params.settings:q} --data {input.data[0]:q}"
        " --out {output:q} > {log:q} 2>&1"


rule gather_readings:
    """The means of an experiment, with one open question changed at a time."""
    input:
        "<folder>/readings/{experiment}_trials.csv.gz",
    output:
        "<folder>/readings/{experiment}.csv",
    log:
        "<folder>/logs/readings/{experiment}.log",
    benchmark:
        "<folder>/benchmarks/readings/{experiment}.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.gather", "report.readings"),
        python=python,
    message:
        "Readings: {wildcards.experiment}"
    shell:
        "{params.python} -m reproduction gather readings {input:q} --out {output:q} > {log:q} 2>&1"


rule audit_releases:
    """The privacy that a mechanism really gives in an experiment."""
    input:
        data=matrix_of,
    output:
        "<folder>/audit/{experiment}/{mechanism}.csv",
    log:
        "<folder>/logs/audit/{experiment}/{mechanism}.log",
    benchmark:
        "<folder>/benchmarks/audit/{experiment}/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    params:
        *code("cli.audit"),
        **by_key(of_audit, RELEASES),
        task=lambda wildcards: code_of("cli.audit", *task_of(wildcards)),
        mechanism=lambda wildcards: code_of_mechanism("cli.audit", wildcards.mechanism),
        python=python,
    message:
        "Audit: {wildcards.experiment}, {wildcards.mechanism}"
    shell:
        "{params.python} -m reproduction audit {wildcards.mechanism} --settings {params.settings:q}"
        " --data {input.data[0]:q} --out {output:q} > {log:q} 2>&1"


rule gather_audit:
    """The audits of an experiment's mechanisms in one table."""
    input:
        lambda wildcards: expand(
            "<folder>/audit/{experiment}/{mechanism}.csv",
            experiment=wildcards.experiment,
            mechanism=mechanisms_of(wildcards),
        ),
    output:
        "<folder>/audit/{experiment}.csv",
    log:
        "<folder>/logs/audit/{experiment}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.gather", "auditing.table"),
        python=python,
    message:
        "Audit: {wildcards.experiment}"
    shell:
        "{params.python} -m reproduction gather audit {input:q} --out {output:q} > {log:q} 2>&1"


rule attack_sensitivities:
    """Attacks on the declared sensitivities of an experiment's queries."""
    input:
        data=matrix_of,
    output:
        "<folder>/audit/{experiment}_sensitivities.csv",
    log:
        "<folder>/logs/audit/{experiment}_sensitivities.log",
    benchmark:
        "<folder>/benchmarks/audit/{experiment}_sensitivities.tsv"
    conda:
        "../../environment.yml"
    params:
        *code("cli.attack"),
        **by_key(lambda wildcards: job_settings.attack(config, wildcards.experiment), RELEASES),
        task=lambda wildcards: code_of("cli.attack", *task_of(wildcards)),
        python=python,
    message:
        "Audit: {wildcards.experiment}, sensitivities"
    shell:
        "{params.python} -m reproduction attack --settings {params.settings:q} --data {input.data[0]:q}"
        " --out {output:q} > {log:q} 2>&1"


rule implied_noise:
    """The noise that the printed errors of an experiment would need."""
    input:
        summary="<folder>/summary/{experiment}.csv",
        published=lambda wildcards: published_of(wildcards.experiment),
        data=matrix_of,
    output:
        "<folder>/implied_noise/{experiment}.csv",
    log:
        "<folder>/logs/implied_noise/{experiment}.log",
    benchmark:
        "<folder>/benchmarks/implied_noise/{experiment}.tsv"
    conda:
        "../../environment.yml"
    params:
        *code("cli.implied_noise"),
        **by_key(
            lambda wildcards: job_settings.implied_noise(config, wildcards.experiment), RELEASES
        ),
        task=lambda wildcards: code_of("cli.implied_noise", *task_of(wildcards)),
        mechanisms=lambda wildcards: code_of(
            "cli.implied_noise", *modules(discovery.mechanisms(), *mechanisms_of(wildcards))
        ),
        python=python,
    message:
        "Noise that printed errors would need: {wildcards.experiment}"
    shell:
        "{params.python} -m reproduction implied-noise {input.summary:q} {input.published:q}"
        " --settings {params.settings:q} --data {input.data[0]:q} --out {output:q} > {log:q} 2>&1"


rule negative_control:
    """Wrong mechanisms that the audit must catch."""
    output:
        "<folder>/audit/negative_control.csv",
    log:
        "<folder>/logs/audit/negative_control.log",
    benchmark:
        "<folder>/benchmarks/audit/negative_control.tsv"
    conda:
        "../../environment.yml"
    params:
        *code("cli.negative_control", *imports.audits("cli.negative_control")),
        seed=config["seed"],
        python=python,
    message:
        "Negative control: wrong mechanisms that the audit must catch"
    shell:
        "{params.python} -m reproduction negative-control --seed {params.seed} --out {output:q}"
        " > {log:q} 2>&1"


rule held_out:
    """Trials of rules that were made on the papers' data, on other data."""
    output:
        "<folder>/held_out_trials.csv.gz",
    log:
        "<folder>/logs/held_out_trials.log",
    benchmark:
        "<folder>/benchmarks/held_out_trials.tsv"
    conda:
        "../../environment.yml"
    params:
        *code("cli.held_out", *modules(discovery.mechanisms(), *discovery.mechanisms())),
        seed=config["seed"],
        trials=config["experiment_defaults"]["trials"],
        python=python,
    message:
        "Held-out data: trials"
    shell:
        "{params.python} -m reproduction held-out --seed {params.seed} --trials {params.trials}"
        " --out {output:q} > {log:q} 2>&1"


rule gather_held_out:
    """Rules that were made on the papers' data against others, on other data."""
    input:
        "<folder>/held_out_trials.csv.gz",
    output:
        "<folder>/held_out.csv",
    log:
        "<folder>/logs/held_out.log",
    benchmark:
        "<folder>/benchmarks/held_out.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.gather", "report.held_out_table"),
        python=python,
    message:
        "Held-out data"
    shell:
        "{params.python} -m reproduction gather held_out {input:q} --out {output:q} > {log:q} 2>&1"


rule theory:
    """What the papers' theorems say in numbers."""
    output:
        "<folder>/theory/{theory}.csv",
    log:
        "<folder>/logs/theory/{theory}.log",
    benchmark:
        "<folder>/benchmarks/theory/{theory}.tsv"
    conda:
        "../../environment.yml"
    params:
        *code("cli.theory"),
        module=lambda wildcards: code_of(
            "cli.theory", *modules(discovery.theory(), wildcards.theory)
        ),
        seed=config["seed"],
        python=python,
    message:
        "Theory: {wildcards.theory}"
    shell:
        "{params.python} -m reproduction theory {wildcards.theory} --seed {params.seed} --out {output:q}"
        " > {log:q} 2>&1"


rule judge_claims:
    """The verdicts on the papers' claims, before they are shown."""
    input:
        expand("<folder>/{kind}/{run}.csv", kind=["summary", "comparisons"], run=RUNS),
        [file for run in RUNS for file in trials_of(run)],
        "<folder>/theory/exact.csv",
        expand("<folder>/readings/{name}{ending}", name=SWEPT, ending=[".csv", "_trials.csv.gz"]),
        [file for name in SWEPT for file in published_of(name)],
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
        *code("cli.claims"),
        python=python,
    message:
        "Claims: the verdicts"
    shell:
        "{params.python} -m reproduction claims {input:q} --out {output.claims:q}"
        " --comparisons {output.comparisons:q} > {log:q} 2>&1"
