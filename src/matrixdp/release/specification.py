"""The specification of a release: what is asked of which records, in public."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.mechanisms.scaled import MinMaxScaled
from matrixdp.privacy.sensitivity import Query
from matrixdp.release import ledger, missing, readers
from matrixdp.release.keys import MECHANISMS
from matrixdp.release.outputs import OUTPUTS, Output
from matrixdp.release.outputs.output import CLIPPED
from matrixdp.release.people import People


@dataclass(frozen=True)
class Specification:
    """A release as its file specifies it."""

    file: Path
    #: What is released, of which columns and records, by which mechanism.
    output: Output
    #: All keys of the file but ``file`` and ``account``; their values are public.
    terms: Mapping[str, Any]
    #: Epsilon and delta of this release; a delta of 0 asks for pure DP.
    epsilon: float
    delta: float
    #: Budget of all releases of the account, see :func:`ledger.total`; None takes the account's.
    total: Mapping[str, float] | None
    #: Replacement of a missing value in each column, (m,); NaN where it ends the release instead,
    #: or is left out (:attr:`leaves_missing_out`).
    fill: Array
    #: Path of the account, if it is not beside the file of records.
    account: Path | None = None
    #: Column of people, and how many records of each count; None where records are protected.
    people: People | None = None
    #: Largest mu of the release, where releases share a total by weights.
    mu: float | None = None
    #: Text that makes a request new that otherwise equals an earlier one.
    label: str = ""
    #: How a file of CSV is written.
    dialect: readers.Dialect = readers.USUAL
    #: What else stands for a missing value in columns.
    book: readers.CodeBook = field(default_factory=dict)
    #: Records in memory, a data frame or an array, in place of those in ``file``, its name.
    frame: Any = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Name of the release among several of one file."""
        return self.label or self.output.name

    def request(self, folder: Path) -> dict[str, Any]:
        """Return all that identifies a request; the file's path is relative to ``folder``."""
        output = self.output
        return {
            "file": os.path.relpath(self.file.resolve(), folder) if self.in_file else None,
            "query": output.name,
            "columns": [*zip(output.columns, output.box.lower, output.box.upper, strict=True)],
            "records": output.records,
            "neighbours": output.adjacency,
            "max_norm": output.max_norm or 0.0,
            "target": output.columns[-1] if output.has_target else "",
            "missing": [None if np.isnan(value) else value for value in self.fill.tolist()],
            "guarantee": [self.epsilon, self.delta],
            "mechanism": output.mechanism,
            "label": self.label,
            **({"leaves_missing_out": True} if self.leaves_missing_out else {}),
            **output.options,
            **({"person": [*self.people]} if self.people else {}),
            **({"dialect": [*self.dialect]} if self.dialect != readers.USUAL else {}),
            **({"missing_values": self.book} if self.book else {}),
        }

    @property
    def leaves_missing_out(self) -> bool:
        """Whether a missing value is left out, of a mean of the values present or of bounds."""
        return self.output.leaves_missing_out and self.terms.get("missing") != missing.REFUSE

    def by(self, mechanism: str) -> Specification:
        """Return the same release by another mechanism, with the query that this one answers."""
        return replace(self, output=replace(self.output, mechanism=mechanism))

    @property
    def in_file(self) -> bool:
        """Whether the records are in a file, so that a request has an answer to find again."""
        return self.frame is None and bool(self.file.name)

    @property
    def relation(self) -> ledger.Relation:
        """The neighbouring relation of the guarantee."""
        return ledger.Relation(self.output.adjacency, self.people.column if self.people else "")


def key_of(mechanism: Mechanism) -> str:
    """Return the key of a mechanism in a specification; its class name where it has none."""
    inner = mechanism.mechanism if isinstance(mechanism, MinMaxScaled) else mechanism
    if isinstance(inner, Centred | PrivatelyClipped):
        return CLIPPED if inner in (Centred(), PrivatelyClipped()) else ""
    return next((name for name, one in MECHANISMS.items() if one == inner), "")


def name_of(query: Query) -> str:
    """Return the name of a query in a specification; its own where it has none."""
    names = (name for name, output in OUTPUTS.items() if output.query_type is type(query))
    return next(names, query.name)
