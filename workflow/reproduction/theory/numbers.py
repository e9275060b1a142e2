"""Numbers that decide an exact claim, with altered statements as negative controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np


class Number(NamedTuple):
    """One number of a check, and the number that the claim expects.

    Attributes:
        statistic: description of the number.
        value: the number.
        relation: claimed relation of ``value`` to ``expected``: ``=``, ``<=`` or ``>=``.
        expected: the claim's number.
        tolerance: tolerance of the relation, in the units of ``value``.
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


#: Numbers of a statement. A statement is a function of a stream, and of alterations by keyword; the
#: same stream gives the same numbers.
Numbers = Iterator[Number]
Statement = Callable[..., Numbers]
Stream = np.random.Generator


@dataclass(frozen=True)
class Check:
    """A statement of a paper as numbers, with its negative controls.

    ``altered`` has the keyword arguments of each alteration, by its description (a constant halved,
    a condition dropped). Every number must change its verdict under one of them, because a number
    that cannot change proves nothing.
    """

    statement: Statement
    altered: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __call__(self, stream: Stream, altered: str | None = None) -> list[Number]:
        """Return the numbers of the statement, or of an altered one."""
        changes = self.altered[altered] if altered is not None else {}
        return [*self.statement(stream, **changes)]


def registry() -> tuple[dict[str, Check], Callable[..., Callable[[Statement], Statement]]]:
    """Return an empty registry of checks, and a decorator that adds a statement to it.

    The decorator's arguments are the check's name, its ``altered`` if any, and keyword arguments of
    the statement.
    """
    checks: dict[str, Check] = {}

    def enter(name: str, altered: Any = (), **parameters: Any) -> Callable[[Statement], Statement]:
        def enter_statement(statement: Statement) -> Statement:
            checks[name] = Check(partial(statement, **parameters), dict(altered))
            return statement

        return enter_statement

    return checks, enter
