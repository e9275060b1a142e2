"""Kept texts and their comparison: words to the letter, numbers to the last printed digit."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

FOLDER = Path(__file__).with_name("golden")

_NUMBER = re.compile(
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?"
)

#: So many numbers of a text may be rounded another way, and one in so many beyond them: a tie, or
#: one last bit of another processor.
TIES, ONE_IN = 2, 50


def differences(kept: Sequence[str], now: Sequence[str]) -> str:
    """Return a unified diff of two texts, without numbers that differ in rounding; or nothing."""
    words = [[_NUMBER.sub("#", line) for line in text] for text in (kept, now)]
    merged, rounded = [*now], 0
    for i, j, n in difflib.SequenceMatcher(None, *words, autojunk=False).get_matching_blocks():
        for old, place in zip(kept[i : i + n], range(j, j + n), strict=True):
            pairs = [*zip(_NUMBER.findall(old), _NUMBER.findall(now[place]), strict=True)]
            if all(alike(*pair) for pair in pairs):
                merged[place] = old
                rounded += sum(first != second for first, second in pairs)
    count = sum(len(_NUMBER.findall(line)) for line in kept)
    if rounded > TIES + count // ONE_IN:
        merged = [*now]
    return "\n".join(difflib.unified_diff(kept, merged, "kept", "now", n=1, lineterm=""))


def alike(first: str, second: str) -> bool:
    """Return whether two printed numbers differ by at most one of their last digits."""
    if first == second:
        return True
    numbers = [Decimal(text.replace(",", "")) for text in (first, second)]
    # Whole numbers below a thousand are counts.
    rounded = [
        n.normalize() if "." not in t and n >= 1000 else n
        for n, t in zip(numbers, (first, second), strict=True)
    ]
    step = Decimal(1).scaleb(min(int(number.as_tuple().exponent) for number in rounded))
    return abs(numbers[0] - numbers[1]) <= step and (step != 1 or "." in first + second)


def keep(path: Path, lines: Sequence[str], base: Sequence[str] | None = None) -> None:
    """Keep a text; with a ``base``, a text that is kept too, only what stands otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = [*lines] if base is None else changes(base, lines)
    path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def kept(path: Path, base: Sequence[str] | None = None) -> list[str]:
    """Return a text as it was kept, with the same base; without a file it has no lines."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return lines if base is None else restored(base, lines)


def changes(base: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Return what stands in place of which lines of a base: ``@ 3 5`` and new lines for 3 and 4."""
    matcher = difflib.SequenceMatcher(None, base, lines, autojunk=False)
    result = []
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind != "equal":
            result += [f"@ {i} {j}", *(f"+ {line}" for line in lines[k:m])]
    return result


def restored(base: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Return the lines of which :func:`changes` are given."""
    result, place = [], 0
    for line in lines:
        if line.startswith("@ "):
            start, end = map(int, line.split()[1:])
            result += base[place:start]
            place = end
        else:
            result.append(line[2:])
    return [*result, *base[place:]]
