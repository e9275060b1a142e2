"""The papers' tables of set-ups, as printed and as run here.

These are Table 2 of the MVG paper and Table 1 of the IMGM paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from reproduction import catalogue
from reproduction.data import datasets
from reproduction.report import markup
from reproduction.report.entries import Tables
from reproduction.report.markup import Grid
from reproduction.report.tables.base import Table

NOT_RUN = "not run"

Settings = Mapping[str, Any]
#: Function to our cells from the settings of an experiment, its catalogue entry, the provenance of
#: its data, and the run's settings.
AsRun = Callable[[Settings, catalogue.Experiment, Settings, Settings], dict[str, str]]


def data(name: str, section: str, as_run: AsRun, tables: Tables) -> pd.DataFrame:
    """Return ``item`` and, per experiment, ``<experiment>_published`` and ``<experiment>``.

    ``section`` is the key of the settings under which the experiments stand.
    """
    items, settings = catalogue.setups(name), tables["settings"]
    published = tables[f"published/{name}"]
    printed = published.pivot(index="item", columns="experiment", values="value")
    columns = {}
    for experiment in published["experiment"].unique():
        # A data set with both kinds of training (gradients, features) is two experiments.
        kinds = {}
        for run, config in settings.get(section, {}).items():
            source = config.get("dataset", experiment)
            original = (datasets.entries().get(source) or {}).get("copy_of")
            if experiment in (run, source, original):
                about, facts = catalogue.experiment(run), tables[f"data/{source}"]
                kinds[about.perturbation] = {
                    **about.setup,
                    **{item: facts[item] for item in ("status", "licence")},
                    "dataset": facts["title"],
                    "epsilon": ", ".join(config["epsilons"]),
                    **as_run(config, about, facts, settings),
                }
        ours = dict.fromkeys(items, NOT_RUN) | {"needs": catalogue.experiment(experiment).needs}
        columns[f"{experiment}_published"] = printed[experiment]
        columns[experiment] = pd.DataFrame(kinds).apply(_joined, axis=1) if kinds else ours
    table = pd.DataFrame({name: pd.Series(cells) for name, cells in columns.items()}, [*items])
    return table.fillna("").rename_axis("item").reset_index()


def _joined(cells: pd.Series) -> str:
    """Return the cell of a set-up; where its trainings differ, each after what it perturbs."""
    filled = cells[cells.notna() & ~cells.isin(["", "-"])]
    if filled.nunique() > 1:
        return "; ".join(f"{perturbation}: {cell}" for perturbation, cell in filled.items())
    return next(iter([*filled, *cells.dropna()]), "")


def finding(table: pd.DataFrame) -> str:
    """Return how many of the paper's set-ups are run."""
    names = _experiments(table)
    ran = sum(not table[name].isin([NOT_RUN]).any() for name in names)
    return f"{ran} of the paper's {len(names)} set-ups are run here"


def _experiments(table: pd.DataFrame) -> dict[str, str]:
    """Return the display names of the experiments in a table of set-ups."""
    return {name: catalogue.experiment(name).name for name in table.columns[2::2]}


def grid2(table: pd.DataFrame) -> Grid:
    """Return the experiments of Table 2 beside each other."""
    short = [name.replace("Experiment", "Exp.") for name in _experiments(table).values()]
    names = [f"{name}, {who}" for name in short for who in ("paper", "ours")]
    rows = catalogue.setups("table2")
    cells = [[rows[row[0]], *row[1:]] for row in table.to_numpy().tolist()]
    return Grid(["", *names], [("", cells)])


def grid1(table: pd.DataFrame) -> Grid:
    """Return the experiments of Table 1 below each other, without their empty rows."""
    rows, groups = catalogue.setups("table1"), {}
    for experiment, name in _experiments(table).items():
        cells = table[["item", f"{experiment}_published", experiment]].itertuples(index=False)
        groups[name] = [
            {"": rows[item], "Paper": theirs, "Here": ours}
            for item, theirs, ours in cells
            if theirs or ours not in ("", NOT_RUN)
        ]
    return markup.grouped(groups)


def _released(
    config: Settings, about: catalogue.Experiment, facts: Settings, settings: Settings
) -> dict[str, str]:
    """Return what differs between the experiments of the MVG paper."""
    features, records, delta = facts["features"], facts["rows_used"], settings["delta"]
    private = config.get("train", records)
    size = private if about.setup["query"] == "X" else len(features)
    ends = {
        f"[{low:g}, {high:g}]" for low, high in zip(facts["lower"], facts["upper"], strict=True)
    }
    directions = [
        f"({name}) {', '.join(members) or 'none, i.i.d. noise'}"
        for name, members in config["directions"].items()
    ] + ["private SVD"] * ("mvg_maxpnr" in config["mechanisms"])
    return {
        "task": about.setup["task"] + (f", of {config['target']}" if "target" in config else ""),
        "samples": f"{private:,}" + (f", test {records - private}" if private < records else ""),
        "features": f"{len(features)}: {', '.join(features)}",
        "query_size": f"{len(features)} x {size:,}",
        "directions": "; ".join(directions),
        "scaling": facts["scaling"]["description"],
        "bounds": min(ends)
        if len(ends) == 1
        else f"{len(ends)} different intervals, one per feature",
        "adjacency": settings["adjacency"].replace("_", " ") + " one record",
        "delta": f"1/n = 1/{private:,}" if delta == "1/n" else delta,
        "trials": _trials(config, settings["table_epsilon"]),
    }


def _trials(config: Settings, table_epsilon: str) -> str:
    """Return the trials of a row, and those at the tables' epsilon where there are more."""
    usual, more = config["trials"], config.get("trials_at_table_epsilon", 0)
    return f"{usual:,}" + (f"; {more:,} at epsilon {table_epsilon}" if more > usual else "")


def _trained(
    config: Settings, about: catalogue.Experiment, facts: Settings, settings: Settings
) -> dict[str, str]:
    """Return what differs between the experiments of the IMGM paper."""
    of_gradients, batch = about.perturbation == "gradients", config.get("batch")
    extractor = config.get("extractor_epochs")
    epochs = f"{config['epochs']}" + (f", of the extractor {extractor}" if extractor else "")
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


TABLES = {
    "table1": Table(
        title="Table 1",
        caption=(
            "The set-ups of the IMGM paper as it prints them, and as they were run. Type I adds "
            "noise to training gradients, Type II to training features. Where the paper is "
            "silent (clip norm, splits, layers) its cell is empty, and the choice is ours."
        ),
        finding=finding,
        data=partial(data, "table1", "training", _trained),
        grid=grid1,
    ),
    "table2": Table(
        title="Table 2",
        caption=(
            "The set-ups of the MVG paper as it prints them, and as they were run. Where the "
            "paper is silent its cell is empty, and the choice is ours. Scaling constants and "
            "bounds count as public, as in the paper."
        ),
        finding=finding,
        data=partial(data, "table2", "experiments", _released),
        grid=grid2,
    ),
}
