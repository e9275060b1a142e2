# Reproduction of the MVG and IMGM papers on matrix-valued differential privacy. `snakemake` makes
# every table built so far; name a target (`snakemake table4`) for a part.
from snakemake.utils import min_version

min_version("9.25")


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/mvg.smk"


rule all:
    default_target: True
    input:
        rules.mvg.input,


onstart:
    shell("python -m matrixdp status --results results")


onsuccess:
    shell("python -m matrixdp timing --results results")
