"""Table 1 of the IMGM paper: its set-ups, as printed and as run here."""

from __future__ import annotations

from reproduction import catalogue
from reproduction.report.inputs import Run
from reproduction.report.tables import setups
from reproduction.report.tables.base import Column, Table
from reproduction.report.tables.setups import Settings

CAPTION = (
    "The set-ups of the IMGM paper as it prints them, and as they were run. Type I adds noise to "
    "training gradients, Type II to training features. Where the paper is silent (clip norm, "
    "splits, layers) its cell is empty, and the choice is ours."
)


def build(run: Run) -> Table:
    """Return the experiments below each other, without their empty rows."""
    frame = setups.frame(run, "table1", "training", describe_run)
    items = catalogue.setups("table1")
    groups = {}
    for experiment, name in setups.experiments(frame).items():
        columns = frame[["item", f"{experiment}_published", experiment]]
        groups[name] = [
            {"item": items[item], "printed": printed, "ours": ours}
            for item, printed, ours in columns.itertuples(index=False)
            if printed or ours not in ("", setups.NOT_RUN)
        ]
    return Table(
        title="Table 1",
        caption=CAPTION,
        frame=frame,
        columns=[Column("", "item"), Column("Paper", "printed"), Column("Here", "ours")],
        groups=groups,
    )


def describe_run(
    config: Settings, about: catalogue.Experiment, facts: Settings, settings: Settings
) -> dict[str, str]:
    """Return what differs between the experiments of the IMGM paper."""
    of_gradients, batch = about.perturbation == "gradients", config.get("batch")
    extractor = config.get("extractor_epochs")
    epochs = f"{config['epochs']}" + (f", of the extractor {extractor}" if extractor else "")
    if "width" in config:
        epochs += f" with {config['width']:g} of its units"
    return {
        **{shape: about.setup.get(shape, "-") for shape in ("gradient_shape", "feature_shape")},
        "type1_epochs": epochs if of_gradients else "-",
        "type2_epochs": "-" if of_gradients else epochs,
        "protected": about.protected,
        "training": _records(facts, "train", config["records"]),
        # Reviews are slow to process, so that their test records are limited too.
        "testing": _records(facts, "test", None if of_gradients else config["records"]),
        "clip": f"{config['clip']:g}" if of_gradients else "",
        "lot": f"{config['lot']}"
        + (f", for the authors' code in batches of {batch}" if batch else ""),
        "metric": "test accuracy",
        "delta": config["delta"],
        "trials": f"{config['trials']}, from seed {settings['seed']}",
    }


def _records(facts: Settings, part: str, most: int | None) -> str:
    """Return how many training or test records were used, and how many there are."""
    arrays = facts["arrays"].items()
    (available, *_), *_ = (about["shape"] for name, about in arrays if name.startswith(part))
    return f"{available:,}" if most is None or most >= available else f"{most:,} of {available:,}"
