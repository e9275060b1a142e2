"""Records of a CSV file of one's own: read as a release reads them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp.checks import Array, InputError, plural
from matrixdp.release.tables import blocks
from reproduction.data.datasets import Spec


def original(spec: Spec) -> tuple[Array, dict[str, Any]]:
    """Return the records, shape ``spec.shape``, and what provenance.json states of their origin.

    Raises:
        InputError: the file cannot be read, lacks a number, or has another number of records.
    """
    file, refuse = Path(spec.file).expanduser(), np.full(len(spec.columns), np.nan)
    parts = [np.empty((0, len(spec.columns))), *blocks(file, spec.columns, refuse)]
    records = np.concatenate(parts)
    if list(records.shape) != spec.shape:
        raise InputError(
            f"{file} has {plural(len(records), 'record')} where {spec.shape[0]} "
            "are stated; correct one"
        )
    with file.open("rb") as stream:
        origin = {"file": file.name, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}
    return records, {"status": "original", "files": [origin]}
