"""Data sets that become one matrix in a public box, in ``matrix.npy``."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.data import scaling, simulate
from matrixdp.data.catalogue import Spec

FILE = "matrix.npy"
#: What provenance.json says about a matrix and about nothing else.
KEYS = ("features", "lower", "upper")


@dataclass(frozen=True)
class Dataset:
    """A prepared data set.

    Attributes:
        name: its name in workflow/datasets.yaml.
        matrix: m features x n records, float64, read-only.
        features: m names.
        lower, upper: the public bounds of each feature; the matrix keeps to them exactly.
        status: ``original`` or ``simulated``.
        provenance: everything in provenance.json.
    """

    name: str
    matrix: Array
    features: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    status: str
    provenance: Mapping[str, Any]


def content_sha256(records: Array) -> str:
    """Return the sha256 of records (n x m) as little-endian float64, row after row."""
    return hashlib.sha256(np.ascontiguousarray(records, dtype="<f8").tobytes()).hexdigest()


def read(reader: ModuleType, members: Mapping[str, bytes]) -> Array:
    """Return the records (n x m) that a data set's module reads."""
    # Adding 0 makes -0 and 0 the same bytes.
    return reader.read(members) + 0.0


def stand_in(reader: ModuleType, facts: Mapping[str, Any], rng: np.random.Generator) -> Array:
    """Return the records (n x m) of a stand-in."""
    return simulate.simulate(facts, rng)


def pack(spec: Spec, records: Array, scaling_name: str) -> tuple[bytes, dict[str, Any]]:
    """Return the bytes of ``FILE`` and what provenance.json says of the matrix."""
    chosen = spec.scalings[scaling_name]
    scaled = scaling.scale(records, spec.columns, **chosen)
    stream = io.BytesIO()
    np.save(stream, scaled.matrix.astype("<f8"), allow_pickle=False)
    return stream.getvalue(), {
        "rows_used": scaled.matrix.shape[1],
        "shape": list(scaled.matrix.shape),
        "features": list(spec.columns),
        "scaling": {
            "name": scaling_name,
            "method": chosen["method"],
            "description": scaled.description,
            "constants": scaled.constants,
            "treated_as_public": ["constants", "lower", "upper"],
        },
        "lower": scaled.lower.tolist(),
        "upper": scaled.upper.tolist(),
        "facts": scaled.facts,
    }


def unpack(content: bytes, provenance: Mapping[str, Any]) -> Dataset:
    """Return the data set that :func:`pack` made."""
    matrix = np.load(io.BytesIO(content), allow_pickle=False)
    matrix.setflags(write=False)
    return Dataset(
        name=provenance["name"],
        matrix=matrix,
        features=tuple(provenance["features"]),
        lower=tuple(provenance["lower"]),
        upper=tuple(provenance["upper"]),
        status=provenance["status"],
        provenance=provenance,
    )
