"""Equality of frozen dataclasses that hold arrays."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from typing import Any, cast

import numpy as np


class ByValue:
    """Base of frozen dataclasses without an ``__eq__`` of their own (``eq=False``).

    Two are equal where their types are the same and all their fields equal. Arrays are equal entry
    by entry, and so are two NaN, as those of a pickled object.
    """

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return content(self) == content(other)

    def __hash__(self) -> int:
        return hash(content(self))


def content(thing: Any) -> Hashable:
    """Return what tells a value apart from others, computed anew: a field may have been changed."""
    if isinstance(thing, np.ndarray) and thing.dtype.kind in "biuf":
        # The sign of a zero does not count.
        return thing.shape, thing.dtype.kind, (thing + 0).tobytes()
    if isinstance(thing, float) and np.isnan(thing):
        return "NaN"
    if isinstance(thing, tuple | list):
        return tuple(map(content, thing))
    if isinstance(thing, ByValue):
        compared = (field.name for field in fields(cast(Any, thing)) if field.compare)
        return type(thing), *(content(getattr(thing, name)) for name in compared)
    return cast(Hashable, thing)
