"""The specification of a release: what is asked of which records, in public."""

from __future__ import annotations

import abc
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from matrixdp.checks import Array
from matrixdp.privacy.domain import Box
from matrixdp.release import ledger, missing, notation
from matrixdp.release.people import People

#: Name of the mechanism that a release takes by itself.
RECOMMENDED = "recommend"


@dataclass(frozen=True, kw_only=True)
class Specification(abc.ABC):
    """What is asked: noisy numbers of records within public bounds, by a mechanism and a budget.

    Each value of the key ``query`` is a subclass with its own keys, which says what is read from
    the noisy numbers, see :class:`matrixdp.release.outputs.output.Output`. What identifies a
    request, and so its answer in an account, is in :meth:`request` alone.

    Attributes:
        columns: names of the m columns; a target comes last.
        box: their public bounds.
        records, adjacency, per_person: of the query.
        mechanism: a name in :mod:`matrixdp.release.keys`, or ``recommend``.
        max_norm: l2 norm to which records are shrunk besides, in the columns' units.
        epsilon, delta: guarantee; a delta of 0 asks for pure DP.
        total: budget of all releases of the account, see :func:`ledger.total`; None takes the
            account's.
        mu: largest mu, where releases share a total by weights; infinite of pure ones.
        fill: replacement of a missing value in each column, (m,); NaN where it ends the release
            instead, or is left out (:attr:`skips_missing`).
        mean_weight: weight of the constant in moments that hold the mean, as stated; None takes
            that of :attr:`matrixdp.release.outputs.about_mean.AboutMean.constant_weight`.
        label: text that makes a request new that otherwise equals an earlier one.
        file: path of the records, or of a folder of their parts; an empty one of records in memory.
        dialect: how a file of CSV is written.
        book: what else stands for a missing value in columns.
        parts: names of those parts that are meant where ``file`` is a folder; none for all.
        frame: records in memory, a data frame, an array or merged sums, in place of those in
            ``file``, its name.
        merged: whether there are merged sums alone, so that no record is read again.
        people: column of people, and how many records of each count; None where records are
            protected.
        account: path of the account, if it is not beside the file of records.
        terms: all keys as they were stated, but ``file`` and ``account``; they are public.
    """

    columns: tuple[str, ...]
    box: Box
    records: int
    adjacency: str = "replace"
    mechanism: str = RECOMMENDED
    per_person: int | None = None
    max_norm: float | None = None
    epsilon: float
    delta: float
    total: Mapping[str, float] | None = field(default=None, compare=False)
    mu: float | None = None
    fill: Array = field(compare=False)
    mean_weight: float | None = None
    label: str = ""
    file: Path = Path()
    dialect: notation.Dialect = notation.USUAL
    book: notation.CodeBook = field(default_factory=dict, compare=False)
    parts: tuple[str, ...] = ()
    frame: Any = field(default=None, compare=False, repr=False)
    merged: bool = False
    people: People | None = None
    account: Path | None = None
    terms: Mapping[str, Any] = field(default_factory=dict, compare=False)

    #: Value of the key ``query``.
    name: ClassVar[str]
    #: Whether the last column is explained by the others.
    has_target: ClassVar[bool] = False
    #: Whether a missing value can be left out, in place of being filled.
    leaves_missing_out: ClassVar[bool] = False
    #: Whether sums have weighted counts beside them, whose weight depends on the noise.
    weighted: ClassVar[bool] = False
    #: Keys without a meaning, of those that most outputs have.
    lacks: ClassVar[tuple[str, ...]] = ()

    @property
    def options(self) -> dict[str, Any]:
        """What identifies a request beside what all requests state."""
        return {}

    @property
    def layout(self) -> tuple[tuple[str, ...], Array, notation.CodeBook]:
        """Columns that are read, replacements of missing values in them, and their code book."""
        return self.columns, self.fill, self.book

    def request(self, folder: Path) -> dict[str, Any]:
        """Return all that identifies a request; the file's path is relative to ``folder``."""
        return {
            "file": os.path.relpath(self.file.resolve(), folder) if self.in_file else None,
            "query": self.name,
            "columns": [*zip(self.columns, self.box.lower, self.box.upper, strict=True)],
            "records": self.records,
            "neighbours": self.adjacency,
            "max_norm": self.max_norm or 0.0,
            "target": self.columns[-1] if self.has_target else "",
            "missing": [None if np.isnan(value) else value for value in self.fill.tolist()],
            "guarantee": [self.epsilon, self.delta],
            "mechanism": self.mechanism,
            "label": self.label,
            **({"leaves_missing_out": True} if self.skips_missing else {}),
            **self.options,
            **({"person": [*self.people]} if self.people else {}),
            **({"dialect": [*self.dialect]} if self.dialect != notation.USUAL else {}),
            **({"missing_values": self.book} if self.book else {}),
            **({"parts": [*self.parts]} if self.parts else {}),
        }

    @property
    def release_name(self) -> str:
        """Name of the release among several of one file."""
        return self.label or self.name

    @property
    def skips_missing(self) -> bool:
        """Whether a missing value is left out, of a mean of the values present or of bounds."""
        return self.leaves_missing_out and self.terms.get("missing") != missing.REFUSE

    def by(self, mechanism: str) -> Self:
        """Return the same release by another mechanism, with the query that this one answers."""
        return replace(self, mechanism=mechanism)

    @property
    def in_file(self) -> bool:
        """Whether the records are in a file, so that a request has an answer to find again."""
        return self.frame is None and bool(self.file.name)

    @property
    def relation(self) -> ledger.Relation:
        """The neighbouring relation of the guarantee."""
        return ledger.Relation(self.adjacency, self.people.column if self.people else "")
