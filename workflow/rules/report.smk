# Tables, figures, and one page on everything. A table or figure says in its own file, below
# workflow/reproduction/report, what it is made from.

# Overlays that made this run differ from a plain one: commands on the page end with them.
OVERLAYS = [os.path.relpath(path) for path in workflow.overwrite_configfiles]


rule table:
    """One table, for people and for programs."""
    input:
        lambda wildcards: made_from(TABLES[wildcards.table]),
        settings="<results>/settings.yaml",
    output:
        csv=report(
            "<results>/tables/{table}.csv",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        md="<results>/tables/{table}.md",
        json="<results>/tables/{table}.json",
    log:
        "<results>/logs/tables/{table}.log",
    benchmark:
        "<results>/benchmarks/tables/{table}.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.table", *modules(discovery.tables(), *discovery.tables())),
        python=python,
    message:
        "Table: {wildcards.table}"
    shell:
        '{params.python} -m reproduction table {wildcards.table} --results "$(dirname {input.settings:q})"'
        ' --out "$(dirname {output.csv:q})" > {log:q} 2>&1'


rule latex:
    """A table of the papers in LaTeX."""
    input:
        table="<results>/tables/{table}.json",
    output:
        "<results>/tables/{table}.tex",
    log:
        "<results>/logs/tables/{table}_latex.log",
    wildcard_constraints:
        table="table[1-5]",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.latex"),
        python=python,
    message:
        "LaTeX: {wildcards.table}"
    shell:
        "{params.python} -m reproduction latex {input.table:q} > {log:q} 2>&1"


rule figure:
    """One figure, and the data that it shows."""
    input:
        lambda wildcards: made_from(FIGURES[wildcards.figure]),
        settings="<results>/settings.yaml",
    output:
        svg=report(
            "<results>/figures/{figure}.svg",
            caption="../report/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        png="<results>/figures/{figure}.png",
        data="<results>/figures/data/{figure}.csv",
    log:
        "<results>/logs/figures/{figure}.log",
    benchmark:
        "<results>/benchmarks/figures/{figure}.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.figure", *modules(discovery.figures(), *discovery.figures())),
        python=python,
    message:
        "Figure: {wildcards.figure}"
    shell:
        '{params.python} -m reproduction figure {wildcards.figure} --results "$(dirname {input.settings:q})"'
        ' --out "$(dirname {output.svg:q})" > {log:q} 2>&1'


rule report:
    """One page on everything."""
    input:
        expand("<results>/data/{name}/provenance.json", name=DATASETS),
        expand("<results>/summary/{run}.csv", run=RUNS),
        tables("*"),
        figures("*"),
        rules.judge.output if ON_PAPERS else [],
        settings="<results>/settings.yaml",
    output:
        report("<results>/report.html", caption="../report/page.rst", category="Report"),
    log:
        "<results>/logs/report.log",
    benchmark:
        "<results>/benchmarks/report.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.report"),
        arguments=shlex.join(["--configfile", *OVERLAYS] if OVERLAYS else []),
        python=python,
    message:
        "Report"
    shell:
        '{params.python} -m reproduction report --results "$(dirname {input.settings:q})"'
        " --arguments={params.arguments:q} --out {output:q} > {log:q} 2>&1"


rule article:
    """The replication article: text, tables and figures of this run."""
    input:
        "<results>/claims.csv",
        tables("*"),
        figures("*"),
        expand("<results>/summary/{run}.csv", run=RUNS),
        expand("<results>/data/{name}/provenance.json", name=DATASETS),
        settings="<results>/settings.yaml",
    output:
        pdf=report("<results>/article.pdf", caption="../report/page.rst", category="Report"),
        numbers="<results>/article_numbers.csv",
    log:
        "<results>/logs/article.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.article"),
        python=python,
    shell:
        '{params.python} -m reproduction article --results "$(dirname {input.settings:q})" --out {output.pdf:q}'
        " > {log:q} 2>&1"


rule crate:
    """The files of the run with their checksums and origins, as an RO-Crate."""
    input:
        files=results_files(),
        page="<results>/report.html",
        settings="<results>/settings.yaml",
    output:
        "<results>/ro-crate-metadata.json",
    log:
        "<results>/logs/crate.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        *code("cli.crate"),
        python=python,
    message:
        "RO-Crate"
    shell:
        "{params.python} -m reproduction crate {input.files:q} {input.page:q}"
        ' --results "$(dirname {input.settings:q})" --out {output:q} > {log:q} 2>&1'
