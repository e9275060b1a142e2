"""The records that a network learns from and is tested on."""

from __future__ import annotations

import os
import zipfile

import jax
import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import InputError
from matrixdp.data.prepared import Arrays, LearningSet, load_arrays

#: What an extractor makes of the records.
MADE = tuple(f"{part}_{of}" for part in ("train", "test") for of in ("features", "labels"))


def load(place: str | os.PathLike, dataset: str, *, features: bool = False) -> LearningSet:
    """Return a prepared data set, or the features that ``extractor.write`` has made of it.

    ``place`` is its folder, or the file of the features. InputError: it cannot be read, lacks
    something, or is another data set than ``dataset``.
    """
    found = _features(place) if features else load_arrays(place)
    if found.name != dataset:
        raise InputError(f"{place} holds {found.name} data, not those of {dataset}")
    return found


def _features(file: str | os.PathLike) -> LearningSet:
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in (*MADE, "name", "status")}
        return LearningSet(str(arrays.pop("name")), arrays, str(arrays.pop("status")))
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{file} holds no features ({error}); make it by `matrixdp extract`"
        ) from None


def limited(arrays: Arrays, most: int | None, stream: np.random.Generator, part: str) -> Arrays:
    """Return arrays of which those named after ``part`` keep at most so many rows, by chance.

    None keeps all; ``part`` is ``train`` or ``test``.
    """
    chosen = [name for name in arrays if name.startswith(part)]
    available = len(arrays[chosen[0]])
    if most is None or most >= available:
        return arrays
    rows = np.sort(stream.choice(available, most, replace=False))
    return {**arrays, **{name: arrays[name][rows] for name in chosen}}


def classes(labels: NDArray, name: str) -> int:
    """Return the number of classes; InputError if all labels are of one class."""
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
