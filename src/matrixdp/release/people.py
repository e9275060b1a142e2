"""Which records of each person count, by a public rule: the first ones of a file.

A promise for a whole person needs a limit of what one person adds. Whether a record counts depends
on the records of the same person alone, so that the records of all others that count are the same
whoever comes or goes.

A missing identifier is refused. Were each such record a person, whoever has several of them would
have no promise; and to drop them would leave people out without a word.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from numbers import Number
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError

#: Texts that hold no value, in small letters.
MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none"}

#: What to do about a missing identifier.
REMEDY = "give every record a text or a number that names its person"


class People(NamedTuple):
    """The column of a file that names the person of each record, and how many of each count."""

    column: str
    most: int


class FirstRecords:
    """A count of the records of each person so far, over the blocks of a file.

    Args:
        most: how many records of each person count.
    """

    def __init__(self, most: int) -> None:
        self._most = checks.count(per_person=most)
        self._counts: dict[Hashable, int] = {}

    def keep(self, people: Iterable[Hashable]) -> Array:
        """Return whether each of the next records counts (k,), by its :func:`identifiers`."""
        counts, most, kept = self._counts, self._most, []
        for person in people:
            count = counts.get(person, 0)
            kept.append(count < most)
            if count < most:
                counts[person] = count + 1
        return np.array(kept, dtype=bool)


def identifiers(people: Sequence[object]) -> list[Hashable]:
    """Return what tells people apart, None where it is missing.

    A text counts without the blanks around it. Numbers are one person where they are equal, of
    whatever types; a number and a text never are. What is no text and no number is missing too.
    """
    return [_text(name) if isinstance(name, str) else _number(name) for name in people]


def _text(name: str) -> str | None:
    text = str(name).strip()
    return None if text.lower() in MISSING else text


def _number(name: object) -> Hashable:
    """Return an exact number of Python's own, whose equality and hash agree over all types."""
    if isinstance(name, np.generic):
        name = name.item()
    if isinstance(name, np.longdouble):
        # Python has no number as wide.
        name = Fraction(*name.as_integer_ratio()) if np.isfinite(name) else float(name)
    if not isinstance(name, Number) or not isinstance(name, Hashable):
        return None
    try:
        return name if name == name else None
    except ArithmeticError:
        # A signalling NaN of decimal.
        return None


def first_records(people: ArrayLike, per_person: int) -> Array:
    """Return which records count: the first ones of each person, in their order.

    A release of these, by a query with the same ``per_person``, protects whole people. Numbers are
    one person where they are equal, such as ``1`` and ``1.0``; ``1`` and ``"1"`` are two people.

    Args:
        people: texts or numbers that name the person of each record, (n,).
        per_person: how many records of each person count, at least 1.

    Returns:
        Whether each record counts, (n,).

    Raises:
        InputError: an identifier is missing, or masked, or they are not one per record.

    >>> mdp.first_records(["Ann", "Bob", "Ann", "Ann"], per_person=2).tolist()
    [True, True, True, False]
    """
    # As they are: an array of one type would make different people equal.
    if isinstance(people, np.ma.MaskedArray):
        people = people.astype(object).tolist()
    array = np.asarray(people, dtype=object)
    if array.ndim != 1:
        raise InputError(f"people have shape {array.shape}; give one identifier per record")
    names = identifiers(array.tolist())
    if None in names:
        raise InputError(f"people have no identifier in record {names.index(None) + 1}; {REMEDY}")
    return FirstRecords(per_person).keep(names)
