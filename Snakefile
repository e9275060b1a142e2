# The workflow is in workflow/Snakefile. This file lets a bare `snakemake` find it from here.
include: "workflow/Snakefile"


# An included file cannot set the default target.
rule default:
    """Everything, as `all`."""
    default_target: True
    input:
        rules.all.input,
    message:
        "Everything"
