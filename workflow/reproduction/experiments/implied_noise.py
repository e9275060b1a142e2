"""The noise that a printed error would need, as a multiple of the textbook noise.

The error of a release is computed again with its noise scaled, by the same draws at all scales. The
smallest scale at which the mean error is the printed one is the multiple. It exists only for noise
that is added to a value, and for errors that scaled noise reaches.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from matrixdp.mechanisms.additive import AdditiveMechanism
from reproduction.data.prepared import Dataset, load
from reproduction.experiments import draws, readings, study
from reproduction.experiments.tasks.base import Task
from reproduction.job_settings import Settings
from reproduction.trials import Rows

COLUMNS = ("mechanism", "configuration", "direction", "noise_factor")

#: Scales between which the search begins, in powers of two.
GRID = range(-24, 15)

#: Largest number of released entries, which all stay in memory for the search.
STACK = 2**24

#: Relative accuracy of a multiple, which is far below the error of the trials.
ACCURACY = 1e-3


def table(
    job: Mapping[str, Any], folder: str | os.PathLike, chosen: pd.DataFrame, printed: pd.Series
) -> Rows:
    """Return a row for each release whose printed error some noise gives (``COLUMNS``).

    Args:
        job: settings of the releases, see :func:`reproduction.experiments.study.prepared`.
        folder: folder of the prepared data.
        chosen: ``mechanism``, ``configuration`` and ``direction`` of the rows that a table shows.
        printed: printed errors in our unit, by mechanism.
    """
    scaling = readings.find(job["reading"]).scaling(job["dataset"])
    task, data, settings = study.prepared(job, load(folder, scaling))
    posed = study.queries(task, data, settings)
    rows = []
    for row in chosen[chosen["mechanism"].isin(printed.index)].to_dict("records"):
        for case in study.calibrated(row["mechanism"], posed, settings, data):
            where = case.configuration.name, case.configuration.direction
            if where == (row["configuration"], row["direction"]):
                factor = _factor(task, data, settings, case, float(printed[row["mechanism"]]))
                rows.append({name: row[name] for name in COLUMNS[:-1]} | {"noise_factor": factor})
    return [row for row in rows if row["noise_factor"] is not None]


def _factor(
    task: Task, data: Dataset, settings: Settings, case: study.Case, printed: float
) -> float | None:
    """Return the multiple of a release's noise that gives a printed error; None without one."""
    release = case.release
    if not isinstance(release, AdditiveMechanism):
        return None
    trials = range(min(settings.trials, STACK // int(np.prod(case.query.shape))))
    instance = task.instance(data.matrix, study.splits(settings.seed, data, "report", trials))
    value = case.query.value(instance.matrix)
    noise = draws.noise_of(release, case.noise(settings, "report", trials))

    def excess(power: float) -> float:
        scale = 2.0**power
        scores = instance.score(
            value + scale * noise,
            output_type=release.output_type,
            noise_std=scale * release.noise_std,
        )
        return float(scores.mean()) - printed

    errors = [excess(power) for power in GRID]
    for i in np.flatnonzero((np.array(errors[:-1]) < 0) & (np.array(errors[1:]) >= 0)):
        return float(2.0 ** brentq(excess, GRID[i], GRID[i + 1], xtol=ACCURACY))
    return None
