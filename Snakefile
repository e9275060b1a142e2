# Reproduction of the MVG and IMGM papers on matrix-valued differential privacy. `snakemake` makes
# every table, every figure and the report; name a target (`snakemake table4`) for a part.
import atexit
import os

from snakemake.utils import min_version

min_version("9.25")


# Settings: those of the folder where it runs, or else those beside this file.
SETTINGS = "config.yaml"
if not (workflow.modifier.is_main_snakefile() and os.path.isfile(SETTINGS)):
    SETTINGS = workflow.source_path(SETTINGS)


configfile: SETTINGS


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/trials.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/targets.smk"


if MATRIX:

    # The same rules on a matrix of one's own, apart from what the papers are judged by.
    module matrix:
        snakefile:
            "Snakefile"
        config:
            MATRIX
        replace_prefix:
            {"results/": f"{MATRIX_FOLDER}/"}

    use rule * from matrix as matrix_*


rule all:
    """Every table, every figure, the report, and all that these are made from."""
    default_target: True
    input:
        [wanted for _, wanted in TARGETS.values()],
        [data_of(name) for name in RUNS],
        [file for group in SHOWN for file in group.outputs],
        rules.judge.input,
        rules.judge.output,
        rules.report.output,


onstart:
    # Not in dry runs, and only where there is something to do: what jobs read their settings from.
    stamps.keep_records("results", started=True)
    runs = [(config, "results"), *([(MATRIX, MATRIX_FOLDER)] if MATRIX else [])]
    for file in [file for run in runs for file in products.leftovers(*run)]:
        # Of an experiment that was taken out: the page shows what is there.
        file.unlink()
    if workflow.dag_settings.forceall or workflow.dag_settings.forcerun:
        # Who forces jobs wants them computed.
        stamps.forget("results")
    configuration.write(config)
    shell(STAND_INS)


onsuccess:
    # The results are there: a table of run times that cannot be made must not fail the run.
    shell(
        "[ ! -d results/benchmarks ] || python -m matrixdp timing --results results > /dev/null || true"
    )
    shell(STAND_INS)


if MAIN:
    stamps.keep_records("results", started=False)
# Rules ask for some digests only when their jobs are planned.
atexit.register(sources.remember)
