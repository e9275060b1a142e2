"""Prepared data sets, as every experiment reads them; `reproduction.data.store` writes them."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matrixdp import checks
from matrixdp.checks import Array, InputError, as_input_error

#: The scaling in a data set's main folder; other scalings are in subfolders of their names.
DEFAULT = "default"

Arrays = Mapping[str, NDArray]

#: The status of a lossy copy, beside ``original`` and ``simulated``.
COPY = "lossy copy"

_REMEDY = "delete it and run `snakemake data`"

#: The files with the numbers of a matrix, and of a learning set.
MATRIX, ARRAYS = "matrix.npy", "arrays.npz"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A matrix in a public box.

    Attributes:
        name: its name in workflow/datasets.yaml.
        matrix: m features x n records, float64, read-only.
        features: m names.
        lower, upper: the public bounds of each feature, which the matrix satisfies exactly.
        status: ``original``, ``lossy copy`` or ``simulated``.
    """

    name: str
    matrix: Array
    features: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    status: str

    def of(self, features: Sequence[str]) -> Dataset:
        """Return the data set with these features alone.

        Raises:
            InputError: it does not have one of them.
        """
        indices = [self.features.index(checks.choice(self.features, features=f)) for f in features]
        return replace(
            self,
            matrix=self.matrix[indices],
            features=tuple(features),
            lower=tuple(self.lower[i] for i in indices),
            upper=tuple(self.upper[i] for i in indices),
        )


@dataclass(frozen=True, eq=False)
class LearningSet:
    """Named arrays to learn from.

    Attributes:
        name: its name in workflow/datasets.yaml.
        arrays: read-only, by name; the data set's module describes them.
        status: ``original``, ``lossy copy`` or ``simulated``.
    """

    name: str
    arrays: Arrays
    status: str


def load(folder: str | os.PathLike, scaling: str = DEFAULT) -> Dataset:
    """Return the matrix that :func:`reproduction.data.store.prepare` wrote.

    Args:
        folder: of the data set.
        scaling: name of the scaling.

    Raises:
        InputError: a file is missing, damaged, or belongs to another run, or the folder has a
            learning set.
    """
    path = place(folder, scaling)
    stream, provenance = _content(path, MATRIX)
    with as_input_error(f"{path / MATRIX} cannot be read ({{why}}); {_REMEDY}"):
        matrix = np.load(stream, allow_pickle=False)
    matrix.setflags(write=False)
    features, lower, upper = (tuple(provenance[key]) for key in ("features", "lower", "upper"))
    return Dataset(provenance["name"], matrix, features, lower, upper, provenance["status"])


def load_arrays(folder: str | os.PathLike) -> LearningSet:
    """Return the learning set that :func:`reproduction.data.store.prepare` wrote.

    Raises:
        InputError: a file is missing, damaged, or belongs to another run, or the folder has a
            matrix.
    """
    stream, provenance = _content(Path(folder), ARRAYS)
    with np.load(stream, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for array in arrays.values():
        array.setflags(write=False)
    return LearningSet(provenance["name"], MappingProxyType(arrays), provenance["status"])


def place(folder: str | os.PathLike, scaling: str = DEFAULT) -> Path:
    """Return the folder of a scaling of a data set."""
    return Path(folder) if scaling == DEFAULT else Path(folder, scaling)


def read_provenance(folder: Path) -> dict[str, Any]:
    """Return the content of a folder's provenance.json.

    Raises:
        InputError: it is missing or damaged.
    """
    with as_input_error(f"{folder / 'provenance.json'} cannot be read ({{why}}); {_REMEDY}"):
        return dict(json.loads((folder / "provenance.json").read_bytes()))


def _content(folder: Path, file: str) -> tuple[io.BytesIO, dict[str, Any]]:
    provenance = read_provenance(folder)
    with as_input_error(f"{folder / file} cannot be read ({{why}}); {_REMEDY}"):
        content = (folder / file).read_bytes()
    if hashlib.sha256(content).hexdigest() != provenance.get(checksum(file), ""):
        raise InputError(f"{folder / file} is not the file of its provenance.json; {_REMEDY}")
    return io.BytesIO(content), provenance


def checksum(file: str) -> str:
    """Return the key of a file's checksum in provenance.json."""
    return f"{Path(file).stem}_sha256"
