"""Reading arrays that Python 2 pickled, and nothing else: a pickle may call what it can name."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

from matrixdp.checks import InputError

#: What arrays need; numbers, strings, lists and dictionaries need nothing.
_ARRAYS = {
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


class _Unpickler(pickle.Unpickler):
    allowed: Mapping[tuple[str, str], Any]

    def find_class(self, module: str, name: str) -> Any:
        """Return what a pickle names, if it may use it."""
        if (module, name) not in self.allowed:
            raise InputError(f"it would run {module}.{name}")
        return self.allowed[module, name]


def load(data: bytes, more: Mapping[tuple[str, str], Any] | None = None) -> Any:
    """Return what was pickled.

    Args:
        data: the pickle; its strings become text, as Latin-1.
        more: what it may name beyond what arrays need, by module and name.

    Raises:
        InputError: it names something else.
        ValueError: it is no pickle, or none of arrays.
    """
    reader = _Unpickler(io.BytesIO(data), encoding="latin1")
    reader.allowed = _ARRAYS | dict(more or {})
    try:
        return reader.load()
    except (pickle.UnpicklingError, AttributeError, EOFError, TypeError) as error:
        raise ValueError(f"no pickle of arrays: {error}") from None
