# From summaries to tables, figures, verdicts on the papers' claims, and one page on everything.
import shlex

# What made this run differ from a plain one, as a person types it: commands on the page end with it.
OVERLAYS = [os.path.relpath(path) for path in workflow.overwrite_configfiles]
GIVEN = list(workflow.config_settings.config_args or [])
ARGUMENTS = shlex.join(
    [*(["--configfile", *OVERLAYS] if OVERLAYS else []), *(["--config", *GIVEN] if GIVEN else [])]
)

GROUPS = [*SHOWN, *products.under(SHOWN, "{other}", EXPERIMENTS)]

# Done where a cluster's run is started: data, for there is the network and a person who reads
# warnings, and what takes seconds. (`localrules` takes no computed names.)
QUICK = ["dataset", "learning", "summary", "summary_of_reading", "judge", "report"]
QUICK += [group.name for group in GROUPS]
workflow.localrules(*map(workflow.modifier.modify_rulename, QUICK))


for group in GROUPS:

    rule:
        name:
            group.name
        input:
            group.files,
        output:
            to_report(group.outputs, "/".join(sorted(group.origins))),
        log:
            f"results/logs/{group.place}.log",
        benchmark:
            f"results/benchmarks/{group.place}.tsv"
        conda:
            "../../environment.yml"
        params:
            commands=group.commands(ROOT),
            settings=group.settings(config),
            code=group.digest,
        message:
            "{rule}"
        shell:
            "({params.commands}) > {log} 2>&1"

    made = dict.fromkeys(group.names("table") + group.names("figure"))
    described(group.name, f"Tables and figures: {', '.join(made)}")


rule judge:
    """The verdicts on the papers' claims, before they are shown."""
    input:
        expand("results/{of}/{name}.csv", of=["summary", "comparisons"], name=RUNS),
        [file for name in RUNS for file in trials_of(name)],
        expand("results/theory/{name}.csv", name=["exact", "sampler_times"]),
        expand("results/readings/{name}{of}", name=SWEPT, of=[".csv", "_trials.csv.gz"]),
    output:
        "results/claims.csv",
        "results/tables/claims_comparisons.csv",
    log:
        "results/logs/claims.log",
    benchmark:
        "results/benchmarks/claims.tsv"
    conda:
        "../../environment.yml"
    params:
        root=root,
        settings=SETTINGS_SHOWN,
        names=sources.stamp([*sources.theory(), *sources.figures(), *sources.mechanisms()]),
        code=sources.digest("cli/judge.py", *sources.theory().values(), shows=True),
    shell:
        "python -m matrixdp judge --results {params.root} > {log} 2>&1"


rule report:
    """One page on everything."""
    input:
        expand("results/data/{name}/provenance.json", name=MATERIAL),
        expand("results/summary/{name}.csv", name=RUNS),
        [file for group in SHOWN for file in group.outputs],
        [] if OWN else rules.judge.output,
    output:
        page=to_report(["results/report.html"], "Report"),
        crate="results/ro-crate-metadata.json",
    log:
        "results/logs/report.log",
    benchmark:
        "results/benchmarks/report.tsv"
    conda:
        "../../environment.yml"
    params:
        root=root,
        settings=SETTINGS_SHOWN,
        arguments=ARGUMENTS,
        code=sources.digest("cli/report.py", *sources.inside("report/page"), shows=True),
    shell:
        "python -m matrixdp report --results {params.root} --arguments={params.arguments:q}"
        " --out {output.page} > {log} 2>&1"
