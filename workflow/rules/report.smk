# One page on all that a run has made.
import glob
import shlex

# What made this run differ from a plain one, as a person types it: commands on the page end with it.
OVERLAYS = [os.path.relpath(path) for path in workflow.overwrite_configfiles]
SETTINGS = list(workflow.config_settings.config_args or [])
ARGUMENTS = shlex.join(
    [
        *(["--configfile", *OVERLAYS] if OVERLAYS else []),
        *(["--config", *SETTINGS] if SETTINGS else []),
    ]
)


rule report:
    input:
        expand("results/data/{dataset}/provenance.json", dataset=[*DATASETS, *LEARNING]),
        expand("results/summary/{experiment}.csv", experiment=[*EXPERIMENTS, *TRAINING]),
        expand(
            "results/tables/{table}.{format}",
            table=[
                *("table2", *(f"table{table}" for table in EXPERIMENT_OF), *SECTION10_2),
                *IMGM_TABLES,
            ],
            format=["csv", "md"],
        ),
        expand(
            "results/figures/{figure}.{format}",
            figure=[*FIGURES, *READING_FIGURES],
            format=["svg", "png"],
        ),
        expand("results/figures/data/{figure}.csv", figure=[*FIGURES, *READING_FIGURES]),
        rules.audit_tables.output,
        rules.ledger.output,
        sorted(glob.glob("workflow/matrixdp/report/page/**/*.*", recursive=True)),
    output:
        "results/report.html",
    log:
        "results/logs/report.log",
    benchmark:
        "results/benchmarks/report.tsv"
    conda:
        "../../environment.yml"
    params:
        config=json.dumps(config),
        arguments=ARGUMENTS,
        code=sources.digest("report/page/__init__.py"),
    message:
        "Report: results/report.html"
    shell:
        "python -m matrixdp report --results results --config {params.config:q}"
        " --arguments={params.arguments:q} --out {output} > {log} 2>&1"
