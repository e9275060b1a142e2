"""Matrices of records in a public box, in ``matrix.npy``."""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np

from matrixdp.checks import Array
from reproduction.data import scaling
from reproduction.data.datasets import Spec


def content_sha256(records: Array) -> str:
    """Return the sha256 of records (n x m) as little-endian float64, row after row."""
    return hashlib.sha256(np.ascontiguousarray(records, dtype="<f8").tobytes()).hexdigest()


def pack(spec: Spec, records: Array, scaling_name: str) -> tuple[bytes, dict[str, Any]]:
    """Return the bytes of ``matrix.npy`` and the matrix' entries of provenance.json."""
    options = spec.scalings[scaling_name].model_dump()
    scaled = scaling.scale(records, spec.columns, **options)
    stream = io.BytesIO()
    np.save(stream, scaled.matrix.astype("<f8"), allow_pickle=False)
    return stream.getvalue(), {
        "rows_used": scaled.matrix.shape[1],
        "shape": list(scaled.matrix.shape),
        "features": list(spec.columns),
        "scaling": {
            "name": scaling_name,
            "method": options["method"],
            "description": scaled.description,
            "constants": scaled.constants,
            "treated_as_public": ["constants", "lower", "upper"],
        },
        "lower": scaled.lower.tolist(),
        "upper": scaled.upper.tolist(),
        "facts": scaled.facts,
    }
