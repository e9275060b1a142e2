"""Missing values: the rule by which a release treats them, which is public."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.privacy.domain import Box
from matrixdp.release import notation, tables, words
from matrixdp.release.people import MISSING

#: Values of ``missing``: a missing value gets the middle of its bounds, or ends the release. An
#: ended release reveals something about one record, as does a cell that is not a number.
MIDDLE, REFUSE = "middle", "refuse"
#: Value of ``missing`` for a mean of the values present.
PRESENT = "present"


def unstated(*, present: bool) -> str:
    """Return what a release is told that states no rule.

    Args:
        present: whether it can leave missing values out.
    """
    rules = '"middle" for the middle of the bounds, '
    rules += (
        '{column = value}, or "present" for a mean of the values present'
        if present
        else "or {column = value}"
    )
    return (
        "missing is not stated, and what a missing value becomes moves the answer; add "
        f'missing = "refuse" if none may be missing, {rules}'
    )


def can_occur(path: Path, book: notation.CodeBook) -> bool:
    """Return whether a file's format can have missing values; no record is read.

    An array of integers or booleans has none, but for codes. A file that is no such array is judged
    by its suffix.
    """
    try:
        if not book and tables.suffix(path) == ".npy":
            return bool(np.load(path, mmap_mode="r", allow_pickle=False).dtype.kind not in "iub")
    except (OSError, ValueError):
        return True
    return True


def fill(box: Box, names: Sequence[str], rule: object, *, present: bool) -> Array:
    """Return the replacement of missing values in each column, (m,); NaN for those without one.

    Args:
        box, names: public bounds and names of the columns.
        rule: what is stated of missing values.
        present: whether the request can leave them out, for messages.

    Raises:
        InputError: ``rule`` is no such word or table, or a value lies outside its bounds.
    """
    values = box.middle
    word = rule if isinstance(rule, str) else ""
    if word in (REFUSE, PRESENT):
        return np.full_like(values, np.nan)
    if isinstance(rule, dict) and rule:
        checks.columns(names, missing=rule)
        for name, value in rule.items():
            column = list(names).index(name)
            number = checks.finite(**{f"missing.{name}": value})
            if not box.lower[column] <= number <= box.upper[column]:
                raise InputError(f"missing.{name} is {number:g}; it must lie within bounds.{name}")
            # -0.0 is 0.0, in the text of a request too.
            values[column] = number + 0.0
        return values
    if word != MIDDLE:
        raise InputError(
            f"missing is {checks.shown(rule)}; it must be {MIDDLE!r}, {REFUSE!r}, "
            f"{f'{PRESENT!r}, ' * present}or a table of column = value with columns among "
            f"{', '.join(names)}"
        )
    return values


def check_codes(*, missing_values: object) -> dict[str, list[Any]] | list[Any]:
    """Return codes of missing values, of all columns or by column, each a text or a number."""
    table: dict[str, Any] = (
        missing_values if isinstance(missing_values, dict) else {"": missing_values}
    )
    for name, codes in table.items():
        known = isinstance(codes, list | tuple) and all(
            isinstance(code, str | Real) and not isinstance(code, bool | np.bool) for code in codes
        )
        if not known or not codes:
            raise InputError(
                f"missing_values{name and '.'}{name} is {checks.shown(codes)}; give a list of "
                'texts and numbers, as ["-999", "?"], or a table of column = list'
            )
    if isinstance(missing_values, dict):
        return {name: [*codes] for name, codes in missing_values.items()}
    return [*table[""]]


def code_book(
    stated: dict[str, list[Any]] | list[Any] | None,
    names: Sequence[str],
    box: Box | None,
    dialect: notation.Dialect,
) -> dict[str, notation.Codes]:
    """Return the codes of missing values of each column that has any, beside those of all files.

    Args:
        stated: result of :func:`check_codes`.
        names: columns, m.
        box: their bounds; None where nobody knows any.
        dialect: how the file writes numbers, and so a code that is one.

    Raises:
        InputError: a code is a number within the bounds, where records may have it as a value; a
            text that is no missing value, such as true; or of another column.
    """
    table = stated if isinstance(stated, dict) else dict.fromkeys(names, stated or [])
    checks.columns(names, missing_values=table)
    book = {}
    for i, name in enumerate(names):
        numbers, texts = set(), set()
        for code in table.get(name, []):
            number = _number_of(code, dialect)
            if number is None:
                texts.add(code.strip().lower())
            elif not np.isnan(number):
                numbers.add(number + 0.0)
        for number in numbers:
            if box and box.lower[i] <= number <= box.upper[i]:
                remedy = (
                    "leave it out"
                    if isinstance(stated, dict)
                    else 'state codes by column, as missing_values = {age = ["-999"]}'
                )
                raise InputError(
                    f"missing_values has {number:g}, which lies within bounds.{name}, where a "
                    f"record may have it as its value; state bounds without it, or {remedy}"
                )
        if booleans := texts & {*notation.BOOLEANS}:
            raise InputError(
                f"missing_values has {min(booleans)!r}, which counts as a number; leave it out"
            )
        if numbers or texts - MISSING:
            book[name] = notation.Codes((*sorted(numbers),), (*sorted(texts - MISSING),))
    return book


def categories(
    column: str, stated: Sequence[Any], dialect: notation.Dialect
) -> notation.Categories:
    """Return the categories of a column; each stands for cells as a code does.

    Raises:
        InputError: there is one alone, one is empty, no finite number or no text on one line, or
            two stand for the same cells.
    """
    names: dict[str | float, str] = {}
    for one in stated:
        key = notation.meaning(one, dialect)
        if key is None or key == "" or (isinstance(key, float) and not math.isfinite(key)):
            raise InputError(
                f"categories.{column} has {checks.shown(one)}, which stands for no value; leave it "
                "out, as a missing value is in no group"
            )
        # No two numbers have one name.
        name = one.strip() if isinstance(one, str) else words.exact(float(key))
        if not name.isprintable():
            raise InputError(
                f"categories.{column} has {checks.shown(one)}; each must be a text on one line"
            )
        if key in names:
            raise InputError(
                f"categories.{column} has {names[key]!r} and {name!r}, which stand for the same "
                "cells; leave one out"
            )
        names[key] = name
    if len(names) < 2:
        raise InputError(
            f"categories.{column} has one category; state two or more, or leave by and categories "
            "out"
        )
    return notation.Categories((*names.values(),), (*names,))


def _number_of(code: Any, dialect: notation.Dialect) -> float | None:
    """Return the number that a code is or states, in the file's own decimals; None of a text."""
    if not isinstance(code, str):
        with contextlib.suppress(OverflowError):
            return float(code)
        return math.copysign(math.inf, code)
    for way in (dialect, notation.USUAL):
        with contextlib.suppress(ValueError):
            return notation.value(code, way)
    return None


def describe_codes(book: notation.CodeBook) -> str:
    """Return what else counts as a missing value, as the end of a sentence."""
    kinds: dict[notation.Codes, list[str]] = {}
    for name, codes in book.items():
        if isinstance(codes, notation.Codes):
            kinds.setdefault(codes, []).append(name)
    parts = [
        ", ".join([*map(words.exact, codes.numbers), *map(repr, codes.texts)])
        + f" of {words.join_columns(columns)}"
        for codes, columns in kinds.items()
    ]
    return f"; as missing count also {', and '.join(parts)}" * bool(parts)


def describe_fill(
    names: Sequence[str], values: Array, *, left_out: bool, shrinks: bool = False
) -> str:
    """Return what becomes of a missing value, by column; it is public.

    Args:
        names: columns, m.
        values: result of :func:`fill`.
        left_out: whether the answer leaves them out, as the mean of the values present.
        shrinks: whether records are shortened to a public norm.
    """
    if left_out:
        return (
            "a missing value counts in no column: neither in a sum nor in the number by which it "
            "is divided"
        )
    if np.isnan(values).any():
        return "a missing value ends the release"
    pairs = zip(names, values, strict=True)
    replacements = words.join_columns([f"{name} {value:.10g}" for name, value in pairs])
    if shrinks:
        return (
            f"a missing value becomes {replacements} before its record is shortened to "
            "max_norm, and moves the answer"
        )
    return f"a missing value counts as {replacements}, towards which it moves the answer"
