"""Synthetic readings of one experiment."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from matrixdp.experiments import readings


def sweeps(folder: Path, rows: list) -> Path:
    """Write readings in which the zeta of MVG and the kernel of the task are open."""
    names = ["mechanism", "private", "mean", "ci95", "zeta", "kernel"]
    table = pd.DataFrame(rows, columns=names).assign(epsilon="1", direction="", reading="x")
    table = table.reindex(columns=[*table, *(k for k in readings.knobs() if k not in table)])
    (folder / "readings").mkdir(exist_ok=True)
    path = folder / "readings" / "regression.csv"
    table.to_csv(path, index=False)
    return path


CROSS = [
    ("mvg_binary", True, 2.0, 0.1, "sqrt", "linear"),
    ("mvg_binary", True, 2.0, 0.1, "sqrt", "rbf"),
    ("mvg_binary", True, 0.5, 0.1, "literal", "linear"),
    ("mvg_binary", False, 0.1, 0.1, "literal", "rbf"),
    ("laplace", True, 1.0, 0.1, "", "linear"),
    ("laplace", True, 0.9, 0.1, "", "rbf"),
]
