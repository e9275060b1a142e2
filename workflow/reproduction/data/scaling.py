"""Scalings, from records in original units to a matrix in a public box.

Each method takes records (n x m) and returns a :class:`Scaled` whose matrix (m x n) lies in the
box exactly. The box, and constants that come from the records, are treated as public. So are they
in the experiments of the MVG paper (Chanyaswad et al., CCS 2018, section 8).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError

Constants = dict[str, list[float]]


@dataclass(frozen=True)
class Scaled:
    """A matrix with a description of its scaling.

    Attributes:
        matrix: m features x n records, float64.
        lower, upper: the public bounds of each feature, shape (m,).
        description: the scaling, in words.
        constants: offset and divisor of each feature, in original units.
        facts: remarks on the result for readers.
    """

    matrix: Array
    lower: Array
    upper: Array
    description: str
    constants: Constants
    facts: dict[str, Any] = field(default_factory=dict)


def centre_max_abs(records: Array) -> Scaled:
    """Subtract each feature's mean and divide by its largest absolute value: [-1, 1]."""
    mean = _mean(records)
    centred = records - mean
    largest = np.abs(centred).max(axis=0)
    # |x| / max|x| is at most 1 also in floating point.
    return _boxed(
        centred / largest,
        (-1, 1),
        "each feature centred by its mean, then divided by its largest absolute value",
        constants={"mean": mean.tolist(), "max_abs": largest.tolist()},
    )


def centre_clip(records: Array) -> Scaled:
    """Subtract each feature's mean, then clip every entry to [-1, 1]."""
    mean = _mean(records)
    return _clipped(
        records - mean,
        "each feature centred by its mean, then each entry clipped to [-1, 1]",
        constants={"mean": mean.tolist()},
    )


def clip(records: Array) -> Scaled:
    """Clip every entry to [-1, 1]."""
    return _clipped(records, "as stored, each entry clipped to [-1, 1]", constants={})


def min_max(records: Array) -> Scaled:
    """Map each feature's range to [0, 1]."""
    smallest, largest = records.min(axis=0), records.max(axis=0)
    return _boxed(
        (records - smallest) / (largest - smallest),
        (0, 1),
        "each feature's range mapped to [0, 1], not centred",
        constants={"min": smallest.tolist(), "max": largest.tolist()},
    )


def min_max_centre(records: Array) -> Scaled:
    """Map each feature's range to [0, 1], then subtract its mean; the box moves along."""
    scaled = min_max(records)
    mean = _mean(scaled.matrix.T)
    return Scaled(
        scaled.matrix - mean[:, None],
        scaled.lower - mean,
        scaled.upper - mean,
        "each feature's range mapped to [0, 1], then centred by its mean",
        constants={**scaled.constants, "mean": mean.tolist()},
    )


def bounds(
    records: Array, *, lower: Sequence[float], upper: Sequence[float], middle: Sequence[float]
) -> Scaled:
    """Clip to public bounds, subtract ``middle``, and divide by the largest possible value.

    The box contains zero, because the audit also zeroes out records.
    """
    sides = np.array([lower, upper]) - middle
    half = np.abs(sides).max(axis=0)
    low, high = sides / half
    scaled = _clipped(
        (records - middle) / half,
        "each feature clipped to its public bounds and divided by its largest possible value",
        {"middle": [*middle], "largest": half.tolist()},
        (low, high),
    )
    return replace(scaled, lower=np.minimum(low, 0), upper=np.maximum(high, 0))


METHODS: dict[str, Callable[..., Scaled]] = {
    method.__name__: method
    for method in (centre_max_abs, centre_clip, clip, min_max, min_max_centre, bounds)
}


def scale(
    records: Array, columns: Sequence[str], *, method: str, rows: int | None = None, **options: Any
) -> Scaled:
    """Return the matrix of the first ``rows`` records (None for all) by one of ``METHODS``.

    ``options`` go to the method.

    Raises:
        InputError: the method is unknown, there are fewer records, or a feature is constant.
    """
    checks.choice(METHODS, method=method)
    if rows is not None and checks.count(rows=rows) > len(records):
        raise InputError(f"rows is {rows}; there are only {len(records)} records")
    used = checks.array(records=records[:rows], shape=(None, len(columns)))
    for i in np.flatnonzero(used.min(axis=0) == used.max(axis=0)):
        raise InputError(
            f"feature {columns[int(i)]} is {used[0, i]} in every record; leave it out of the data"
        )
    return METHODS[method](used, **options)


def _mean(records: Array) -> Array:
    # Correctly rounded sums, so that every processor gets the same last digits.
    return np.array([math.fsum(feature) for feature in records.T]) / len(records)


def _boxed(
    values: Array,
    box: tuple[float | Array, float | Array],
    description: str,
    constants: Constants,
    **facts: Any,
) -> Scaled:
    lower, upper = (np.broadcast_to(np.float64(bound), values.shape[1]) for bound in box)
    return Scaled(np.ascontiguousarray(values.T), lower, upper, description, constants, facts)


def _clipped(
    values: Array,
    description: str,
    constants: Constants,
    box: tuple[float | Array, float | Array] = (-1, 1),
) -> Scaled:
    outside = (values < box[0]) | (values > box[1])
    clipped = int(outside.any(axis=1).sum())
    facts = {
        "records_clipped": clipped,
        "share_of_records_clipped": clipped / len(values),
        "entries_clipped": int(outside.sum()),
    }
    return _boxed(np.clip(values, *box), box, description, constants, **facts)
