"""The noise that a printed error would need, as a multiple of the textbook noise.

The error of a release is computed again with its noise scaled, by the same draws at all scales. The
smallest scale at which the mean error is the printed one is the multiple. It exists only for noise
that is added to a value, and for errors that scaled noise reaches.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq, root_scalar

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from reproduction.data.prepared import Dataset, load
from reproduction.experiments import grams, readings, study
from reproduction.experiments.tasks.base import Task
from reproduction.job_settings import Settings
from reproduction.trials import Rows

#: The multiple of a row, and those at the ends of the printed interval.
FACTORS = ("noise_factor", "noise_factor_low", "noise_factor_high")
COLUMNS = ("mechanism", "configuration", "direction", *FACTORS)

#: Scales between which the search begins, in powers of two, and how many draws it begins with.
GRID, FIRST = range(-24, 15), 1000

#: Largest number of entries that stay in memory for the search, and of noise drawn at a time.
STACK, BLOCK = 2**24, 2**20

#: Accuracy of a power, which is below the error of the draws, and a step for its slope.
ACCURACY, STEP = 5e-3, 0.05

#: Mean error under scaled noise, by the power of two of the scale.
Error = Callable[[float], float]


def compute_implied_noise(
    job: Mapping[str, Any], folder: str | os.PathLike, chosen: pd.DataFrame, printed: pd.DataFrame
) -> Rows:
    """Return a row for each release whose printed error some noise gives (``COLUMNS``).

    ``noise_factor_low`` and ``noise_factor_high`` are the multiples at the ends of the interval
    that the paper prints: 0 where results without noise err by more than its lower end, and
    infinite where no noise errs by its upper end. Without an interval they are ``noise_factor``.

    Args:
        job: settings of the releases, see :func:`reproduction.experiments.study.prepare_job`;
            ``trials`` is the number of draws, of which memory may hold fewer.
        folder: folder of the prepared data.
        chosen: ``mechanism``, ``configuration`` and ``direction`` of the rows that a table shows.
        printed: ``value`` and ``interval`` in our unit, by mechanism; NaN is no interval.
    """
    scaling = readings.find_reading(job["reading"]).scaling(job["dataset"])
    task, data, settings = study.prepare_job(job, load(folder, scaling))
    posed = study.queries(task, data, settings)
    rows: list[dict[str, Any]] = []
    for row in chosen[chosen["mechanism"].isin(printed.index)].to_dict("records"):
        value, half = printed.loc[row["mechanism"], ["value", "interval"]].fillna(0.0)
        for case in study.calibrate_all(row["mechanism"], posed, settings, data):
            where = case.configuration.name, case.configuration.direction
            if where == (row["configuration"], row["direction"]):
                powers = _powers(task, data, settings, case, [value, value - half, value + half])
                factors = {name: float(2.0**x) for name, x in zip(FACTORS, powers, strict=True)}
                rows.append({name: row[name] for name in COLUMNS[:3]} | factors)
    return [row for row in rows if np.isfinite(row["noise_factor"]) and row["noise_factor"] > 0]


def _powers(
    task: Task, data: Dataset, settings: Settings, case: study.Calibration, levels: list[float]
) -> list[float]:
    """Return the powers of two by which a release's noise is scaled to err by each level.

    Few draws tell roughly where a power lies, and all draws refine it. Without a power at which the
    error rises through a level it is minus infinity above the level, and infinity below.
    """
    if not isinstance(case.release, AdditiveMechanism):
        return [np.nan] * len(levels)
    first = _mean_error(task, data, settings, case, FIRST)
    errors = np.array([first(power) for power in GRID])
    near = [_crossing(first, errors, level) for level in levels]
    if not np.isfinite(near[0]):
        return near
    error = functools.cache(_mean_error(task, data, settings, case, settings.trials))
    return [
        _refined(error, level, power, (first(power + STEP) - first(power)) / STEP)
        if np.isfinite(power)
        else power
        for level, power in zip(levels, near, strict=True)
    ]


def _crossing(error: Error, errors: Array, level: float) -> float:
    """Return the first power at which the error rises through a level, from errors on the grid."""
    for i in np.flatnonzero((errors[:-1] < level) & (errors[1:] >= level)):
        return float(brentq(lambda x: error(x) - level, GRID[i], GRID[i + 1], xtol=ACCURACY))
    return -np.inf if errors[0] >= level else np.inf


def _refined(error: Error, level: float, near: float, slope: float) -> float:
    """Return the power at which the error is a level, by secants that begin near it.

    The second one is where a line of this slope, that of few draws, leads to. An error of all draws
    takes seconds, and two of them are enough.
    """
    step = (level - error(near)) / slope if slope > 0 else STEP
    starts = {"x0": near, "x1": near + float(np.clip(step, -10 * STEP, 10 * STEP))}
    result = root_scalar(lambda x: error(x) - level, method="secant", xtol=ACCURACY, **starts)
    return float(result.root)


def _mean_error(
    task: Task, data: Dataset, settings: Settings, case: study.Calibration, trials: int
) -> Error:
    """Return the error under the same draws at all scales.

    All come from one stream, as no other row needs a trial of them again.
    """
    (stream,) = case.noise(settings, f"implied noise of {trials}", range(1))
    if task.reads_gram and not task.splits and case.query.output_type == "matrix":
        return _error_of_grams(task, data, case, stream, trials)
    release = case.release
    assert isinstance(release, AdditiveMechanism)
    count = min(trials, STACK // int(np.prod(case.query.shape)))
    splits = study.splits(settings.seed, data, "report", range(count if task.splits else 0))
    instance = task.instance(data.matrix, splits)
    value = case.query.value(instance.matrix)
    noise = release.simulate(np.zeros(case.query.shape), stream, count)

    def error(power: float) -> float:
        scale = 2.0**power
        scores = instance.score(
            value + scale * noise,
            output_type=release.output_type,
            noise_std=scale * release.noise_std,
        )
        return float(scores.mean())

    return error


def _error_of_grams(
    task: Task, data: Dataset, case: study.Calibration, stream: np.random.Generator, trials: int
) -> Error:
    """Return the error of records X + s Z by the matrices of a polynomial in the scale s.

    Its Gram matrix is X X^T + s (X Z^T + Z X^T) + s^2 Z Z^T, with far fewer entries than Z.
    """
    release = case.release
    assert isinstance(release, AdditiveMechanism)
    instance = task.instance(data.matrix, ())
    m, n = case.query.shape
    value, zeros = case.query.value(instance.matrix), np.zeros((m, n))
    if reducible := grams.is_reducible(release):
        value, zeros = grams.triangle(case.query, value), np.zeros((m, m))
    count = min(trials, STACK // (2 * m * m))
    linear, square = np.empty((2, count, m, m))
    step = max(1, BLOCK // (m * n))
    for start in range(0, count, step):
        part = range(count)[start : start + step]
        if reducible:
            streams = [stream] * len(part)
            (noise,) = grams.simulate_all(release, [zeros], streams.copy)
        else:
            noise = release.simulate(zeros, stream, len(part))
        cross = value @ np.swapaxes(noise[..., : value.shape[1]], 1, 2)
        linear[start : part.stop] = (cross + np.swapaxes(cross, 1, 2)) / n
        square[start : part.stop] = noise @ np.swapaxes(noise, 1, 2) / n
    constant = value @ value.T / n

    def error(power: float) -> float:
        scale = 2.0**power
        moments = constant + scale * linear + scale**2 * square
        return float(instance.score(moments, output_type="second_moments").mean())

    return error
