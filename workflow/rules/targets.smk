# What a person may name after `snakemake`: the parts of the papers.
MNIST = [name for name, training in TRAINING.items() if training["dataset"] == "mnist"]
TARGETS = {
    "data": [
        "Every data set, prepared and described",
        expand("results/data/{name}/provenance.json", name=MATERIAL),
    ],
    "table1": ["The set-ups of the IMGM paper", tables("table1")],
    "table2": ["The set-ups of the MVG paper", tables("table2")],
    "table3": ["Experiment I of the MVG paper", tables("table3", folder=RESULTS)],
    "table4": ["Experiment II of the MVG paper", tables("table4", folder=RESULTS)],
    "table5": ["Experiment III of the MVG paper", tables("table5", folder=RESULTS)],
    "figure1": ["Figure 1 of the IMGM paper", figures("figure1")],
    "figure3": ["Figure 3 of the MVG paper", figures("figure3")],
    "figure4": ["Figure 4 of the MVG paper", figures("figure4")],
    "section10_2": [
        "Noise against leaving features out, section 10.2 of the MVG paper",
        [*tables("section10_2"), *figures("section10_2")],
    ],
    "mvg": [
        "The tables of the MVG paper",
        [
            *tables("table2", "section10_2"),
            *tables("table3", "table4", "table5", folder=RESULTS),
        ],
    ],
    "imgm": [
        "The tables and figures of the IMGM paper",
        [
            *tables("table1", "imgm_settings"),
            *tables(*(f"imgm_{name}{part}" for name in TRAINING for part in ("", "_grid"))),
            *figures("figure1", "imgm"),
        ],
    ],
    "mnist": [
        "MNIST, private gradients and private features",
        [
            *tables(*(f"imgm_{name}{part}" for name in MNIST for part in ("", "_grid"))),
            *figures("imgm_mnist", "figure1_mnist"),
        ],
    ],
    "figures": ["Every figure but those of readings", figures("")],
    "readings": [
        "Every mechanism under all its readings, and the figures of that",
        [
            *expand("results/readings/{experiment}.csv", experiment=SWEPT),
            *figures("", of_readings=True),
        ],
    ],
    "audit": [
        "The privacy audit, its canaries and sensitivities",
        tables("audit", "canaries", "sensitivities", "effective_noise"),
    ],
    "claims": [
        "A verdict on every claim of the papers",
        ["results/claims.csv", *tables("claims", "implied", "errata", "advice")],
    ],
}


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
            "results/my_matrix/report.html"
            if MATRIX
            else sys.exit(
                "config.yaml: matrix names no file; write one, see README, and give it as in "
                "`snakemake my_matrix --config matrix=people.toml`"
            )
        ),


# Empty where the records are public.
MARKED = MATRIX and products.catalogue.mark(MATRIX["matrix"]["status"]).text
if MARKED and workflow.is_main_process:
    print(f"note: results/my_matrix: {MARKED}", file=sys.stderr)


# Settings that a person has given, and what they do not act on.
ASIDE = {
    "reading": "the reading acts on the tables of results (mvg, table3 to table5) alone; figures, "
    "training, claims and the report are those of the default reading",
    "trials": "private training has trials of its own, training.NAME.trials",
    "epsilons": "private training has epsilons of its own, training.NAME.epsilons",
}
for setting, about in ASIDE.items() if MAIN and workflow.is_main_process else ():
    named = any(one.partition("=")[0] == setting for one in GIVEN)
    if named and (TRAINING if setting != "reading" else RESULTS != "results/tables"):
        print(f"note: {about}", file=sys.stderr)
