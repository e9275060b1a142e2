"""The papers' tables of set-ups as they print them, and as they were run here.

Table 2 is of the MVG paper, Table 1 of the IMGM paper.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.report import markup, published, summary
from matrixdp.report.tables import training

NOT_RUN = "not run"

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Setups:
    """One table of set-ups.

    Attributes:
        rows: row -> its name for a reader: first the paper's rows, then ours.
        columns: experiment -> its name for a reader, in the paper's order.
        section: key of config.yaml that says which of them are run.
        as_run: from experiment, configuration and the data sets' provenance to our rows.
        caption: what a reader must know.
        shape: from this and its table to header, groups and columns for a reader.
        needs: what experiments would need that cannot be run here.
    """

    rows: Mapping[str, str]
    columns: Mapping[str, str]
    section: str
    as_run: Callable[[str, Settings, Mapping[str, Settings]], dict[str, str]]
    caption: str
    shape: Callable[[Setups, pd.DataFrame], dict[str, Any]]
    needs: Mapping[str, str] = field(default_factory=dict)

    def table(
        self, config: Settings, provenance: Mapping[str, Settings], printed: pd.DataFrame
    ) -> pd.DataFrame:
        """Return ``item`` and, per experiment, ``<experiment>_published`` and ``<experiment>``.

        Args:
            config: config.yaml with its defaults filled in.
            provenance: what provenance.json says, by the name of the data set.
            printed: ``published/table<number>.csv``.
        """
        table = pd.DataFrame({"item": [*self.rows]})
        cells = printed.pivot(index="item", columns="experiment", values="value")
        for experiment in self.columns:
            theirs = cells[experiment].to_dict()
            table[f"{experiment}_published"] = [theirs.get(item, "") for item in self.rows]
            if experiment in config.get(self.section, {}):
                ours = self.as_run(experiment, config, provenance)
            else:
                ours = dict.fromkeys(self.rows, NOT_RUN)
                ours["needs"] = self.needs.get(experiment, "")
            table[experiment] = [ours.get(item, "") for item in self.rows]
        return table


def write(
    number: int,
    *,
    config: Settings,
    provenance_files: Iterable[str | os.PathLike],
    out: str | os.PathLike,
    published_folder: str | os.PathLike = published.FOLDER,
) -> None:
    """Write ``<out>/table<number>.csv``, ``.md`` and ``.tex``.

    Args:
        number: 1 (IMGM paper) or 2 (MVG paper).
        config: config.yaml with its defaults filled in.
        provenance_files: the provenance.json of every data set that the experiments use.
        out: folder to write to.
        published_folder: what the paper prints.

    Raises:
        InputError: there is no such table, or a provenance file is missing or damaged.
    """
    setups = TABLES[int(checks.choice(map(str, TABLES), table=str(number)))]
    provenance = {facts["name"]: facts for facts in map(_provenance, provenance_files)}
    table = setups.table(config, provenance, published.read(f"table{number}", published_folder))
    simulated = any(facts["status"] == summary.SIMULATED for facts in provenance.values())
    grid = markup.Grid(
        name=f"Table {number}",
        caption=setups.caption,
        warning=markup.SIMULATED if simulated else "",
        **setups.shape(setups, table),
    )
    markup.write(Path(out) / f"table{number}", table, grid)


def _side_by_side(setups: Setups, table: pd.DataFrame) -> dict[str, Any]:
    """Return the experiments beside each other."""
    names = [f"{name}, {who}" for name in setups.columns.values() for who in ("paper", "ours")]
    return {
        "header": ["", *names],
        "groups": [("", [[setups.rows[row[0]], *row[1:]] for row in table.to_numpy().tolist()])],
        "columns": r"p{0.1\linewidth}" + r"p{0.13\linewidth}" * len(names),
    }


def _one_by_one(setups: Setups, table: pd.DataFrame) -> dict[str, Any]:
    """Return the experiments below each other, without the rows that say nothing of one."""
    groups = []
    for experiment, name in setups.columns.items():
        cells = table[["item", f"{experiment}_published", experiment]].to_numpy().tolist()
        groups.append(
            (
                name,
                [
                    [setups.rows[item], theirs, ours]
                    for item, theirs, ours in cells
                    if theirs or ours not in ("", NOT_RUN)
                ],
            )
        )
    return {
        "header": ["", "Paper", "Here"],
        "groups": groups,
        "columns": r"p{0.2\linewidth}p{0.2\linewidth}p{0.5\linewidth}",
    }


def _find(name: str, provenance: Mapping[str, Settings], needed: Iterable[str]) -> Settings:
    if name not in provenance:
        raise InputError(f"there is no provenance of the data set {name}; run `snakemake data`")
    for key in needed:
        if key not in provenance[name]:
            raise InputError(
                f"the provenance of {name} lacks {key!r}; delete it and run `snakemake data`"
            )
    return provenance[name]


def _provenance(path: str | os.PathLike) -> dict[str, Any]:
    try:
        facts = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error}); run `snakemake data`") from error
    for key in ("name", "status"):
        if key not in facts:
            raise InputError(f"{path} lacks {key!r}; delete it and run `snakemake data`")
    return facts


# --- Table 2: the MVG paper --------------------------------------------------------------------

#: What each experiment does here, whatever its settings.
TASKS = {
    "regression": {
        "task": "linear kernel ridge regression, ridge 1",
        "query": "X",
        "metric": "RMSE on clean test records",
        "algorithm": "1",
    },
    "first_pc": {
        "task": "top eigenvector of the symmetrised release",
        "query": "X X^T / n",
        "metric": "Delta rho (Eq. 28)",
        "algorithm": "2, with Theorem 2 and with Theorem 3",
    },
    "covariance": {
        "task": "eigenvectors of the covariance of the released data",
        "query": "X",
        "metric": "RSS (Eq. 29), all components",
        "algorithm": "1",
    },
}


def _releases(
    experiment: str, config: Settings, provenance: Mapping[str, Settings]
) -> dict[str, str]:
    """Return how an experiment of the MVG paper was run."""
    settings = config["experiments"][experiment]
    needed = ("title", "features", "rows_used", "scaling", "lower", "upper", "licence")
    facts = _find(settings["dataset"], provenance, needed)
    features, records = facts["features"], facts["rows_used"]
    private = settings.get("train", records)
    size = len(features) if TASKS[experiment]["query"] != "X" else private
    delta = config["delta"]
    target = f", of {settings['target']}" if "target" in settings else ""
    return {
        **TASKS[experiment],
        "task": TASKS[experiment]["task"] + target,
        "dataset": facts["title"],
        "samples": f"{private}" + (f", test {records - private}" if private < records else ""),
        "features": f"{len(features)}: {', '.join(features)}",
        "query_size": f"{len(features)} x {size}",
        "directions": _directions(settings),
        "status": facts["status"],
        "scaling": facts["scaling"]["description"],
        "bounds": _bounds(facts["lower"], facts["upper"]),
        "adjacency": config["adjacency"].replace("_", " or ") + " one record",
        "epsilon": ", ".join(config["epsilons"]),
        "delta": f"1/n = 1/{private}" if delta == "1/n" else delta,
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

#: What each experiment does here, whatever its settings.
TRAININGS = {
    "adult": {
        "model": "105 inputs, 12 sigmoid units, 2 outputs",
        "gradient_shape": "105 x 12 and the other parameters, clipped jointly",
        "optimiser": "SGD, learning rate 0.1, times 0.99 every 215 steps, Nesterov momentum 0.9; "
        "Poisson lots; noise on the sum of clipped gradients",
    },
    "cora": {
        "model": "two graph convolutions (Kipf and Welling), 1,433 - 16 - 7",
        "gradient_shape": "1,433 x 16 and the other parameters, clipped jointly",
        "optimiser": "as on Adult; training nodes are Planetoid's 140, the 500 for validation and "
        "the next 500",
    },
    "imdb": {
        "model": "embedding of 100, BiLSTM of 2 x 75 units, mean over the words, 150 tanh "
        "features; linear classifier without bias",
        "feature_shape": "150 of every record, once, in blocks of a batch",
        "optimiser": "extractor: Adam, learning rate 0.001, batches of 128, once and without "
        "privacy; classifier: SGD, learning rate 0.1, on noisy features over sqrt(1 + noise "
        "variance)",
    },
}


def _trained(
    experiment: str, config: Settings, provenance: Mapping[str, Settings]
) -> dict[str, str]:
    """Return how an experiment of the IMGM paper was run."""
    settings = config["training"][experiment]
    facts = _find(experiment, provenance, ("title", "arrays", "licence"))
    about = training.EXPERIMENTS[experiment]
    private_gradients = about.kind == "gradients"
    # Of reviews, which are slow to go through, test records are limited too.
    limits = {"train": settings["records"], "test": None}
    if not private_gradients:
        limits["test"] = limits["train"]
    epochs = str(settings["epochs"])
    if "extractor_epochs" in settings:
        epochs += f", of the extractor {settings['extractor_epochs']}"
    shown = ("type1_epochs", "type2_epochs", "gradient_shape", "feature_shape")
    return {
        **dict.fromkeys(shown, "-"),
        **TRAININGS[experiment],
        "protected": about.protected,
        "type1_epochs" if private_gradients else "type2_epochs": epochs,
        "training": _records(facts, "train", limits["train"]),
        "testing": _records(facts, "test", limits["test"]),
        "clip": f"{settings['clip']:g}" if private_gradients else "",
        "lot": str(settings["lot"]),
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
    1: Setups(
        rows={
            "model": "Model",
            "training": "Training records",
            "testing": "Test records",
            "lot": "Lot size",
            "type1_epochs": "Epochs on private gradients (Type I)",
            "type2_epochs": "Epochs on private features (Type II)",
            "gradient_shape": "Largest gradient",
            "feature_shape": "Features",
            "dataset": "Dataset",
            "status": "Data status",
            "protected": "What is protected",
            "optimiser": "Training",
            "clip": "Clip norm",
            "metric": "Metric",
            "epsilon": "epsilon",
            "delta": "delta",
            "trials": "Trials",
            "licence": "Licence",
            "needs": "What it would need",
        },
        columns={
            "mnist": "MNIST",
            "cifar10": "CIFAR-10",
            "cora": "Cora",
            "adult": "Adult",
            "svhn": "SVHN",
            "imdb": "IMDB",
        },
        section="training",
        as_run=_trained,
        caption=(
            "The six set-ups of the IMGM paper as it prints them, and as they were run here. Its "
            "Type I adds noise to training gradients, its Type II to training features. Where the "
            "paper is silent (optimiser, clip norm, splits, the layers of the networks) the choice "
            "is ours; delta = 0.00001 is the paper's."
        ),
        shape=_one_by_one,
        needs={
            "mnist": "the 60,000 images, of which the paper does not say how it makes "
            "55,000 and 5,000; LeNet, with per-example gradients of its convolutions; hours on a "
            "graphics processor",
            "cifar10": "the 60,000 images; VGG-16 with weights that were trained on other "
            "images; hours on a graphics processor",
            "svhn": "the 99,289 images; AlexNet; noise on features of 1024 x 1024; hours "
            "on a graphics processor",
        },
    ),
    2: Setups(
        rows={
            "task": "Task",
            "dataset": "Dataset",
            "samples": "Private samples",
            "features": "Features",
            "query": "Query f(X)",
            "query_size": "Query size",
            "metric": "Evaluation metric",
            "algorithm": "MVG algorithm",
            "directions": "Directions",
            "status": "Data status",
            "scaling": "Scaling",
            "bounds": "Public bounds",
            "adjacency": "Neighbours",
            "epsilon": "epsilon",
            "delta": "delta",
            "trials": "Trials",
            "licence": "Licence",
        },
        columns={"regression": "Exp. I", "first_pc": "Exp. II", "covariance": "Exp. III"},
        section="experiments",
        as_run=_releases,
        caption=(
            "The three set-ups: as the paper prints them, and as they were run. Where the paper is "
            "silent the choice is ours. Scaling constants and bounds are treated as public, as in "
            "the paper."
        ),
        shape=_side_by_side,
    ),
}
