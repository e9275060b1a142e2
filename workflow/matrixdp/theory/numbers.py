"""Numbers that decide an exact claim, and statements that they must decide the other way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np


class Number(NamedTuple):
    """One number of a check, in words (``statistic``) and as it was computed (``value``).

    Its ``relation`` to what the claim says, ``expected``, is ``=``, ``<=`` or ``>=``, which may be
    missed by ``tolerance``, in the units of ``value``.
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


#: Computes numbers from one stream, and from what is to be altered in the statement, by name. The
#: same stream gives the same numbers.
Numbers = Iterator[Number]
Statement = Callable[..., Numbers]
Stream = np.random.Generator


@dataclass(frozen=True)
class Check:
    """A statement of a paper as numbers, with its negative controls.

    ``altered`` has what the statement takes under each alteration, in words (a constant halved, a
    condition dropped). Every number must come out the other way under one of them: a number that
    nothing can change proves nothing.
    """

    statement: Statement
    altered: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __call__(self, stream: Stream, altered: str | None = None) -> list[Number]:
        """Return the numbers of the statement, or of an altered one."""
        changes = self.altered[altered] if altered is not None else {}
        return [*self.statement(stream, **changes)]


def register() -> tuple[dict[str, Check], Callable[..., Callable[[Statement], Statement]]]:
    """Return an empty table of checks, and what enters the statement below it into the table.

    That takes the check's name, its ``altered`` if any, and by name what the statement is given.
    """
    checks: dict[str, Check] = {}

    def enter(name: str, altered: Any = (), **given: Any) -> Callable[[Statement], Statement]:
        def entered(statement: Statement) -> Statement:
            checks[name] = Check(partial(statement, **given), dict(altered))
            return statement

        return entered

    return checks, enter
