"""Learning sets: several named arrays, in ``arrays.npz``."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reproduction.data.datasets import Spec
from reproduction.data.prepared import Arrays


@dataclass(frozen=True)
class Encoded:
    """Named arrays with a description of their encoding; a learning set's module returns them.

    Attributes:
        arrays: by name.
        shape: records x columns of the files, before the encoding.
        description: the encoding, in words.
        constants: numbers that come from the records.
        treated_as_public: other facts from the records that count as public.
        facts: remarks on the result for readers.
    """

    arrays: Arrays
    shape: tuple[int, int]
    description: str
    constants: Mapping[str, float] = field(default_factory=dict)
    treated_as_public: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


def content_sha256(encoded: Encoded) -> str:
    """Return the sha256 of the arrays, in the order of their names.

    For each array one line has its name, type and shape. Its entries follow, little-endian, row
    after row.
    """
    state = hashlib.sha256()
    for name, array in sorted(encoded.arrays.items()):
        entries = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        state.update(f"{name} {entries.dtype.str} {entries.shape}\n".encode())
        state.update(entries.tobytes())
    return state.hexdigest()


def pack(spec: Spec, encoded: Encoded, scaling_name: str) -> tuple[bytes, dict[str, Any]]:
    """Return the bytes of ``arrays.npz`` and the arrays' entries of provenance.json.

    The bytes depend on the arrays alone: NumPy dates every entry 1980.
    """
    stream = io.BytesIO()
    arrays = dict(sorted(encoded.arrays.items()))
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue(), {
        "arrays": {
            name: {"dtype": str(array.dtype), "shape": list(array.shape)}
            for name, array in arrays.items()
        },
        "scaling": {
            "name": scaling_name,
            "description": encoded.description,
            "constants": dict(encoded.constants),
            "treated_as_public": [
                *(["constants"] if encoded.constants else []),
                *encoded.treated_as_public,
            ],
        },
        "facts": dict(encoded.facts),
    }
