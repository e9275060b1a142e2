# Reproduction of the MVG and IMGM papers on matrix-valued differential privacy. `snakemake` makes
# every table, every figure and the report; name a target (`snakemake table4`) for a part.
from snakemake.utils import min_version

min_version("9.25")


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/trials.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/targets.smk"


rule all:
    """Every table, every figure and the report."""
    default_target: True
    input:
        [wanted for _, wanted in TARGETS.values()],
        rules.judge.output,
        rules.report.output,


onstart:
    # Not in dry runs, and only where there is something to do: what jobs read their settings from.
    configuration.write(config)
    shell(STAND_INS)


onsuccess:
    # The results are there: a table of run times that cannot be made must not fail the run.
    shell("python -m matrixdp timing --results results > /dev/null || true")
    shell(STAND_INS)


sources.remember()
