"""Synthetic trial files with known means."""

from __future__ import annotations

import numpy as np
import pandas as pd

TRIAL_COLUMNS = [
    *("experiment", "dataset", "data_status", "mechanism", "configuration", "direction", "reading"),
    *("epsilon", "delta", "epsilon_delivered", "mu", "epsilon_exact", "noise_std"),
    *("phase", "trial", "metric", "value", "outcome", "note"),
]
#: What one split of the records adds to the results of all mechanisms, by trial.
SPLIT = np.random.default_rng(0).standard_normal(20)


def trials(mechanism: str, values: np.ndarray | list, **fields: object) -> pd.DataFrame:
    """Return one row per value, of the report phase at epsilon 1 unless told otherwise."""
    defaults = {
        "experiment": "regression",
        "dataset": "liver",
        "data_status": "original",
        "mechanism": mechanism,
        "reading": "default",
        "epsilon": "1",
        "delta": 1 / 248,
        "phase": "report",
        "metric": "rmse",
        "trial": np.arange(len(values)),
    }
    columns = {"value": np.asarray(values, dtype=float), **defaults, **fields}
    # Made at once: a frame that grows column by column takes several times as long.
    return pd.DataFrame({name: columns.get(name, np.nan) for name in TRIAL_COLUMNS})


def absence(mechanism: str, outcome: str, note: str, **fields: object) -> pd.DataFrame:
    """Return the one row of a mechanism that was not run."""
    words = {"outcome": outcome, "note": note}
    return trials(mechanism, [np.nan], **words, **{"trial": np.nan, **fields})


def around(mean: float, half_width: float, n: int = 100) -> np.ndarray:
    """Return n >= 30 (even) values with this mean and this 95 % half-width."""
    sd = half_width * np.sqrt(n) / 1.96
    return mean + sd * np.sqrt((n - 1) / n) * np.tile([-1.0, 1.0], n // 2)
