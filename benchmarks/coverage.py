"""How often the intervals of a release cover the answer without noise.

``make faults`` runs this file. It writes benchmarks/coverage.csv and the table of docs/coverage.md,
and fails if an interval is refuted.

A cell is a data set, a query, a mechanism and an epsilon. Each of its releases is drawn as a real
one, and counts as covered if all of its intervals hold. The exact answer is that of the records
within their public bounds. A cell is refuted if a binomial test finds a coverage below 95 % at a
level of 1 %, divided by the number of cells (Bonferroni).
"""

from __future__ import annotations

import csv
import math
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from matrixdp.checks import InputError
from matrixdp.release import choices, release
from matrixdp.release.specification import Specification, read
from matrixdp.release.uncertainty import LEVEL

TABLE, PAGE = ROOT / "benchmarks/coverage.csv", ROOT / "docs/coverage.md"
#: Releases of a cell, and the level of the test of all cells together.
RELEASES, TEST_LEVEL = 2000, 0.01
#: Probability with which a shortfall is found.
POWER = 0.99
EPSILONS = (1.0, 3.0)
DELTA = 1e-6
#: Mechanisms by query. Each is a value of the key ``mechanism``.
MOMENTS = ("laplace", "goe", "analyze_gauss", "clipped")
MECHANISMS = {
    "mean": ("laplace", "gaussian"),
    "mean of the values present": ("laplace", "gaussian"),
    "records": ("laplace", "gaussian"),
    "second_moments": MOMENTS,
    "covariance": MOMENTS,
    "components": MOMENTS,
    "first_component": MOMENTS,
    "regression": (*MOMENTS, "adassp"),
}
Bounds = Mapping[str, tuple[float, float]]


def data_sets() -> Iterator[tuple[str, np.ndarray, Bounds]]:
    """Yield names, records (n, m) and public bounds; the last column is a regression's target."""
    from sklearn import datasets

    bodies = {"age": (18.0, 90.0), "bmi": (15.0, 45.0), "bp": (60.0, 140.0)}
    frame = datasets.load_diabetes(as_frame=True, scaled=False).frame
    yield "diabetes", frame[[*bodies]].to_numpy(), bodies
    wines = {"alcohol": (10.0, 16.0), "hue": (0.0, 2.0), "malic_acid": (0.0, 6.0)}
    wines |= {"color_intensity": (0.0, 15.0), "proline": (0.0, 2000.0)}
    yield "wine", datasets.load_wine(as_frame=True).frame[[*wines]].to_numpy(), wines
    cells = {"mean radius": (5.0, 30.0), "mean texture": (5.0, 45.0), "mean area": (0.0, 3000.0)}
    cells |= {"mean smoothness": (0.0, 0.2)}
    frame = datasets.load_breast_cancer(as_frame=True).frame
    yield "breast cancer", frame[[*cells]].to_numpy(), cells
    stream = np.random.default_rng(1)
    # Most values fill a few percent of their bounds, and a few reach beyond them.
    skew = np.exp(stream.standard_normal((5000, 3)) @ [[1.0, 0.5, 0.5], [0, 1, 0.5], [0, 0, 1]])
    yield "skewed", skew, dict.fromkeys("abc", (0.0, 50.0))
    # Means near a corner of the bounds.
    corner = 1 - 0.05 * stream.exponential(size=(1000, 1)) * stream.uniform(0.5, 1.5, (1000, 3))
    yield "corner", corner, dict.fromkeys("abc", (-1.0, 1.0))


def specification(folder: Path, records: np.ndarray, bounds: Bounds, **keys: Any) -> Specification:
    """Return the specification of a release of records in a file of this folder."""
    columns = [str(number) for number in range(len(bounds))]
    np.save(folder / "records.npy", records)
    sides = ", ".join(
        f"{name} = [{low!r}, {high!r}]"
        for name, (low, high) in zip(columns, bounds.values(), strict=True)
    )
    lines = [f"{key} = {value!r}" for key, value in keys.items()]
    target = f'target = "{columns[-1]}"' if keys["query"] == "regression" else ""
    text = ['file = "records.npy"', f"records = {len(records)}", *lines, target]
    (folder / "spec.toml").write_text("\n".join([*text, f"bounds = {{{sides}}}"]).replace("'", '"'))
    return read(folder / "spec.toml")


def exact_answer(spec: Specification, records: np.ndarray) -> dict[str, Any]:
    """Return what the intervals of a release are about, from the records within their bounds.

    The nesting is that of the files of a release.
    """
    names = spec.columns
    rows = np.clip(records, spec.box.lower, spec.box.upper)
    mean, covariance = np.nanmean(rows, axis=0), np.cov(rows.T, bias=True)
    if spec.query_name == "mean":
        return by_name(names, mean)
    if spec.query_name == "second_moments":
        moments = rows.T @ rows / len(rows)
        return {name: by_name(names, row) for name, row in zip(names, moments, strict=True)}
    if spec.query_name == "covariance":
        rows = {name: by_name(names, row) for name, row in zip(names, covariance, strict=True)}
        return {"mean": by_name(names, mean), "covariance": rows}
    if spec.query_name == "components":
        half = spec.box.widths / 2
        return {"eigenvalue": np.linalg.eigvalsh(covariance / np.outer(half, half))[::-1].tolist()}
    design = np.column_stack([rows[:, :-1], np.ones(len(rows))])
    line = np.linalg.lstsq(design, rows[:, -1], rcond=None)[0]
    return by_name([*names[:-1], "intercept"], line)


def by_name(names: Sequence[str], values: np.ndarray) -> dict[str, float]:
    """Return numbers by column."""
    return dict(zip(names, values.tolist(), strict=True))


def covers(interval: Any, exact: Any) -> bool:
    """Return whether all intervals hold; both have the same nesting."""
    if isinstance(interval, Mapping):
        return all(covers(part, exact[name]) for name, part in interval.items())
    if isinstance(exact, list):
        return all(covers(part, one) for part, one in zip(interval, exact, strict=True))
    low, high = interval
    rounding = 1e-9 * (abs(exact) + high - low)
    return bool(low - rounding <= exact <= high + rounding)


def stated(spec: Specification, option: Option, numbers: np.ndarray, details: Any) -> Any:
    """Return the intervals that the files of a release state, or None."""
    if intervals := details.get(INTERVAL):
        return intervals
    widths = receipt.build(spec, option).get(f"{INTERVAL}_plus_or_minus")
    widths = details.get(f"{INTERVAL}_plus_or_minus", widths)
    if widths is None:
        return None
    names = spec.columns
    if spec.query_name == "second_moments":
        rows = zip(names, numbers, strict=True)
        return {name: _about(by_name(names, row), widths[name]) for name, row in rows}
    return _about(by_name(names, numbers[0]), widths)


def _about(numbers: Mapping[str, float], widths: Mapping[str, float]) -> dict[str, Any]:
    return {key: (number - widths[key], number + widths[key]) for key, number in numbers.items()}
