# What a person may name after `snakemake`: the parts of the papers.
TARGETS = products.targets(config, SHOWN)

for target, (about, wanted) in TARGETS.items():
    if wanted:

        rule:
            name:
                target
            input:
                wanted,

        described(target, about)


rule my_matrix:
    """Every mechanism on a matrix of your own, which config.yaml names: one page"""
    input:
        lambda wildcards: (
            f"{MATRIX_FOLDER}/report.html"
            if MATRIX
            else sys.exit(
                "config.yaml: matrix names no file; write one, see README, and give it as in "
                "`snakemake my_matrix --config matrix=people.toml`"
            )
        ),


for about in (
    products.notes(config, GIVEN, MATRIX, MATRIX_FOLDER)
    if MAIN and workflow.is_main_process
    else ()
):
    print(f"note: {about}", file=sys.stderr)
