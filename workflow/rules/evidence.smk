# What judges the papers beside trials: other readings, audits, theory, and the verdicts on claims.


rule readings_trials:
    """Trials of an experiment, with one open question changed at a time, at the tables' epsilon."""
    input:
        data=data_of("matrix.npy"),
        scalings=lambda w: scaled(w, *SPECS[DATASET[w.experiment]]["scalings"]),
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
        code=lambda w: code(task_of(w), *mechanisms_of(w), beyond="cli.readings"),
        settings=settings(job_settings.readings),
        python=python,
    message:
        "Readings: trials of {wildcards.experiment}"
    shell:
        "{params.python} -m reproduction readings --settings {params.settings:q} --data {input.data[0]:q}"
        " --out {output:q} > {log:q} 2>&1"


rule gather_readings:
    """The readings of an experiment in one table."""
    input:
        parts="<folder>/readings/{experiment}_trials.csv.gz",
    output:
        "<folder>/readings/{experiment}.csv",
    log:
        "<folder>/logs/readings/{experiment}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        code=code("cli.gather", "report.readings"),
        table="readings",
        python=python,
    message:
        "Readings: {wildcards.experiment}"
    shell:
        "{params.python} -m reproduction gather {params.table} {input.parts:q} --out {output:q}"
        " > {log:q} 2>&1"


rule audit_releases:
    """The privacy that a mechanism really gives in an experiment."""
    input:
        data=data_of("matrix.npy"),
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
        code=lambda w: code(task_of(w), *mechanisms_of(w), audits=True, beyond="cli.audit"),
        settings=settings(job_settings.audit),
        python=python,
    message:
        "Audit: {wildcards.experiment}, {wildcards.mechanism}"
    shell:
        "{params.python} -m reproduction audit {wildcards.mechanism} --settings {params.settings:q}"
        " --data {input.data[0]:q} --out {output:q} > {log:q} 2>&1"


use rule gather_readings as gather_audit with:
    """The audits of an experiment in one table."""
    input:
        parts=lambda w: [
            f"<folder>/audit/{w.experiment}/{row}.csv"
            for row in ROWS[w.experiment]
            if row in discovery.mechanisms()
        ],
    output:
        "<folder>/audit/{experiment}.csv",
    log:
        "<folder>/logs/audit/{experiment}.log",
    localrule: True
    params:
        code=code("cli.gather", "auditing.table"),
        table="audit",
    message:
        "Audit: {wildcards.experiment}"


rule attack_sensitivities:
    """Attacks on the declared sensitivities of an experiment's queries."""
    input:
        data=data_of("matrix.npy"),
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
        code=lambda w: code(task_of(w), beyond="cli.attack"),
        settings=settings(job_settings.attack),
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
        published=lambda w: published(w.experiment),
        data=data_of("matrix.npy"),
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
        code=lambda w: code(task_of(w), *mechanisms_of(w), beyond="cli.implied_noise"),
        settings=settings(job_settings.implied_noise),
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
        *code("cli.negative_control", audits=True),
        seed=config["seed"],
        python=python,
    message:
        "Negative control: wrong mechanisms that the audit must catch"
    shell:
        "{params.python} -m reproduction negative-control --seed {params.seed} --out {output:q}"
        " > {log:q} 2>&1"


rule held_out:
    """Trials of rules that were made on the papers' data, on data of scikit-learn and a line."""
    output:
        "<folder>/held_out_trials.csv.gz",
    log:
        "<folder>/logs/held_out_trials.log",
    benchmark:
        "<folder>/benchmarks/held_out_trials.tsv"
    conda:
        "../../environment.yml"
    params:
        # Mechanisms of other packages have no part in it.
        *code(
            "cli.held_out",
            *(each.module for each in discovery.mechanisms().values() if not each.distribution),
        ),
        seed=config["seed"],
        trials=config["experiment_defaults"]["trials"],
        python=python,
    message:
        "Held-out data: trials"
    shell:
        "{params.python} -m reproduction held-out --seed {params.seed} --trials {params.trials}"
        " --out {output:q} > {log:q} 2>&1"


use rule gather_readings as gather_held_out with:
    """The results on held-out data in one table."""
    input:
        parts="<folder>/held_out_trials.csv.gz",
    output:
        "<folder>/held_out.csv",
    log:
        "<folder>/logs/held_out.log",
    localrule: True
    params:
        code=code("cli.gather", "report.held_out_table"),
        table="held_out",
    message:
        "Held-out data"


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
        code=lambda w: code(discovery.theory()[w.theory].module, beyond="cli.theory"),
        seed=config["seed"],
        python=python,
    message:
        "Theory: {wildcards.theory}"
    shell:
        "{params.python} -m reproduction theory {wildcards.theory} --seed {params.seed} --out {output:q}"
        " > {log:q} 2>&1"


rule claim:
    """One claim of the papers, judged on the trials of its own rows."""
    input:
        files=lambda w: files_of_claim(w.claim),
        settings="<folder>/settings.yaml",
        # Both are read below --kept: the verdict among all claims, and the noise that printed errors
        # would need.
        kept=lambda w: project_files("results/reference/claims.csv"),
        noise=lambda w: project_files(
            *(f"results/reference/implied_noise/{run}.csv" for run in summaries_of_claim(w.claim))
        ),
    output:
        out="<folder>/claims/{claim}.txt",
        # For `make claim`, which does not know the folder of a configuration.
        duplicate=".snakemake/claims/{claim}.txt",
    log:
        "<folder>/logs/claims/{claim}.log",
    wildcard_constraints:
        claim="[IM][0-9]+",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.claim"),
        settings=lambda w: job_settings.dump_settings(summaries_of_claim(w.claim)),
        kept=lambda w, input: os.path.dirname(input.kept[0]) if input.kept else "",
        python=python,
    message:
        "Claim: {wildcards.claim}"
    shell:
        "{params.python} -m reproduction claim {wildcards.claim} {input.files:q} {input.settings:q}"
        " --settings {params.settings:q} --kept={params.kept:q} --out {output.out:q} > {log:q} 2>&1"
        " && cp {output.out:q} {output.duplicate:q}"


rule judge_claims:
    """The verdicts on the papers' claims, before they are shown."""
    input:
        files=[
            *summaries_of(*RUNS),
            *(file for run in RUNS for file in trials_of(run)),
            "<folder>/theory/exact.csv",
            *expand(
                "<folder>/readings/{name}{ending}", name=SWEPT, ending=[".csv", "_trials.csv.gz"]
            ),
            *published(*SWEPT),
            "<folder>/settings.yaml",
        ],
    output:
        claims="<folder>/claims.csv",
        comparisons="<folder>/tables/claims_comparisons.csv",
    log:
        "<folder>/logs/claims.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.claims"),
        python=python,
    message:
        "Claims: the verdicts"
    shell:
        "{params.python} -m reproduction claims {input.files:q} --out {output.claims:q}"
        " --comparisons {output.comparisons:q} > {log:q} 2>&1"
