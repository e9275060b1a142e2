# Reproduction of the MVG and IMGM papers on matrix-valued differential privacy. `snakemake` makes
# every table, every figure and the report; name a target (`snakemake table4`) for a part.
from snakemake.utils import min_version

min_version("9.25")


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/mvg.smk"
include: "workflow/rules/imgm.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/readings.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        rules.mvg.input,
        rules.imgm.input,
        rules.figures.input,
        rules.readings.input,
        rules.audit.input,
        rules.claims.input,
        rules.report.output,


onstart:
    shell("python -m matrixdp status --results results")


onsuccess:
    # The results are there: a table of run times that cannot be made must not fail the run.
    shell("python -m matrixdp timing --results results || true")
