"""Which records of each person count, by a public rule: the first ones of a file.

A promise for a whole person needs a limit of what one person adds. Whether a record counts depends
on the records of the same person alone, so that the records of all others that count are the same
whoever comes or goes.

A missing identifier is refused. Were each such record a person, whoever has several of them would
have no promise; and to drop them would leave people out without a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.isolation import isolate

#: Texts that hold no value, in small letters; the last two pandas makes of missing ones.
MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "<na>", "nat"}

#: Texts that spell a number, and those with marks of thousands.
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?0*[0-9]{1,4})?")
_THOUSANDS = re.compile(r"([+-]?[0-9]{1,3}([ ,._'’])(?:[0-9]{2,3}\2)*[0-9]{3})((?!\2)[.,][0-9]*)?")

#: Characters that nobody sees, beside those that Unicode calls controls and formats.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
#: Signs of other scripts that look, or are read, as those of numbers and as blanks.
_SIGNS = str.maketrans({"\u2212": "-", "\u066b": ".", "\u066c": ",", "\u2800": " "})

#: What to do about a missing identifier.
REMEDY = "give every record a text or a number that names its person"


class People(NamedTuple):
    """The column of a file that names the person of each record, and how many of each count."""

    column: str
    most: int


class FirstRecords:
    """A count of the records of each person so far, over the blocks of a file.

    A text counts without the blanks around it. Identifiers of two types, or one number spelled in
    two ways, could count a person twice. So they are refused.

    Args:
        most: how many records of each person count.
        source: what messages call the records.
        column: the column of identifiers, for messages; empty where they have none.
    """

    def __init__(self, most: int, source: object = "people", column: str = "") -> None:
        self._most = checks.count(per_person=most)
        self._source, self._column = source, f", column {column!r}" * bool(column)
        self._counts: dict[Hashable, int] = {}
        self._spellings: dict[str | Decimal, str] = {}
        self._kind, self._record = "", 0

    def keep(self, names: Iterable[object]) -> Array:
        """Return whether each of the next records counts (k,), by its identifier.

        Raises:
            InputError: an identifier is missing, neither a text nor a number, of another type than
                those before, or the number of one before in another spelling.
        """
        counts, most, mask = self._counts, self._most, []
        for name in names:
            self._record += 1
            person = self._person(name)
            count = counts.get(person, 0)
            if not count and isinstance(person, str):
                self._check_spelling(person)
            mask.append(count < most)
            if count < most:
                counts[person] = count + 1
        return np.array(mask, dtype=bool)

    def _person(self, name: object) -> Hashable:
        """Return what tells a person apart."""
        person = _text(name) if isinstance(name, str) else _number(name)
        if person is None:
            raise self._problem("no identifier", REMEDY)
        if person is NotImplemented:
            kind = f"an identifier of the type {type(name).__name__}"
            raise self._problem(f"{kind}, no text and no number,", REMEDY)
        if isinstance(name, float | np.floating) and not abs(float(name)) < _exact_below(name):
            remedy = "read identifiers as texts or whole numbers, so that no two become one"
            raise self._problem("an identifier with more digits than its type holds", remedy)
        kind = _kind(name)
        if self._kind not in ("", kind):
            raise self._problem(
                f"a {kind} where identifiers before are each a {self._kind},",
                'make all of them texts, as 7 and "7" would be two people',
            )
        self._kind = kind
        return person

    def _check_spelling(self, text: str) -> None:
        """Refuse a text that looks like an earlier one, or spells the number of one otherwise."""
        visible = appearance(text)
        if visible.lower() in MISSING:
            raise self._problem("no identifier", REMEDY)
        keys: set[str | Decimal] = {visible, *_numbers(visible)}
        others = {self._spellings.get(key, text) for key in keys}
        if others != {text} or (visible != text and visible in self._counts):
            raise self._problem(
                "an identifier before in another spelling",
                "spell each alike, as 7 and 7.0, or 7 and 07, would be two people",
            )
        # A text that looks like itself is among the counts.
        self._spellings |= dict.fromkeys(keys - {text}, text)

    def _problem(self, problem: str, remedy: str) -> InputError:
        verb = "have" if self._source == "people" else "has"
        return InputError(
            f"{self._source} {verb} {problem} in record {self._record}{self._column}; {remedy}"
        )


def _kind(name: object) -> str:
    """Return the type of an identifier; texts, whole numbers and booleans have one each."""
    if isinstance(name, str):
        return "text"
    if isinstance(name, bool | np.bool):
        return "truth value"
    if isinstance(name, Integral):
        return "whole number"
    return "number of the type float" if isinstance(name, float) else type(name).__name__


def _exact_below(name: Any) -> float:
    """Return from where on a type of floats holds only some whole numbers."""
    bits: int = np.finfo(type(name)).nmant + 1
    return 2.0**bits


def _text(name: str) -> str | None:
    """Return a text without the blanks around it, None where it is missing.

    Unicode has several spellings of letters with accents, which nobody sees.
    """
    text = unicodedata.normalize("NFC", str(name).strip())
    return None if text.lower() in MISSING else text


def appearance(text: str) -> str:
    """Return how a text looks: without what nobody sees, with single blanks, in usual digits."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_SIGNS)
    letters = (
        str(unicodedata.decimal(letter, letter))
        for letter in text
        if letter.isspace() or unicodedata.category(letter) not in ("Cc", "Cf")
    )
    return " ".join("".join(letters).split())


def _numbers(text: str) -> set[Decimal]:
    """Return the numbers that a text could spell, with a mark of decimals or of thousands."""
    numbers = set()
    if _DECIMAL.fullmatch(text):
        numbers.add(Decimal(text.replace(",", ".")))
    if match := _THOUSANDS.fullmatch(text):
        whole, mark, decimals = match.groups(default="")
        numbers.add(Decimal(whole.replace(mark, "") + decimals.replace(",", ".")))
    return numbers


def _number(identifier: object) -> Hashable:
    """Return an exact number of Python's own, whose equality and hash agree over all types.

    None stands for a missing one, and ``NotImplemented`` for what is no number.
    """
    if (
        identifier is None
        or identifier is np.ma.masked
        or type(identifier).__name__ in ("NAType", "NaTType")
    ):
        return None
    if isinstance(identifier, np.longdouble):
        # Python has no number as wide.
        identifier = (
            Fraction(*identifier.as_integer_ratio())
            if np.isfinite(identifier)
            else float(identifier)
        )
    if isinstance(identifier, np.number | np.bool):
        identifier = identifier.item()
    if not isinstance(identifier, Number) or not isinstance(identifier, Hashable):
        return NotImplemented
    try:
        return identifier if identifier == identifier else None
    except ArithmeticError:
        # A signalling NaN of decimal.
        return None


def as_objects(names: Any) -> list[Any]:
    """Return identifiers one by one; as they are, since one type would make people equal.

    Dates stay dates: as Python's objects those in nanoseconds would be whole numbers. Floats keep
    their type, which says how many digits they hold.
    """
    if getattr(getattr(names, "dtype", None), "kind", "") in ("f", "m", "M"):
        return [*np.ma.asarray(names)]
    # Masked ones become None.
    masked = isinstance(names, np.ma.MaskedArray)
    objects: list[Any] = (names.astype(object) if masked else np.asarray(names, object)).tolist()
    return objects


@isolate
def bound_contributions(groups: ArrayLike, per_person: int) -> Array:
    """Return which records count: the first ones of each person, in their order.

    A release of these, by a query with the same ``per_person``, protects whole people.

    Args:
        groups: texts or numbers, of one type, that name the person of each record, (n,).
        per_person: how many records of each person count, at least 1.

    Returns:
        Whether each record counts, (n,).

    Raises:
        InputError: an identifier is missing, or masked, or they are not one per record, not of one
            type, or have two spellings of a number, such as ``"7"`` and ``"07"``.

    >>> mdp.bound_contributions(["Ann", "Bob", "Ann", "Ann"], per_person=2).tolist()
    [True, True, True, False]
    """
    shape = np.shape(groups) if hasattr(groups, "__array__") else np.asarray(groups, object).shape
    if len(shape) != 1:
        raise InputError(f"groups have shape {shape}; give one identifier per record")
    return FirstRecords(per_person).keep(as_objects(groups))
