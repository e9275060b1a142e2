"""A person's own file of records: read as a release reads it, and compared with nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp.checks import Array, InputError, plural
from matrixdp.release.tables import blocks
from reproduction.data.datasets import Spec
from reproduction.data.prepared import DEFAULT, PRIVATE


def original(spec: Spec) -> tuple[Array, dict[str, Any]]:
    """Return the records, shape ``spec.shape``, clipped to their public bounds, and their origin.

    Raises:
        InputError: the file cannot be read, or has another number of records.
    """
    file, fill = Path(spec.file), np.array(spec.fill, dtype=float)
    records = np.concatenate([np.empty((0, len(spec.columns))), *blocks(file, spec.columns, fill)])
    if records.shape != spec.shape:
        raise InputError(
            f"{file} has {plural(len(records), 'record')} where {spec.shape[0]} "
            "are stated; correct one"
        )
    origin = {"file": file.name}
    if spec.status != PRIVATE:
        with file.open("rb") as stream:
            origin["sha256"] = hashlib.file_digest(stream, "sha256").hexdigest()
    box = spec.scalings[DEFAULT]
    records = np.clip(records, box["lower"], box["upper"])
    return records, {"status": spec.status, "files": [origin]}
