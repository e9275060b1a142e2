# Tables, figures, one page and an article on everything. What each is made from stands here; how it
# looks is in its file below workflow/reproduction/report.

AUDITS = audit_of(*EXPERIMENTS)
NOISE = ["<folder>/tables/effective_noise.csv"]
# Whether the study's own checks of mechanisms for releases stand beside the run's.
CHECKED = ON_PAPERS and EXPERIMENTS
# What is advised, or called best, needs results on other data if it was made on these.
HELD_OUT = ["<folder>/held_out.csv"] if CHECKED else []

# By the name of a table its recipe, a file of reproduction/report/tables; the files that it shows;
# and what it is of: an experiment, and a mechanism of it.
TABLES = {
    "advice": ("advice", [*rows_of(*RUNS), *compared(*RUNS), *AUDITS, *HELD_OUT]),
    "audit": (
        "audit",
        [
            *AUDITS,
            *expand("<folder>/audit/{run}_sensitivities.csv", run=EXPERIMENTS),
            *(["<folder>/audit/negative_control.csv"] if CHECKED else []),
        ],
    ),
    "effective_noise": (
        "effective_noise",
        [*AUDITS, *rows_of(*EXPERIMENTS), *provenance(*map(DATASET.get, EXPERIMENTS))],
    ),
    "price": ("price", [*rows_of(*RUNS), *compared(*RUNS)]),
    "section10_2": (
        "section10_2",
        [*rows_of("section10_2", "regression"), *published("section10_2", "regression")],
    ),
}
FIGURES = {
    **{f"curves_{run}": ("curves", [*rows_of(run), *published(run)], run) for run in SWEPT},
    **{
        name: ("directions", [*rows_of(run), *compared(run), *published(run)], run)
        for run in SWEPT
        for name in catalogue.experiment(run).figures
    },
}
if ON_PAPERS:
    PRINTED = [run for run in SWEPT if run in IN_PRINT]
    FEATURES = [run for run in PANELS if run in TRAININGS]
    # Panels of runs that are no part of this one, whose rows are kept.
    KEPT_FEATURES = project_files(
        *(
            f"results/reference/images/rows/{run}.csv"
            for run in PANELS
            if FEATURES and run not in TRAININGS
        )
    )
    GRADIENTS = [run for run in ("adult", "cora") if run in TRAININGS]
    # The verdicts of a run with another root seed, which are kept.
    SECOND_SEED = kept_second_seed()
    TABLES |= {
        "table1": ("table1", [*published("table1"), *provenance(*map(DATASET.get, TRAININGS))]),
        "table2": ("table2", [*published("table2"), *provenance("liver", "movement", "ctg")]),
        "claims": ("claims", ["<folder>/claims.csv"]),
        "errata": ("errata", [*project_files("workflow/errata.yaml"), "<folder>/theory/exact.csv"]),
        "imgm_settings": ("imgm_settings", ["<folder>/theory/settings.csv"]),
    }
    if SECOND_SEED:
        TABLES["second_seed"] = ("second_seed", ["<folder>/claims.csv", *SECOND_SEED])
    FIGURES |= {
        "readings": (
            "readings",
            [
                *expand("<folder>/{kind}/{run}.csv", kind=["readings", "audit"], run=PRINTED),
                *published(*PRINTED),
            ],
        ),
        "figure3": ("figure3", ["<folder>/theory/ellipses.csv"]),
        "figure1": ("figure1", [*rows_of(*FEATURES), *KEPT_FEATURES]),
        "imgm_gradients": ("imgm_gradients", rows_of(*GRADIENTS)),
    }
if CHECKED:
    FIGURES |= {
        "explainer": ("explainer", NOISE),
        "noise_levels": ("noise_levels", NOISE),
        "nominal": ("nominal", [*rows_of(*RUNS), "<folder>/theory/settings.csv"]),
    }
if OTHER_READING:
    TABLES, FIGURES = {"section10_2": TABLES["section10_2"]}, {}

# Those of experiments of the papers that this run leaves out, or of none at all, are left out.
LEFT_OUT = {
    f"<folder>/{kind}/{run}.csv"
    for kind in ("rows", "comparisons", "readings", "audit")
    for run in OF_PAPERS - {*RUNS}
}
TABLES, FIGURES = (
    {name: entry for name, entry in each.items() if entry[1] and LEFT_OUT.isdisjoint(entry[1])}
    for each in (TABLES, FIGURES)
)
TABLES |= {
    IN_PRINT.get(run, run): ("paper_table", [*rows_of(run), *published(run)], run) for run in SWEPT
}
TABLES |= {f"imgm_{run}": ("training", rows_of(run), run) for run in TRAININGS}
# One mechanism against each other row, which nobody makes by default.
ON_REQUEST = {
    f"against_{run}_{row}": (
        "against_each",
        [*rows_of(run), *compared(run), *audit_of(run)],
        run,
        row,
    )
    for run in RUNS
    for row in ROWS[run]
    if row not in BASELINES
}
RECIPES = TABLES | ON_REQUEST

# Bibliographies: of the run, and of one experiment.
CITATIONS = {"citations": RUNS} | {f"citations_{name}": [name] for name in RUNS}

# What page and article show, and what their cards and sentences name.
CONTENT = sorted(
    {
        *provenance(*DATASETS),
        *expand("<folder>/{kind}/{run}.csv", kind=["summary", "rows"], run=RUNS),
        *published(*SWEPT),
        *(expand("<folder>/theory/{name}.csv", name=["exact", "settings"]) if ON_PAPERS else []),
        *(["<folder>/claims.csv"] if ON_PAPERS else []),
        *HELD_OUT,
        *tables("*"),
        *figures("*"),
    }
)
# All that a run makes but its page and its article.
MADE = sorted(
    file
    for file in {
        *CONTENT,
        *(file for _, files, *_ in [*TABLES.values(), *FIGURES.values()] for file in files),
        *(file for run in RUNS for file in trials_of(run)),
        *(expand("<folder>/theory/{name}.csv", name=discovery.theory()) if ON_PAPERS else []),
    }
    if file.startswith("<folder>")
)


rule rows:
    """All that is known of the rows of an experiment, in one frame."""
    input:
        summary=lambda w: summaries_of(w.run),
        trials=lambda w: trials_of(w.run),
        audit=lambda w: audit_of(w.run),
        # A rule that was made on the papers' data needs a result on others.
        held_out=lambda w: HELD_OUT if catalogue.tuned() & {*ROWS[w.run]} else [],
        # What the paper prints, and the noise that this would need.
        printed=lambda w: published(w.run) if w.run in EXPERIMENTS else [],
        noise=lambda w: [f"<folder>/implied_noise/{w.run}.csv"] if w.run in IN_PRINT else [],
    output:
        "<folder>/rows/{run}.csv",
    log:
        "<folder>/logs/rows/{run}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.rows"),
        settings=settings(job_settings.rows_frame),
        python=python,
    message:
        "Rows: {wildcards.run}"
    shell:
        "{params.python} -m reproduction rows {input.summary:q} {input.trials:q} {input.audit:q}"
        " {input.held_out:q} {input.printed:q} {input.noise:q} --settings {params.settings:q}"
        " --out {output:q} > {log:q} 2>&1"


rule table:
    """One table, for people and for programs."""
    input:
        files=lambda w: RECIPES[w.table][1],
        settings="<folder>/settings.yaml",
    output:
        out=report(
            "<folder>/tables/{table}.csv",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        json="<folder>/tables/{table}.json",
        md="<folder>/tables/{table}.md",
        tex="<folder>/tables/{table}.tex",
    log:
        "<folder>/logs/tables/{table}.log",
    wildcard_constraints:
        table=wildcard_pattern(RECIPES),
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.table"),
        code=lambda w: code(f"report.tables.{RECIPES[w.table][0]}", beyond="cli.table"),
        recipe=lambda w: RECIPES[w.table][0],
        words=lambda w: words_of(RECIPES[w.table]),
        python=python,
    message:
        "Table: {wildcards.table}"
    shell:
        "{params.python} -m reproduction table {params.recipe} {input.files:q} {input.settings:q}"
        " {params.words:q} --out {output.out:q} > {log:q} 2>&1"


rule figure:
    """One figure, the data that it shows, and its words."""
    input:
        files=lambda w: FIGURES[w.figure][1],
        settings="<folder>/settings.yaml",
    output:
        svg=report(
            "<folder>/figures/{figure}.svg",
            caption="../report/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        png="<folder>/figures/{figure}.png",
        json="<folder>/figures/{figure}.json",
        data="<folder>/figures/data/{figure}.csv",
    log:
        "<folder>/logs/figures/{figure}.log",
    wildcard_constraints:
        figure=wildcard_pattern(FIGURES),
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.figure"),
        code=lambda w: code(f"report.figures.{FIGURES[w.figure][0]}", beyond="cli.figure"),
        recipe=lambda w: FIGURES[w.figure][0],
        words=lambda w: words_of(FIGURES[w.figure]),
        python=python,
    message:
        "Figure: {wildcards.figure}"
    shell:
        "{params.python} -m reproduction figure {params.recipe} {input.files:q} {input.settings:q}"
        " {params.words:q} --out {output.svg:q} > {log:q} 2>&1"


rule report:
    """One page on everything."""
    input:
        files=CONTENT,
        settings="<folder>/settings.yaml",
        # Those that its sentences are written for.
        reference_settings=project_files("results/reference/settings.yaml"),
        authors=project_files("CITATION.cff"),
    output:
        report("<folder>/report.html", caption="../report/page.rst", category="Report"),
    log:
        "<folder>/logs/report.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.report"),
        options=config["options"],
        python=python,
    message:
        "Report"
    shell:
        "{params.python} -m reproduction report {input.files:q} {input.settings:q}"
        " --options={params.options:q} --out {output:q}"
        " > {log:q} 2>&1"


rule bibliography:
    """The works behind all experiments of the run, or behind one, as BibTeX."""
    input:
        summaries=lambda w: expand("<folder>/summary/{run}.csv", run=CITATIONS[w.citations]),
        data=lambda w: provenance(*sorted({DATASET[run] for run in CITATIONS[w.citations]})),
        settings="<folder>/settings.yaml",
        authors=project_files("CITATION.cff"),
    output:
        "<folder>/{citations}.bib",
    log:
        "<folder>/logs/{citations}.log",
    wildcard_constraints:
        citations=wildcard_pattern(CITATIONS),
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.citations"),
        python=python,
    message:
        "Citations: {wildcards.citations}"
    shell:
        "{params.python} -m reproduction citations {input.summaries:q} {input.data:q}"
        " {input.settings:q} {input.authors:q} --out {output:q} > {log:q} 2>&1"


rule article:
    """The replication article: text, tables and figures of this run."""
    input:
        files=CONTENT,
        settings="<folder>/settings.yaml",
        # Those that its text is written for.
        reference_settings=project_files("results/reference/settings.yaml"),
        authors=project_files("CITATION.cff"),
    output:
        pdf=report("<folder>/article.pdf", caption="../report/page.rst", category="Report"),
        numbers="<folder>/article_numbers.csv",
    log:
        "<folder>/logs/article.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.article"),
        python=python,
    message:
        "Article"
    shell:
        "{params.python} -m reproduction article {input.files:q} {input.settings:q}"
        " --out {output.pdf:q} > {log:q} 2>&1"


rule ro_crate:
    """The files of the run with their checksums and origins, as an RO-Crate."""
    input:
        files=[*MADE, "<folder>/report.html"],
        settings="<folder>/settings.yaml",
    output:
        "<folder>/ro-crate-metadata.json",
    log:
        "<folder>/logs/ro_crate.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.ro_crate"),
        python=python,
    message:
        "RO-Crate"
    shell:
        "{params.python} -m reproduction ro-crate {input.files:q} {input.settings:q}"
        " --out {output:q} > {log:q} 2>&1"
