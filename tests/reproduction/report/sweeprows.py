"""Synthetic readings of one experiment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from trialrows import around, trials

from reproduction.experiments import readings
from reproduction.experiments.readings import Reading
from reproduction.report import inputs
from reproduction.report import readings as table_of_readings

#: What every row's trials have in common, far more than their own noise.
SPLIT = 5 * np.random.default_rng(1).standard_normal(100)


def sweeps(folder: Path, rows: list) -> dict[str, Path]:
    """Write readings with open zeta and gamma of MVG and kernel of the task; return the files.

    Args:
        rows: of mechanism, private, mean, half-width beside what all trials share, zeta, kernel,
            gamma.
    """
    names = ["mechanism", "private", "mean", "ci95", "zeta", "kernel", "gamma"]
    table = pd.DataFrame(rows, columns=names)
    choices = table[["zeta", "kernel", "gamma"]].to_dict("records")
    found = [Reading({k: v for k, v in one.items() if v}).name for one in choices]
    table = table.assign(epsilon="1", direction="", configuration="", reading=found)
    table["ran"] = table["mechanism"]
    table = table.reindex(columns=[*table, *(k for k in readings.questions() if k not in table)])
    path = folder / "readings" / "regression.csv"
    path.parent.mkdir(exist_ok=True)
    table.to_csv(path, index=False)
    signs = np.random.default_rng(2)
    parts = [
        trials(name, SPLIT + signs.permutation(around(mean, ci95)), reading=reading)
        for name, mean, ci95, reading in table[["mechanism", "mean", "ci95", "reading"]].to_numpy()
    ]
    pd.concat(parts).to_csv(table_of_readings.trial_file(path), index=False)
    return inputs.files_of_folder(folder)


CROSS = [
    ("mvg_binary", True, 2.0, 0.1, "sqrt", "linear", "public"),
    ("mvg_binary", True, 2.0, 0.1, "sqrt", "rbf", "public"),
    ("mvg_binary", True, 0.5, 0.1, "literal", "linear", "public"),
    ("mvg_binary", False, 0.1, 0.1, "sqrt", "linear", "data"),
    ("laplace", True, 1.0, 0.1, "", "linear", ""),
    ("laplace", True, 0.9, 0.1, "", "rbf", ""),
]
