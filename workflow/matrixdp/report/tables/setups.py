"""The papers' tables of set-ups as they print them, and as they were run here.

Table 2 of the MVG paper, Table 1 of the IMGM paper.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.checks import InputError
from matrixdp.report import markup
from matrixdp.report.entries import Tables
from matrixdp.report.inputs import DATA_AGAIN
from matrixdp.report.markup import Grid
from matrixdp.report.tables.base import Table

NOT_RUN = "not run"

Settings = Mapping[str, Any]


def side_by_side(
    name: str,
    as_run: Callable[[str, Settings, Tables], Mapping[str, str]],
    tables: Tables,
) -> pd.DataFrame:
    """Return ``item`` and, per experiment, ``<experiment>_published`` and ``<experiment>``.

    Args:
        name: of the table.
        as_run: from experiment, settings and inputs to our rows; to none if it is not run.
        tables: its inputs.
    """
    items = [*catalogue.setups(name)]
    settings = tables["settings"]
    printed = tables[f"published/{name}"]
    cells = printed.pivot(index="item", columns="experiment", values="value")
    table = pd.DataFrame({"item": items})
    for experiment in printed["experiment"].unique():
        ours = as_run(experiment, settings, tables) or dict.fromkeys(items, NOT_RUN) | {
            "needs": catalogue.experiment(experiment).needs
        }
        table[f"{experiment}_published"] = [cells[experiment].get(item, "") for item in items]
        table[experiment] = [ours.get(item, "") for item in items]
    return table


def finding(table: pd.DataFrame) -> str:
    """Say how many of the paper's set-ups are run."""
    names = _experiments(table)
    ran = sum(not table[name].isin([NOT_RUN]).any() for name in names)
    return catalogue.finding("setups", ran=ran, of=len(names))


def _experiments(table: pd.DataFrame) -> dict[str, str]:
    """Return the experiments of a table of set-ups, with their names for a reader."""
    return {name: catalogue.experiment(name).name for name in table.columns[2::2]}


def _facts(name: str, tables: Tables, needed: Iterable[str]) -> Settings:
    """Return the provenance of a data set, which has all that is needed."""
    facts = tables.get(f"data/{name}")
    if facts is None:
        raise InputError(f"there is no provenance of the data set {name}; run `snakemake data`")
    for key in needed:
        if key not in facts:
            raise InputError(f"the provenance of {name} lacks {key!r}; {DATA_AGAIN}")
    return facts


# --- Table 2: the MVG paper --------------------------------------------------------------------


def grid2(table: pd.DataFrame) -> Grid:
    """Return the experiments beside each other."""
    short = [name.replace("Experiment", "Exp.") for name in _experiments(table).values()]
    names = [f"{name}, {who}" for name in short for who in ("paper", "ours")]
    rows = catalogue.setups("table2")
    return Grid(
        header=["", *names],
        groups=[("", [[rows[row[0]], *row[1:]] for row in table.to_numpy().tolist()])],
        columns=r"p{0.1\linewidth}" + r"p{0.13\linewidth}" * len(names),
    )


def _releases(experiment: str, config: Settings, tables: Tables) -> dict[str, str]:
    """Return how an experiment of the MVG paper was run, if it was."""
    settings = config.get("experiments", {}).get(experiment)
    if settings is None:
        return {}
    setup = catalogue.experiment(experiment).setup
    needed = ("title", "status", "features", "rows_used", "scaling", "lower", "upper", "licence")
    facts = _facts(settings["dataset"], tables, needed)
    features, records = facts["features"], facts["rows_used"]
    private = settings.get("train", records)
    size = len(features) if setup["query"] != "X" else private
    delta = config["delta"]
    target = f", of {settings['target']}" if "target" in settings else ""
    return {
        **setup,
        "task": setup["task"] + target,
        "dataset": facts["title"],
        "samples": f"{private:,}" + (f", test {records - private}" if private < records else ""),
        "features": f"{len(features)}: {', '.join(features)}",
        "query_size": f"{len(features)} x {size:,}",
        "directions": _directions(settings),
        "status": facts["status"],
        "scaling": facts["scaling"]["description"],
        "bounds": _bounds(facts["lower"], facts["upper"]),
        "adjacency": config["adjacency"].replace("_", " or ") + " one record",
        "epsilon": ", ".join(config["epsilons"]),
        "delta": f"1/n = 1/{private:,}" if delta == "1/n" else delta,
        "trials": str(config["trials"]),
        "licence": facts["licence"],
    }


def _directions(settings: Settings) -> str:
    named = [
        f"({name}) {', '.join(features) or 'none, i.i.d. noise'}"
        for name, features in settings["directions"].items()
    ]
    private = ["private SVD"] if "mvg_maxpnr" in settings["mechanisms"] else []
    return "; ".join([*named, *private])


def _bounds(lower: Iterable[float], upper: Iterable[float]) -> str:
    ends = {f"[{low:g}, {high:g}]" for low, high in zip(lower, upper, strict=True)}
    return ends.pop() if len(ends) == 1 else f"{len(ends)} different intervals, one per feature"


# --- Table 1: the IMGM paper -------------------------------------------------------------------


def grid1(table: pd.DataFrame) -> Grid:
    """Return the experiments below each other, without the rows that say nothing of one."""
    rows = catalogue.setups("table1")
    groups = {}
    for experiment, name in _experiments(table).items():
        cells = table[["item", f"{experiment}_published", experiment]].itertuples(index=False)
        groups[name] = [
            {"": rows[item], "Paper": theirs, "Here": ours}
            for item, theirs, ours in cells
            if theirs or ours not in ("", NOT_RUN)
        ]
    return markup.grouped(groups, columns=r"p{0.2\linewidth}p{0.2\linewidth}p{0.5\linewidth}")


def _learnt(dataset: str, config: Settings, tables: Tables) -> dict[str, str]:
    """Return how networks were trained on a data set of the IMGM paper, in every way that was."""
    parts = {
        catalogue.experiment(name).kind: _trained(name, dataset, config, tables)
        for name, own in config.get("training", {}).items()
        if own.get("dataset", name) == dataset
    }
    found = {}
    for item in dict.fromkeys(item for part in parts.values() for item in part):
        told = {kind: part[item] for kind, part in parts.items() if part[item] not in ("", "-")}
        if len({*told.values()}) > 1:
            found[item] = "; ".join(f"{kind}: {text}" for kind, text in told.items())
        else:
            found[item] = next(iter([*told.values(), *(part[item] for part in parts.values())]))
    return found


def _trained(experiment: str, dataset: str, config: Settings, tables: Tables) -> dict[str, str]:
    """Return how an experiment of the IMGM paper was run."""
    settings = config["training"][experiment]
    facts = _facts(dataset, tables, ("title", "status", "arrays", "licence"))
    about = catalogue.experiment(experiment)
    private_gradients = about.kind == "gradients"
    epochs = str(settings["epochs"])
    if "extractor_epochs" in settings:
        epochs += f", of the extractor {settings['extractor_epochs']}"
    shown = ("type1_epochs", "type2_epochs", "gradient_shape", "feature_shape")
    return {
        **dict.fromkeys(shown, "-"),
        **about.setup,
        "protected": about.protected,
        "type1_epochs" if private_gradients else "type2_epochs": epochs,
        "training": _records(facts, "train", settings["records"]),
        # Of reviews, which are slow to go through, test records are limited too.
        "testing": _records(facts, "test", None if private_gradients else settings["records"]),
        "clip": f"{settings['clip']:g}" if private_gradients else "",
        "lot": str(settings["lot"])
        + (
            f", for the authors' code in batches of {batch}"
            if (batch := settings.get("batch"))
            else ""
        ),
        "dataset": facts["title"],
        "status": facts["status"],
        "metric": "test accuracy",
        "epsilon": ", ".join(settings["epsilons"]),
        "delta": settings["delta"],
        "trials": f"{settings['trials']}, from seed {config['seed']}",
        "licence": facts["licence"],
    }


def _records(facts: Settings, part: str, most: int | None) -> str:
    """Return how many training or test records were used, and of how many."""
    arrays = facts["arrays"].items()
    (there, *_), *_ = (about["shape"] for name, about in arrays if name.startswith(part))
    return f"{there:,}" if most is None or most >= there else f"{most:,} of {there:,}"


TABLES = {
    "table1": Table(
        title="Table 1",
        finding=finding,
        caption=catalogue.caption("table1"),
        inputs=("published/table1", "settings"),
        optional=("data/adult", "data/cora", "data/imdb", "data/mnist"),
        data=functools.partial(side_by_side, "table1", _learnt),
        grid=grid1,
    ),
    "table2": Table(
        title="Table 2",
        finding=finding,
        caption=catalogue.caption("table2"),
        inputs=("published/table2", "settings"),
        optional=("data/liver", "data/movement", "data/ctg"),
        data=functools.partial(side_by_side, "table2", _releases),
        grid=grid2,
    ),
}
