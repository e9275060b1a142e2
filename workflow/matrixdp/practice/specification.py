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
_OPTIONAL = ("delta", "mechanism", "radius", "adjacency", "importance", "target", "total", "public")


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
    #: A key of ``MECHANISMS``, or ``recommend``.
    mechanism: str
    #: Of each part of a record that the query has, or None.
    importance: tuple[float, ...] | None
    #: The column that a regression explains, or empty.
    target: str
    #: Epsilon and delta of all releases of the file together, and ``pure``, a part of epsilon.
    total: Mapping[str, float]
    #: Whether the records are known to all, as those of a textbook.
    public: bool = False

    def scaled(self, rows: Array) -> Array:
        """Return records, one per row, as the query has them; a regression's with a constant."""
        # Clipped first, so that no value is too large for what follows.
        clipped = np.clip(rows, self.box.lower, self.box.upper)
        records: Array = (clipped - self.middle) / self.half
        return np.insert(records, -1, 1.0, axis=1) if self.target else records


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
        checks.array(**{f"bounds.{name}": sides})
    target, names = asked.get("target", ""), list(bounds)
    if (kind == "regression") != (target in names):
        raise InputError(
            f"target is {target!r} for the query {kind!r}; a regression, and no other query, needs "
            f"one of the columns {', '.join(names)}"
        )
    if target:
        names.append(names.pop(names.index(target)))
    box = Box(*zip(*(bounds[name] for name in names), strict=True))
    middle, half = box.middle, box.widths / 2
    domain: Box | Ball = Box.cube(len(names) + bool(target), -1.0, 1.0)
    if "radius" in asked:
        middle = np.zeros(box.features)
        half = np.full(box.features, checks.positive(radius=asked["radius"]))
        domain = Ball(np.sqrt(2) if target else 1, domain.features)
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
        weights = [checks.positive(**{n: importance.get(n, 1.0)}) for n in names]
        # The constant weighs as the mean column.
        weights[-1:-1] = [float(np.mean(weights))] if target else []
        importance = tuple(weights)
    total = asked.get("total", {"epsilon": epsilon, "delta": delta})
    if not isinstance(total, dict) or {"epsilon", "delta"} != set(total) - {"pure"}:
        raise InputError(f"total is {total!r}; give {{epsilon = ..., delta = ...}}")
    for name, value in total.items():
        if name == "epsilon" or value != 0:
            (checks.open_unit if name == "delta" else checks.positive)(**{f"total.{name}": value})
    public = asked.get("public", False)
    if not isinstance(public, bool):
        raise InputError(f"public is {public!r}; it must be true or false")
    mechanism = asked.get("mechanism", RECOMMENDED)
    return Specification(
        file=path.parent / str(asked["file"]),
        asked=kind,
        columns=tuple(names),
        box=box,
        stated={key: value for key, value in asked.items() if key != "file"},
        query=query,
        middle=middle,
        half=half,
        epsilon=epsilon,
        delta=float(delta),
        mechanism=checks.choice((RECOMMENDED, *MECHANISMS), mechanism=mechanism),
        importance=importance,
        target=target,
        total=total,
        public=public,
    )
