"""The specification of a release: what is asked of which records, in public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from matrixdp.checks import Array
from matrixdp.mechanisms.base import Mechanism
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.scaled import MinMaxScaled
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import (
    Query,
)
from matrixdp.release import ledger, missing, readers
from matrixdp.release.keys import (
    CLIPPED,
    IN_PARTS,
    MECHANISMS,
    RECOMMENDED,
)
from matrixdp.release.outputs import OUTPUTS, Output
from matrixdp.release.people import People


@dataclass(frozen=True)
class Specification:
    """A release as its file specifies it."""

    file: Path
    #: The class of what is released.
    output_type: type[Output]
    #: Columns of the file, in the order of the bounds; a target comes last.
    columns: tuple[str, ...]
    #: The public bounds of these columns.
    box: Box
    #: All keys of the file but ``file`` and ``account``; their values are public.
    terms: Mapping[str, Any]
    #: The query on scaled records, so that no column's unit matters.
    query: Query
    #: Shift and scale of :meth:`scaled`, (m,) each, in the columns' units.
    middle: Array
    half: Array
    #: Epsilon and delta of this release; a delta of 0 asks for pure DP.
    epsilon: float
    delta: float
    #: A name in :mod:`matrixdp.release.keys`: of ``MECHANISMS``, of ``IN_PARTS``, or ``recommend``.
    mechanism: str
    #: Name of the column that a regression predicts, or empty.
    target: str
    #: Budget of all releases of the account, see :func:`ledger.total`; None takes the account's.
    total: Mapping[str, float] | None
    #: Replacement of a missing value in each column, (m,); NaN where it ends the release instead,
    #: or is left out (:attr:`leaves_missing_out`).
    fill: Array
    #: Path of the account, if it is not beside the file of records.
    account: Path | None = None
    #: Number of principal components.
    number: int = 1
    #: Penalty of a regression's coefficients, that of scikit-learn's ``Ridge``.
    alpha: float = 0.0
    #: Whether a regression has an intercept.
    intercept: bool = True
    #: Column of people, and how many records of each count; None where records are protected.
    people: People | None = None
    #: Largest mu of the release, where releases share a total by weights.
    mu: float | None = None
    #: Text that makes a request new that otherwise equals an earlier one.
    label: str = ""
    #: How a file of CSV is written.
    dialect: readers.Dialect = readers.USUAL
    #: Records in memory, a data frame or an array, in place of those in ``file``, its name.
    frame: Any = field(default=None, compare=False, repr=False)

    @property
    def query_name(self) -> str:
        """Value of the key ``query``."""
        return self.output_type.name

    @property
    def name(self) -> str:
        """Name of the release among several of one file."""
        return self.label or self.query_name

    @property
    def output(self) -> Output:
        """What is read from the release, in the columns' own units."""
        values = {"count": self.number, "alpha": self.alpha, "intercept": self.intercept}
        names = self.output_type.__dataclass_fields__
        return self.output_type(
            columns=self.columns,
            box=self.box,
            query=self.query,
            middle=self.middle,
            half=self.half,
            **{name: value for name, value in values.items() if name in names},
        )

    @property
    def leaves_missing_out(self) -> bool:
        """Whether a missing value is left out, of a mean of the values present or of bounds."""
        return self.output_type.leaves_missing_out and self.terms.get("missing") != missing.REFUSE

    def by(self, mechanism: str) -> Specification:
        """Return the same release by another mechanism, with the query that this one answers."""
        query, middle, half = self.output_type.build_query(
            *(self.box, self.query.n_records, self.query.adjacency),
            mechanism=mechanism,
            in_parts=mechanism in IN_PARTS,
            per_person=self.query.per_person,
            max_norm=self.terms.get("max_norm"),
        )
        return replace(self, mechanism=mechanism, query=query, middle=middle, half=half)

    @property
    def in_file(self) -> bool:
        """Whether the records are in a file, so that a request has an answer to find again."""
        return self.frame is None and bool(self.file.name)

    @property
    def relation(self) -> ledger.Relation:
        """The neighbouring relation of the guarantee."""
        return ledger.Relation(self.query.adjacency, self.people.column if self.people else "")


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


def fit(
    query_name: str,
    box: Box,
    records: int,
    *,
    epsilon: float,
    delta: float,
    mechanism: str = RECOMMENDED,
    per_person: int | None = None,
    alpha: float = 0.0,
    intercept: bool = True,
    max_norm: float | None = None,
) -> Specification:
    """Return the specification of a release of an array, without a file; a target comes last."""
    output_type = OUTPUTS[query_name]
    query, middle, half = output_type.build_query(
        *(box, records, "replace"),
        mechanism=mechanism,
        in_parts=mechanism in IN_PARTS,
        per_person=per_person,
        max_norm=max_norm,
    )
    return Specification(
        file=Path(),
        output_type=output_type,
        columns=tuple(map(str, range(box.features))),
        box=box,
        terms={} if max_norm is None else {"max_norm": max_norm},
        query=query,
        middle=middle,
        half=half,
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        target="",
        total=None,
        fill=middle,
        number=box.features,
        alpha=alpha,
        intercept=intercept,
    )
