"""The training and test records of a network."""

from __future__ import annotations

import os
import zipfile

import jax
import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import InputError
from reproduction.data.prepared import Arrays, LearningSet, load_arrays

#: Names of the arrays that an extractor writes.
FEATURE_ARRAYS = tuple(
    f"{part}_{of}" for part in ("train", "test") for of in ("features", "labels")
)


def load(path: str | os.PathLike, dataset: str, *, features: bool = False) -> LearningSet:
    """Return a prepared data set, or its features as ``extractor.write_features`` writes them.

    Args:
        path: folder of the data set, or file of the features.
        dataset: name of the data set.
        features: whether to read features.

    Raises:
        InputError: the file cannot be read, is incomplete, or has another data set.
    """
    data = _features(path) if features else load_arrays(path)
    if data.name != dataset:
        raise InputError(f"{path} holds {data.name} data, not those of {dataset}")
    return data


def _features(file: str | os.PathLike) -> LearningSet:
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in (*FEATURE_ARRAYS, "name", "status")}
        return LearningSet(str(arrays.pop("name")), arrays, str(arrays.pop("status")))
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{file} holds no features ({error}); make it by "
            "`python -m reproduction extract-features`"
        ) from None


def limit_rows(arrays: Arrays, most: int | None, stream: np.random.Generator, part: str) -> Arrays:
    """Return the arrays, with at most ``most`` random rows of the part ``train`` or ``test``.

    Names of the part's arrays start with it. None for ``most`` keeps all rows.
    """
    chosen = [name for name in arrays if name.startswith(part)]
    available = len(arrays[chosen[0]])
    if most is None or most >= available:
        return arrays
    rows = np.sort(stream.choice(available, most, replace=False))
    return {**arrays, **{name: arrays[name][rows] for name in chosen}}


def classes(labels: NDArray, name: str) -> int:
    """Return the number of classes; InputError if all labels are of one class."""
    values = np.unique(labels)
    if len(values) < 2:
        raise InputError(
            f"labels of {name} are all {values.tolist()}; a classifier needs records of at least "
            "two classes"
        )
    return int(values.max()) + 1


def accuracy(outputs: jax.Array, labels: NDArray) -> float:
    """Return the share of rows whose largest output has the label's index; NaN after overflow."""
    scores = np.asarray(outputs)
    return float(np.mean(scores.argmax(axis=1) == labels)) if np.isfinite(scores).all() else np.nan
