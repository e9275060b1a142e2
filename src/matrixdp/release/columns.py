"""The columns that are asked of records by their names, and the blocks that are read of them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from matrixdp.checks import Array, InputError, plural
from matrixdp.privacy.domain import block_rows
from matrixdp.release.people import appearance

#: Messages show no values, as they end up in logs. A refused release reveals something about a
#: record, and so does leaving records out.
REMEDY = (
    "turn dates and words into plain numbers, as -1500, without units or marks of thousands, "
    "leave a missing value empty, delete lines of units or totals, and leave no record out for "
    "what is in it"
)

#: Records per block, at most: enough that the overhead per block is small.
_ROWS = 1 << 14

#: Records (k, m), and the identifiers of their people, empty unless they are asked for.
Block = tuple[Array, Sequence[object]]


def block_size(columns: Sequence[str]) -> int:
    """Return the number of records of a block of these columns."""
    return block_rows(len(columns), _ROWS)


def find_places(
    path: Path, header: Sequence[str], columns: Sequence[str], person: str, kind: str
) -> tuple[list[int], int]:
    """Return the places of the columns, and of that of people, 0 where nobody asks for it."""
    names = [*columns, *([person] if person else [])]
    for name in names:
        if not header:
            raise InputError(f"{path} is empty; give a file of records with the column {name!r}")
        if name not in header:
            # The line may be a record. So quote a cell only if it is the public name but for how
            # it is written, or one near it in a line that has another public name.
            alike = [label for label in header if _plain(label) == _plain(name)]
            near = alike
            if not near and {*names} & {*header}:
                # Where a sign ends lines for others, records may stand in this one.
                labels = filter(str.isprintable, header)
                near = difflib.get_close_matches(name, [*labels], n=1, cutoff=0.8)
            hint = f"did you mean {near[0]!r}?" if near else "correct the name, or the file"
            if kind == "column number":
                hint = "columns of an array go by their numbers from 0"
            elif not name.isprintable():
                hint = "a backslash is one in single quotes alone, so write the name in these"
            elif alike and not (name + alike[0]).isascii():
                hint = "copy the name from there, which has other signs that look alike"
            raise InputError(f"{path} has no {name!r} among {plural(len(header), kind)}; {hint}")
        if header.count(name) > 1:
            raise InputError(f"{path} has the column {name!r} twice; rename one")
    places = [header.index(name) for name in names]
    return places[: len(columns)], places[-1] if person else 0


def _plain(name: str) -> str:
    """Return how a name looks without capitals, and quotes and blanks around it."""
    return appearance(name).strip(" \"'").lower()
