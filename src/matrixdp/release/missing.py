"""Missing values: the rule by which a release treats them, which is public."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.privacy.domain import Box
from matrixdp.release import tables
from matrixdp.release.outputs import words

#: Values of ``missing``: a missing value gets the middle of its bounds, or ends the release. An
#: ended release reveals something about one record, as does a cell that is not a number.
MIDDLE, REFUSE = "middle", "refuse"
#: Value of ``missing`` for a mean of the values present.
PRESENT = "present"

#: What a release is told that states no rule.
UNSTATED = (
    "missing is not stated, and what a missing value becomes moves the answer; add "
    'missing = "refuse" if none may be missing, "middle" for the middle of the bounds, '
    '{column = value}, or "present" for a mean of the values present'
)


def can_occur(path: Path) -> bool:
    """Return whether a file's format can have missing values; no record is read.

    An array of integers or booleans has none. A file that is no such array is judged by its suffix.
    """
    try:
        if tables.suffix(path) == ".npy":
            return bool(np.load(path, mmap_mode="r", allow_pickle=False).dtype.kind not in "iub")
    except (OSError, ValueError):
        return True
    return True


def fill(box: Box, names: Sequence[str], rule: object) -> Array:
    """Return the replacement of missing values in each column, (m,); NaN for those without one.

    Raises:
        InputError: ``rule`` is no such word or table, or a value lies outside its bounds.
    """
    values = box.middle
    word = rule if isinstance(rule, str) else ""
    if word in (REFUSE, PRESENT):
        return np.full_like(values, np.nan)
    if isinstance(rule, dict) and rule and set(rule) <= set(names):
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
            f"missing is {checks.shown(rule)}; it must be {MIDDLE!r}, {REFUSE!r}, {PRESENT!r} for "
            f"a mean, or a table of column = value with columns among {', '.join(names)}"
        )
    return values


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
    parts = [f"{name} {value:.10g}" for name, value in zip(names, values, strict=True)]
    if shrinks:
        return (
            f"a missing value becomes {words.join(parts)} before its record is shortened to "
            "max_norm, and moves the answer"
        )
    return f"a missing value counts as {words.join(parts)}, towards which it moves the answer"
