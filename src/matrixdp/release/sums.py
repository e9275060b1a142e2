"""Exact sums of parts of the records, which other machines may compute, merged in any order.

A part's sums are whole numbers on the lattice of a query, see
:mod:`matrixdp.privacy.exact_sums`, so that merged ones are those of all records, to the last bit.
They hold what their records hold: whoever sees them knows as much as if no noise were added.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import Array, InputError, as_input_error, shown
from matrixdp.isolation import isolate
from matrixdp.release import durable

#: What a file of sums says of itself.
_FORMAT = "matrixdp sums 1"


@isolate
@dataclass(frozen=True, repr=False, eq=False)
class Sums:
    """Sums of parts for one request; :func:`matrixdp.sums` makes them, and ``+`` merges them.

    They are as secret as the records: keep files of them as you keep these. ``repr`` shows no
    number, and :meth:`save` writes a file that its owner alone can read.

    Attributes:
        request: digest of what all parts were summed for.
        table: the keys of this request, as a TOML file would have them.
        account: path of the account to which a release is charged, as the parts name it.
        parts: identities of the parts: of what each holds, and of where it lies.
        count: number of the records.
        steps: their sums in steps of the lattice, whole numbers of Python (m, 1) or (m, m).

    >>> keys = {"bounds": (0, 1), "records": 3, "missing": "refuse", "account": "a.privacy.json"}
    >>> first, second = (mdp.sums("mean", np.eye(3)[i], **keys) for i in ([0, 1], [2]))
    >>> first + second == second + first
    True
    """

    request: str
    table: dict[str, Any]
    account: str
    parts: frozenset[str]
    count: int
    steps: NDArray[np.object_]

    def __add__(self, other: object) -> Sums:
        if not isinstance(other, Sums):
            return NotImplemented
        if other.request != self.request:
            raise InputError(
                "the parts were summed for two requests; sum all of them for the same query, "
                "bounds, records and other keys"
            )
        if other.account != self.account:
            raise InputError(
                f"the parts name two accounts, {self.account} and {other.account}; state one for "
                "all of them"
            )
        if self.parts & other.parts:
            raise InputError(
                "a part is on both sides, or a copy of it, as after a task that ran twice, and its "
                "records would count twice; leave it out of one, or join two parts that are equal "
                "by chance before they are summed"
            )
        steps, count = self.steps + other.steps, self.count + other.count
        return replace(self, parts=self.parts | other.parts, count=count, steps=steps)

    def __radd__(self, other: object) -> Sums:
        # The sum() of Python begins with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sums):
            return NotImplemented
        names = ("request", "account", "parts", "count")
        same = all(getattr(self, name) == getattr(other, name) for name in names)
        return same and self.steps.tolist() == other.steps.tolist()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Sums(for {self.table['query']!r}, as secret as the records)"

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [*self.table["bounds"]]

    def save(self, path: str | os.PathLike) -> None:
        """Write the sums to a file that its owner alone can read.

        Raises:
            InputError: it cannot be written.
        """
        file = Path(path)
        with durable.explain(file, "{cure}, or give another path"):
            # Neither what it replaces nor what a killed process left lends it its mode.
            for old in (file, durable.part(file)):
                old.unlink(missing_ok=True)
            durable.write(file, json.dumps(self._content()), 0o600)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Return the sums in a file of :meth:`save`.

        Raises:
            InputError: it cannot be read, or holds no sums.
        """
        sentence = f"{shown(os.fspath(path))} cannot be read as sums of parts"
        with as_input_error(sentence, "sum this part again"):
            stored = json.loads(Path(path).read_text(encoding="utf-8"))
            if stored.pop("format") != _FORMAT:
                raise ValueError
            steps = np.array(stored.pop("steps"), dtype=object)
            return cls(**{**stored, "parts": frozenset(stored["parts"])}, steps=steps)

    def _content(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "request": self.request,
            "table": self.table,
            "account": self.account,
            "parts": sorted(self.parts),
            "count": self.count,
            "steps": self.steps.tolist(),
        }


class Identities:
    """The identities of a part, of its place or name and of its records in their order.

    A part without records holds nothing by which it could be told from another one.
    """

    def __init__(self, places: Iterable[str]) -> None:
        self._names = {hashlib.sha256(f"place {place}".encode()).hexdigest() for place in places}
        self._records, self._any = hashlib.sha256(b"records "), False

    def note(self, rows: Array) -> Array:
        """Return records (k, m), which are read in any blocks."""
        self._any |= bool(rows.size)
        self._records.update(np.ascontiguousarray(rows, dtype="<f8").tobytes())
        return rows

    @property
    def parts(self) -> frozenset[str]:
        """The identities of all that was noted."""
        return frozenset(self._names | ({self._records.hexdigest()} if self._any else set()))
