"""What each table and figure of a run is made from, as workflow/rules/report.smk lists it.

A test beside this module holds the lists to those of a dry run.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

from reproduction import catalogue
from reproduction.report import figures, inputs, rows, tables
from reproduction.report.figures.base import Figure
from reproduction.report.tables.base import Table

RELEASES = ("regression", "first_pc", "covariance", "section10_2")
TRAININGS = ("adult", "cora", "imdb", "mnist_features", "mnist")
IN_PRINT = {"table3": "regression", "table4": "first_pc", "table5": "covariance"}
DIRECTIONS = {"figure4_left": "regression"} | {
    "figure4_middle": "first_pc",
    "figure4_right": "covariance",
}


def _every(kinds: Iterable[str], runs: Iterable[str]) -> list[str]:
    runs = [*runs]
    return [f"{kind}/{run}" for kind in kinds for run in runs]


_AUDITS = _every(["audit"], RELEASES)
_RUNS = (*RELEASES, *TRAININGS)
_SECTION10_2 = [
    *_every(["rows"], ["section10_2", "regression"]),
    *_every(["published"], ["section10_2", "table3"]),
]
#: Tables and figures that are not of one experiment, by name.
_NEEDED = {
    "tables/advice": [*_every(["rows", "comparisons"], _RUNS), *_AUDITS, "held_out"],
    "tables/audit": [
        *_AUDITS,
        *(f"{name}_sensitivities" for name in _AUDITS),
        "audit/negative_control",
    ],
    "tables/claims": ["claims"],
    "tables/effective_noise": [
        *_AUDITS,
        *_every(["rows"], RELEASES),
        *_every(["data"], ["liver", "movement", "ctg"]),
    ],
    "tables/errata": ["errata", "theory/exact"],
    "tables/imgm_settings": ["theory/settings"],
    "tables/price": _every(["rows", "comparisons"], _RUNS),
    "tables/second_seed": ["claims", "second_seed/claims", "second_seed/settings"],
    "tables/section10_2": _SECTION10_2,
    "tables/table1": ["published/table1", *_every(["data"], ["adult", "cora", "imdb", "mnist"])],
    "tables/table2": ["published/table2", *_every(["data"], ["liver", "movement", "ctg"])],
    "figures/explainer": ["tables/effective_noise"],
    "figures/figure1": [
        *_every(["rows"], ["imdb", "mnist_features"]),
        "images/rows/cifar10_features",
    ],
    "figures/figure3": ["theory/ellipses"],
    "figures/imgm_gradients": _every(["rows"], ["adult", "cora"]),
    "figures/noise_levels": ["tables/effective_noise"],
    "figures/nominal": [*_every(["rows"], _RUNS), "theory/settings"],
    "figures/readings": [
        name
        for table, run in IN_PRINT.items()
        for name in (f"readings/{run}", f"audit/{run}", f"published/{table}")
    ],
}
#: All tables and figures of a run of config.yaml.
TABLES = [
    *(name.removeprefix("tables/") for name in _NEEDED if name.startswith("tables/")),
    *IN_PRINT,
    *(f"imgm_{name}" for name in TRAININGS),
]
FIGURES = [
    *(name.removeprefix("figures/") for name in _NEEDED if name.startswith("figures/")),
    *(f"curves_{name}" for name in IN_PRINT.values()),
    *DIRECTIONS,
]


def _against(name: str) -> str:
    runs = (run for run in (*RELEASES, *TRAININGS) if name.startswith(f"tables/against_{run}_"))
    return max(runs, key=len, default="")


def recipe(name: str) -> tuple[str, dict[str, str]]:
    """Return the recipe of a table or figure, such as ``tables/table3``, and what it is of."""
    kind, _, stem = name.partition("/")
    if run := _against(name):
        mechanism = stem.removeprefix(f"against_{run}_")
        return "against_each", {"experiment": run, "mechanism": mechanism}
    if name in _NEEDED:
        return stem, {}
    if kind == "figures":
        run = stem.removeprefix("curves_")
        if run == stem:
            return "directions", {"experiment": DIRECTIONS[stem]}
        return "curves", {"experiment": run}
    if stem.startswith("imgm_"):
        return "training", {"experiment": stem.removeprefix("imgm_")}
    return "paper_table", {"experiment": IN_PRINT.get(stem, stem)}


def needed(name: str) -> list[str]:
    """Return the names of what a table or figure is made from."""
    kind, words = recipe(name)
    if not (run := words.get("experiment")):
        return [*_NEEDED[name], "settings"]
    kinds = ["rows", *["comparisons"] * (kind in ("against_each", "directions"))]
    if kind == "against_each" and run in RELEASES:
        kinds.append("audit")
    printed = [f"published/{catalogue.experiment(run).results}"]
    printed *= run in RELEASES and kind != "against_each"
    return [*_every(kinds, [run]), *printed, "settings"]


def files(root: Path, name: str) -> dict[str, Path]:
    """Return what a table or figure is made from, as far as it lies in a results' folder."""
    every = inputs.files_of_folder(root)
    return {one: every[one] for one in needed(name) if one in every}


def figure(root: Path, name: str) -> Figure:
    """Return a figure of a run."""
    kind, words = recipe(f"figures/{name}")
    return figures.build(kind, files(root, f"figures/{name}"), **words)


@functools.cache
def table(root: Path, name: str) -> Table:
    """Return a table of a run that nobody changes, made once."""
    return build(root, name)


def build(root: Path, name: str) -> Table:
    """Return a table of a run."""
    kind, words = recipe(name)
    return tables.build(kind, files(root, name), **words)


def write_rows(root: Path) -> None:
    """Write the rows of each experiment of a run that has a summary."""
    run = inputs.Run(inputs.files_of_folder(root))
    for name in run.experiments:
        if f"summary/{name}" in run:
            path = root / f"rows/{name}.csv"
            path.parent.mkdir(exist_ok=True)
            rows.write_rows(name, run, path, epsilon=run.table_epsilon)


def write_known(root: Path, *names: str) -> None:
    """Write tables of a run that nobody changes, as the package does."""
    for name in names:
        tables.save_table(table(root, name), root / f"{name}.csv")


def write(root: Path, *names: str, out: Path | None = None) -> None:
    """Write tables and figures of a run, by default where the run has them."""
    for name in names:
        (kind, words), path = recipe(name), Path(out or root, name)
        if name.startswith("tables/"):
            tables.write_table(kind, files(root, name), path.with_suffix(".csv"), **words)
        else:
            figures.write_figure(kind, files(root, name), path.with_suffix(".svg"), **words)
