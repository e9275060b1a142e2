"""The records that a network learns from and is tested on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import jax
import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import InputError

Arrays = Mapping[str, NDArray]


@dataclass(frozen=True)
class Data:
    """What a training needs to know of a data set.

    Attributes:
        name, status: which data set, and whether it is ``original`` or ``simulated``.
        arrays: by name; those whose names start with ``train`` have a row per training record.
    """

    name: str
    status: str
    arrays: Arrays


def limited(arrays: Arrays, most: int | None, stream: np.random.Generator, part: str) -> Arrays:
    """Return arrays of which those named after ``part`` keep at most so many rows.

    Args:
        arrays: by name.
        most: how many rows; None for all.
        stream: chooses them.
        part: ``train`` or ``test``.
    """
    chosen = [name for name in arrays if name.startswith(part)]
    available = len(arrays[chosen[0]])
    if most is None or most >= available:
        return arrays
    rows = np.sort(stream.choice(available, most, replace=False))
    return {**arrays, **{name: arrays[name][rows] for name in chosen}}


def classes(labels: NDArray, name: str) -> int:
    """Return the number of classes.

    Raises:
        InputError: all labels are of one class.
    """
    found = np.unique(labels)
    if len(found) < 2:
        raise InputError(
            f"labels of {name} are all {found.tolist()}; a classifier needs records of at least "
            "two classes"
        )
    return int(found.max()) + 1


def accuracy(outputs: jax.Array, labels: NDArray) -> float:
    """Return the share of rows whose largest output is that of the label; NaN after overflow."""
    found = np.asarray(outputs)
    return float(np.mean(found.argmax(axis=1) == labels)) if np.isfinite(found).all() else np.nan
