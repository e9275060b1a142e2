# From summaries to tables, figures, verdicts on the papers' claims, and one page on everything.
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


# Results of the default reading are never replaced by those of another.
for group in [
    *TABLES,
    *FIGURES,
    *(group.under("{other}") for group in TABLES if group.has_readings),
]:

    rule:
        name:
            group.job
        input:
            group.files,
        output:
            group.outputs,
        log:
            f"results/logs/{group.place}.log",
        benchmark:
            f"results/benchmarks/{group.place}.tsv"
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            **SMALL,
        params:
            verb=group.verb,
            names=group.names,
            reading=f"--reading {group.reading}" if group.reading else "",
            settings=group.settings(config),
            code=sources.digest(f"cli/{group.verb}.py", shows=True),
            entries=group.digest,
        message:
            "{rule}: {params.names}"
        shell:
            "python -m matrixdp {params.verb} {params.names} {params.reading} > {log} 2>&1"


rule judge:
    input:
        expand(
            "results/{kind}/{experiment}.csv",
            kind=["summary", "comparisons"],
            experiment=[*EXPERIMENTS, *TRAINING],
        ),
        [
            f"results/trials/{experiment}/default/{row}.csv.gz"
            for experiment in [*EXPERIMENTS, *TRAINING]
            for row in configuration.rows(config, experiment)
        ],
        expand("results/theory/{name}.csv", name=["exact", "sampler_times"]),
        expand("results/readings/{experiment}.csv", experiment=SWEPT),
    output:
        "results/claims.csv",
        "results/tables/claims_comparisons.csv",
    log:
        "results/logs/claims.log",
    benchmark:
        "results/benchmarks/claims.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **SMALL,
    params:
        settings=sources.stamp(configuration.shown(config, [])),
        names=sources.stamp([*sources.theory(), *sources.figures(), *sources.mechanisms()]),
        code=sources.digest("cli/judge.py", *sources.theory().values(), shows=True),
    message:
        "Claims"
    shell:
        "python -m matrixdp judge > {log} 2>&1"


rule report:
    input:
        expand("results/data/{name}/provenance.json", name=[*DATASETS, *TRAINING]),
        expand("results/summary/{name}.csv", name=[*EXPERIMENTS, *TRAINING]),
        [file for group in [*TABLES, *FIGURES] for file in group.outputs],
        rules.judge.output,
    output:
        "results/report.html",
    log:
        "results/logs/report.log",
    benchmark:
        "results/benchmarks/report.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **SMALL,
    params:
        settings=sources.stamp(configuration.shown(config, [])),
        arguments=ARGUMENTS,
        code=sources.digest(
            "cli/report.py",
            *(
                os.path.relpath(file, sources.PACKAGE)
                for file in sorted(
                    glob.glob(f"{sources.PACKAGE}/report/page/**/*.*", recursive=True)
                )
                if "__pycache__" not in file
            ),
            shows=True,
        ),
    message:
        "Report: results/report.html"
    shell:
        "python -m matrixdp report --arguments={params.arguments:q} --out {output} > {log} 2>&1"
