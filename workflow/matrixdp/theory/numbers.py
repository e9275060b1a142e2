"""One number that decides an exact claim, beside the number that it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np


class Number(NamedTuple):
    """One number of a check.

    Attributes:
        statistic: what the number is, in words.
        value: the number, computed.
        relation: how it should lie to ``expected``: ``=``, ``<=`` or ``>=``.
        expected: what the claim says.
        tolerance: by how much the relation may be missed, in the units of ``value``.
    """

    statistic: str
    value: float
    relation: str
    expected: float
    tolerance: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the relation holds; a number that is not finite never does."""
        excess = self.value - self.expected
        if not np.isfinite(excess):
            return False
        signs = {"=": abs(excess), "<=": excess, ">=": -excess}
        return bool(signs[self.relation] <= self.tolerance)


#: A check computes its numbers from one stream; the same stream gives the same numbers.
Check = Callable[[np.random.Generator], Iterable[Number]]
