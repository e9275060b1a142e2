"""What is to be released, from a small TOML file that a person writes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError, nearest
from matrixdp.mechanisms.base import Mechanism
from matrixdp.mechanisms.gaussian import GOE, AnalyzeGauss, Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.moments import with_constant
from matrixdp.practice import ledger
from matrixdp.practice.answers import WITH_CONSTANT
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import (
    ADJACENCIES,
    IdentityQuery,
    MeanQuery,
    Query,
    SecondMomentQuery,
)

#: From what is asked for to the query whose noisy value gives it.
QUERIES: dict[str, type[Query]] = {
    "records": IdentityQuery,
    "mean": MeanQuery,
    "second_moments": SecondMomentQuery,
    "covariance": SecondMomentQuery,
    "components": SecondMomentQuery,
    "first_component": SecondMomentQuery,
    "regression": SecondMomentQuery,
}
RECOMMENDED = "recommend"
MECHANISMS: dict[str, Mechanism] = {
    "laplace": Laplace(),
    "gaussian": Gaussian(),
    "goe": GOE(),
    "analyze_gauss": AnalyzeGauss("analytic"),
}

_NEEDED = ("file", "query", "records", "epsilon", "bounds")
_OPTIONAL = (
    *("delta", "total", "account", "planned", "label", "mechanism", "importance"),
    *("target", "number", "radius", "adjacency", "missing", "public"),
)
#: Answer second moments alone.
_SYMMETRIC = ("goe", "analyze_gauss", "clipped")
#: Second moments of records that are clipped to a private radius, about a private mean where the
#: query is, see :mod:`matrixdp.mechanisms.composed`.
CLIPPED = "clipped"
#: Of ``missing``: a missing value gets the middle of its bounds, or ends the release. That it ends
#: tells something of one record, as it does where a cell is no number.
MIDDLE, REFUSE = "middle", "refuse"


@dataclass(frozen=True)
class Specification:
    """A release that is asked for."""

    file: Path
    #: A key of ``QUERIES``.
    asked: str
    #: Of the file, in the order of the bounds, but a target last.
    columns: tuple[str, ...]
    #: The public bounds of these columns.
    box: Box
    #: What the file says, but for the name of the records' file: all of it is public.
    stated: Mapping[str, Any]
    #: On records whose bounds are of one size, so that no column's unit counts; and what makes them
    #: so, (m,) each, see :meth:`scaled`.
    query: Query
    middle: Array
    half: Array
    #: Of this release; delta 0 asks for a pure guarantee.
    epsilon: float
    delta: float
    #: A key of ``MECHANISMS``, ``clipped`` or ``recommend``.
    mechanism: str
    #: Of each part of a record that the query has, or None.
    importance: tuple[float, ...] | None
    #: The column that a regression explains, or empty.
    target: str
    #: Of all releases of the account together, see :func:`ledger.total`; None: that of the account.
    total: Mapping[str, float] | None
    #: What stands for a missing value of each column, (m,); NaN ends the release instead.
    fill: Array
    #: Where the account is, if not beside the file of records.
    account: Path | None = None
    #: Releases of the account in all, those made included, if that is planned.
    planned: int | None = None
    #: Of components, the first ones.
    number: int = 1
    #: Tells requests apart that are the same otherwise.
    label: str = ""
    #: Whether the records are known to all, as those of a textbook.
    public: bool = False

    def scaled(self, rows: Array) -> Array:
        """Return records, one per row, as the query has them: some with a constant."""
        # Clipped first, so that no value is too large for what follows.
        clipped = np.clip(rows, self.box.lower, self.box.upper)
        records: Array = (clipped - self.middle) / self.half
        return with_constant(records) if self.constant else records

    @property
    def constant(self) -> bool:
        """Whether the query's records have a constant, before their last column."""
        return self.asked in WITH_CONSTANT and self.mechanism != CLIPPED


def read(path: Path) -> Specification:
    """Return what a file asks for; relative paths in it are relative to its folder.

    Raises:
        InputError: the file is not TOML, or a key is missing, unknown or out of range.
    """
    with checks.said(f"{path} cannot be read as TOML ({{why}}); correct it"):
        asked = tomllib.loads(path.read_text(encoding="utf-8"))
    for key in asked:
        if key not in (*_NEEDED, *_OPTIONAL):
            raise InputError(f"{path}: {key} is unknown; {nearest(key, (*_NEEDED, *_OPTIONAL))}")
    for key in _NEEDED:
        if key not in asked:
            raise InputError(f"{path}: {key} is missing; add it (see `matrixdp release --help`)")
    for key in ("file", "account", "label", "target"):
        value = asked.get(key, "a")
        if not isinstance(value, str) or not value or not value.isprintable():
            raise InputError(f"{path}: {key} is {value!r}; it must be a text on one line")
    try:
        return _checked(path, asked)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _checked(path: Path, asked: dict[str, Any]) -> Specification:
    kind = checks.choice(QUERIES, query=asked["query"])
    bounds = asked["bounds"]
    if not isinstance(bounds, dict) or not bounds:
        raise InputError(f"bounds is {bounds!r}; give a table of column = [lowest, highest]")
    for name, sides in bounds.items():
        if not isinstance(sides, list) or len(sides) != 2:
            raise InputError(f"bounds.{name} is {sides!r}; it must be [lowest, highest]")
        low, high = (checks.finite(**{f"bounds.{name}": side}) for side in sides)
        if low >= high:
            raise InputError(f"bounds.{name} is {sides}; the lowest must be below the highest")
    target, names = asked.get("target", ""), list(bounds)
    if (kind == "regression") != (target in names):
        raise InputError(
            f"target is {target!r} for the query {kind!r}; a regression, and no other query, needs "
            f"one of the columns {', '.join(names)}"
        )
    if target and len(names) < 2:
        raise InputError(
            f"bounds has the target {target!r} alone; add a column that explains it to the bounds"
        )
    if target:
        names.append(names.pop(names.index(target)))
    box = Box(*zip(*(bounds[name] for name in names), strict=True))
    middle, half = box.middle, box.widths / 2
    mechanism = checks.choice(
        (RECOMMENDED, *MECHANISMS, CLIPPED), mechanism=asked.get("mechanism", RECOMMENDED)
    )
    constant = kind in WITH_CONSTANT and mechanism != CLIPPED
    domain: Box | Ball = Box.cube(len(names) + constant, -1.0, 1.0)
    if "radius" in asked:
        middle = np.zeros(box.features)
        half = np.full(box.features, checks.positive(radius=asked["radius"]))
        domain = Ball(np.sqrt(2) if constant else 1, domain.features)
    elif kind == "second_moments":
        middle, half = np.zeros(box.features), box.magnitudes
        domain = Box(*((np.array(side) / half).tolist() for side in (box.lower, box.upper)))
    adjacency = checks.choice(ADJACENCIES, adjacency=asked.get("adjacency", "replace"))
    query = QUERIES[kind](domain, asked["records"], adjacency)
    delta = asked.get("delta", 0)
    epsilon = checks.positive(epsilon=asked["epsilon"])
    if delta != 0:
        checks.open_unit(delta=delta)
    importance = asked.get("importance")
    if importance is not None:
        if not isinstance(importance, dict) or set(importance) - set(names):
            raise InputError(f"importance is {importance!r}; give a table of column = weight")
        weights = [checks.positive(**{f"importance.{n}": importance.get(n, 1.0)}) for n in names]
        # The constant weighs as the mean column.
        weights[-1:-1] = [float(np.mean(weights))] if constant else []
        importance = tuple(weights)
    public = asked.get("public", False)
    if not isinstance(public, bool):
        raise InputError(f"public is {public!r}; it must be true or false")
    if mechanism in _SYMMETRIC and QUERIES[kind] is not QUERIES["second_moments"]:
        raise InputError(
            f"mechanism is {mechanism!r}, which answers queries on second moments alone; take "
            f"laplace or gaussian for the query {kind!r}"
        )
    if not delta and mechanism not in (RECOMMENDED, "laplace"):
        raise InputError(f"delta is 0, and {mechanism} needs one; state a delta, or take laplace")
    if mechanism == CLIPPED and importance is not None:
        raise InputError(
            "importance has no meaning for the mechanism 'clipped', whose noise is the same in all "
            "directions; leave it out, or take another mechanism"
        )
    number = checks.count(number=asked.get("number", len(names) if kind == "components" else 1))
    if number > len(names) or ("number" in asked and kind != "components"):
        raise InputError(
            f"number is {number} for the query {kind!r}; it is that of components, from 1 to "
            f"{len(names)}, and of no other query"
        )
    planned = asked.get("planned")
    return Specification(
        file=path.parent / asked["file"],
        asked=kind,
        columns=tuple(names),
        box=box,
        stated={key: value for key, value in asked.items() if key not in ("file", "account")},
        query=query,
        middle=middle,
        half=half,
        epsilon=epsilon,
        delta=float(delta),
        mechanism=mechanism,
        importance=importance,
        target=target,
        total=ledger.total(asked["total"]) if "total" in asked else None,
        fill=_fill(box, names, asked.get("missing", MIDDLE)),
        account=path.parent / asked["account"] if "account" in asked else None,
        planned=None if planned is None else checks.count(planned=planned),
        number=number,
        label=asked.get("label", ""),
        public=public,
    )


def _fill(box: Box, names: list[str], missing: object) -> Array:
    """Return what stands for a missing value of each column, NaN where none does."""
    fill = box.middle
    if missing == REFUSE:
        return np.full_like(fill, np.nan)
    if isinstance(missing, dict) and set(missing) <= set(names):
        for name, value in missing.items():
            column = names.index(name)
            number = checks.finite(**{f"missing.{name}": value})
            if not box.lower[column] <= number <= box.upper[column]:
                raise InputError(f"missing.{name} is {number:g}; it must lie within bounds.{name}")
            fill[column] = number
        return fill
    if missing != MIDDLE:
        raise InputError(
            f"missing is {missing!r}; it must be {MIDDLE!r}, {REFUSE!r}, or a table of "
            f"column = value with columns among {', '.join(names)}"
        )
    return fill
