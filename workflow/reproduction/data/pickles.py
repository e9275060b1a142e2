"""Safe reading of arrays that Python 2 pickled; any other class in a pickle is refused."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

from matrixdp.checks import InputError

#: Classes that arrays need; numbers, strings, lists and dictionaries need none.
_ARRAYS = {
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


class _Unpickler(pickle.Unpickler):
    allowed: Mapping[tuple[str, str], Any]

    def find_class(self, module: str, name: str) -> Any:
        """Return a class that a pickle names, if it is allowed."""
        if (module, name) not in self.allowed:
            raise InputError(f"it would run {module}.{name}")
        return self.allowed[module, name]


def load(data: bytes, more: Mapping[tuple[str, str], Any] | None = None) -> Any:
    """Return the content of a pickle.

    Args:
        data: the pickle; its strings become text, as Latin-1.
        more: classes that it may name besides those of arrays, by module and name.

    Raises:
        InputError: it names another class.
        ValueError: it is no pickle, or none of arrays.
    """
    reader = _Unpickler(io.BytesIO(data), encoding="latin1")
    reader.allowed = _ARRAYS | dict(more or {})
    try:
        return reader.load()
    except (pickle.UnpicklingError, AttributeError, EOFError, TypeError) as error:
        raise ValueError(f"no pickle of arrays: {error}") from None
