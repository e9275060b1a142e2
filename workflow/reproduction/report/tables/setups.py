"""What the papers' tables of set-ups share: each experiment as printed and as run here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from reproduction import catalogue
from reproduction.data import datasets
from reproduction.report.inputs import Run

NOT_RUN = "not run"

Settings = Mapping[str, Any]
#: Function to our cells from the settings of an experiment, its catalogue entry, the provenance of
#: its data, and the run's settings.
AsRun = Callable[[Settings, catalogue.Experiment, Settings, Settings], dict[str, str]]


def frame(run: Run, name: str, section: str, as_run: AsRun) -> pd.DataFrame:
    """Return ``item`` and, per experiment, ``<experiment>_published`` and ``<experiment>``.

    ``section`` is the key of the settings under which the experiments stand.
    """
    items, settings = catalogue.setups(name), run.settings
    published = run[f"published/{name}"]
    printed = published.pivot(index="item", columns="experiment", values="value")
    columns = {}
    for experiment in published["experiment"].unique():
        # A data set with both kinds of training (gradients, features) is two experiments.
        kinds = {}
        for training, config in settings.get(section, {}).items():
            source = config.get("dataset", experiment)
            original = (datasets.entries().get(source) or {}).get("copy_of")
            if experiment in (training, source, original):
                about, facts = catalogue.experiment(training), run[f"data/{source}"]
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


def experiments(table: pd.DataFrame) -> dict[str, str]:
    """Return the display names of the experiments in a table of set-ups."""
    return {name: catalogue.experiment(name).name for name in table.columns[2::2]}
