# Tables, figures, one page and an article on everything. What each is made from stands here; how it
# looks is in its file below workflow/reproduction/report.

# All that a run has on releases, and on private training.
AUDITS = expand("<folder>/audit/{run}.csv", run=EXPERIMENTS)
RELEASE_ROWS = expand("<folder>/{kind}/{run}.csv", kind=["summary", "comparisons"], run=EXPERIMENTS)
TRAINING_ROWS = expand("<folder>/{kind}/{run}.csv", kind=["summary", "comparisons"], run=TRAININGS)

# Tables and figures whose recipe has their name, and the files that they are made from.
TABLES = {
    "advice": [
        *RELEASE_ROWS,
        *AUDITS,
        *TRAINING_ROWS,
        *(["<folder>/held_out.csv"] if ON_PAPERS and EXPERIMENTS else []),
    ],
    "audit": [
        *AUDITS,
        *expand("<folder>/audit/{run}_sensitivities.csv", run=EXPERIMENTS),
        *(["<folder>/audit/negative_control.csv"] if ON_PAPERS else []),
    ],
    "effective_noise": [*AUDITS, *expand("<folder>/comparisons/{run}.csv", run=EXPERIMENTS)],
    "price": [*RELEASE_ROWS, *AUDITS, *TRAINING_ROWS],
}
FIGURES = {
    "price": ["<folder>/tables/price.csv"],
}

if {"regression", "section10_2"} <= {*EXPERIMENTS}:
    TABLES["section10_2"] = [*rows_of("section10_2"), *rows_of("regression")]
if ON_PAPERS:
    if PRINTED := [name for name in SWEPT if name in IN_PRINT]:
        FIGURES["readings"] = [file for name in PRINTED for file in readings_of(name)]
    TABLES |= {
        "table1": [*published("table1"), *provenance("adult", "cora", "imdb", "mnist", *IMAGES)],
        "table2": [*published("table2"), *provenance("liver", "movement", "ctg")],
        "claims": ["<folder>/claims.csv"],
        "errata": [within(f"{WORKFLOW}/errata.yaml"), "<folder>/theory/exact.csv"],
        "imgm_settings": ["<folder>/theory/settings.csv"],
    }
    FIGURES |= {
        "explainer": ["<folder>/tables/effective_noise.csv", "<folder>/tables/table2.csv"],
        "figure3": ["<folder>/theory/ellipses.csv"],
        "noise_levels": ["<folder>/tables/effective_noise.csv", "<folder>/tables/table2.csv"],
        "nominal": [
            *RELEASE_ROWS,
            *AUDITS,
            *TRAINING_ROWS,
            "<folder>/theory/settings.csv",
        ],
    }
    if FEATURES := [name for name in PANELS if name in TRAININGS]:
        FIGURES["figure1"] = [file for name in FEATURES for file in rows_of(name)]
    if GRADIENTS := [name for name in ("adult", "cora") if name in TRAININGS]:
        FIGURES["imgm_gradients"] = [file for name in GRADIENTS for file in rows_of(name)]

if not EXPERIMENTS:
    # These show the noise of releases.
    for name in ("audit", "effective_noise"):
        del TABLES[name]
    for name in ("explainer", "noise_levels", "nominal"):
        FIGURES.pop(name, None)

# A table or figure of one's own on an experiment of the papers that this run leaves out.
LEFT_OUT = {
    f"<folder>/{kind}/{run}.csv"
    for kind in ("summary", "comparisons", "readings", "audit")
    for run in {*job_settings.OF_PAPERS, *discovery.trainings()} - {*RUNS}
}
TABLES, FIGURES = (
    {name: files for name, files in entries.items() if LEFT_OUT.isdisjoint(files)}
    for entries in (TABLES, FIGURES)
)

# Of one experiment each, those of the papers and of a person's own.
EXPERIMENT_TABLES = {
    **{IN_PRINT.get(run, run): ("experiment", rows_of(run)) for run in SWEPT},
    **{f"imgm_{run}": ("training", rows_of(run)) for run in TRAININGS},
}
SIDES = {"regression": "left", "first_pc": "middle", "covariance": "right"}
EXPERIMENT_FIGURES = {
    **{f"curves_{run}": ("curves", rows_of(run)) for run in SWEPT},
    **{
        f"figure4_{side}": ("directions", rows_of(run))
        for run, side in SIDES.items()
        if run in EXPERIMENTS
    },
}
# One mechanism or scheme of an experiment against each other row.
ON_REQUEST = {
    f"against_{run}_{row}": (f"against_each --mechanism {row}", rows_of(run))
    for run in RUNS
    for row in job_settings.rows(config, run)
    if row not in BASELINES
}

# Bibliographies: of the run, and of one experiment.
CITATIONS = {"citations": RUNS} | {f"citations_{name}": [name] for name in RUNS}
AUTHORS = beside("CITATION.cff")

if OTHER_READING:
    # Another reading changes the experiments' tables, and nothing else.
    TABLES = {name: TABLES[name] for name in TABLES if name == "section10_2"}
    FIGURES, EXPERIMENT_FIGURES = {}, {}

# All by name: the recipe, and the files that are shown.
TABLES = {name: (name, files) for name, files in TABLES.items()} | EXPERIMENT_TABLES | ON_REQUEST
FIGURES = {name: (name, files) for name, files in FIGURES.items()} | EXPERIMENT_FIGURES

# Tables for programs: their recipes have no grid, and so there is no Markdown and no LaTeX of them.
FOR_PROGRAMS = sorted({"advice", "effective_noise", "price"} & {*TABLES})


rule table:
    """One table, for people and for programs."""
    input:
        files=lambda wildcards: TABLES[wildcards.table][1],
        settings="<folder>/settings.yaml",
        code=lambda wildcards: code(
            "cli.table", recipe_of(TABLES, discovery.tables(), wildcards.table)
        ),
    output:
        csv=report(
            "<folder>/tables/{table}.csv",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        md="<folder>/tables/{table}.md",
        json="<folder>/tables/{table}.json",
    log:
        "<folder>/logs/tables/{table}.log",
    wildcard_constraints:
        table="|".join(name for name in TABLES if name not in FOR_PROGRAMS) or "none",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        recipe=lambda wildcards: TABLES[wildcards.table][0],
        python=python,
    message:
        "Table: {wildcards.table}"
    shell:
        "{params.python} -m reproduction table {params.recipe} {input.files:q} {input.settings:q}"
        " --out {output.csv:q} > {log:q} 2>&1"


use rule table as table_for_programs with:
    output:
        csv=report(
            "<folder>/tables/{table}.csv",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        json="<folder>/tables/{table}.json",
    wildcard_constraints:
        table="|".join(FOR_PROGRAMS) or "none",


rule latex:
    """A table in LaTeX."""
    input:
        table="<folder>/tables/{table}.json",
        code=code("cli.latex"),
    output:
        "<folder>/tables/{table}.tex",
    log:
        "<folder>/logs/tables/{table}_latex.log",
    wildcard_constraints:
        table="|".join({*TABLES} - {*FOR_PROGRAMS}) or "none",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        python=python,
    message:
        "LaTeX: {wildcards.table}"
    shell:
        "{params.python} -m reproduction latex {input.table:q} > {log:q} 2>&1"


rule figure:
    """One figure, the data that it shows, and its words."""
    input:
        files=lambda wildcards: FIGURES[wildcards.figure][1],
        settings="<folder>/settings.yaml",
        code=lambda wildcards: code(
            "cli.figure", recipe_of(FIGURES, discovery.figures(), wildcards.figure)
        ),
    output:
        svg=report(
            "<folder>/figures/{figure}.svg",
            caption="../report/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        narrow="<folder>/figures/narrow/{figure}.svg",
        png="<folder>/figures/{figure}.png",
        json="<folder>/figures/{figure}.json",
        data="<folder>/figures/data/{figure}.csv",
    log:
        "<folder>/logs/figures/{figure}.log",
    wildcard_constraints:
        figure="|".join(FIGURES) or "none",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        recipe=lambda wildcards: FIGURES[wildcards.figure][0],
        python=python,
    message:
        "Figure: {wildcards.figure}"
    shell:
        "{params.python} -m reproduction figure {params.recipe} {input.files:q} {input.settings:q}"
        " --out {output.svg:q} > {log:q} 2>&1"


rule report:
    """One page on everything."""
    input:
        files=[*summaries(), *tables("*"), *figures("*")],
        settings="<folder>/settings.yaml",
        code=code("cli.report"),
    output:
        report("<folder>/report.html", caption="../report/page.rst", category="Report"),
    log:
        "<folder>/logs/report.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
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
        files=lambda wildcards: cited(CITATIONS[wildcards.citations]),
        settings="<folder>/settings.yaml",
        authors=AUTHORS,
        code=code("cli.citations"),
    output:
        "<folder>/{citations}.bib",
    log:
        "<folder>/logs/{citations}.log",
    wildcard_constraints:
        citations="|".join(CITATIONS),
    localrule: True
    conda:
        "../../environment.yml"
    params:
        python=python,
    message:
        "Citations: {wildcards.citations}"
    shell:
        "{params.python} -m reproduction citations {input.files:q} {input.settings:q}"
        " {input.authors:q} --out {output:q} > {log:q} 2>&1"


rule article:
    """The replication article: text, tables and figures of this run."""
    input:
        files=[*summaries(), *tables("*"), *figures("*")],
        theory="<folder>/theory/exact.csv",
        settings="<folder>/settings.yaml",
        # Its authors, and the settings that its text is written for.
        beside=[*AUTHORS, *beside("results/reference/settings.yaml")],
        code=code("cli.article"),
    output:
        pdf=report("<folder>/article.pdf", caption="../report/page.rst", category="Report"),
        numbers="<folder>/article_numbers.csv",
    log:
        "<folder>/logs/article.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        python=python,
    message:
        "Article"
    shell:
        "{params.python} -m reproduction article {input.files:q} {input.theory:q} {input.settings:q}"
        " --out {output.pdf:q} > {log:q} 2>&1"


rule ro_crate:
    """The files of the run with their checksums and origins, as an RO-Crate."""
    input:
        files=[*results_files(), "<folder>/report.html"],
        settings="<folder>/settings.yaml",
        code=code("cli.ro_crate"),
    output:
        "<folder>/ro-crate-metadata.json",
    log:
        "<folder>/logs/ro_crate.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        python=python,
    message:
        "RO-Crate"
    shell:
        "{params.python} -m reproduction ro-crate {input.files:q} {input.settings:q}"
        " --out {output:q} > {log:q} 2>&1"
