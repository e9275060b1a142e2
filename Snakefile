# Reproduction of the MVG and IMGM papers on matrix-valued differential privacy. `snakemake` makes
# every table, every figure and the report; name a target (`snakemake table4`) for a part.
import os

from snakemake.utils import min_version

min_version("9.25")


# Settings: those of the folder where it runs, or else those beside this file.
configfile: "config.yaml" if os.path.isfile("config.yaml") else workflow.source_path("config.yaml")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/trials.smk"
include: "workflow/rules/evidence.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/targets.smk"


rule all:
    """Every table, every figure, the report, and all that these are made from."""
    default_target: True
    input:
        results_files(),
        [] if OTHER_READING else ["<results>/report.html", "<results>/ro-crate-metadata.json"],
    message:
        "Everything"


onsuccess:
    if os.path.isfile(f"{RESULTS}/report.html"):
        print(f"Look at {RESULTS}/report.html.", file=sys.stderr)
