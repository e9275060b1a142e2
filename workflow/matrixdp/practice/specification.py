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
from matrixdp.privacy.sensitivity import ADJACENCIES, Covariance, Identity, Mean, Query

#: From what is asked for to the query whose noisy value gives it.
QUERIES: dict[str, type[Query]] = {
    "records": Identity,
    "mean": Mean,
    "second_moments": Covariance,
    "first_component": Covariance,
    "regression": Covariance,
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
    """A release that is asked for.

    Attributes:
        file: of the records.
        asked: a key of ``QUERIES``.
        columns: of the file, in their order.
        bounds: public, lowest and highest value of each column; or the largest norm of a record.
        query: on records whose bounds are of one size, so that no column's unit counts.
        middle, half: what makes them so: a record x becomes (x - middle) / half, (m,) each.
        epsilon, delta: of this release; delta 0 asks for a pure guarantee.
        mechanism: a key of ``MECHANISMS``, or ``recommend``.
        importance: of each column, or None.
        target: the column that a regression explains, or empty.
        total: ``epsilon`` and ``delta`` of all releases of this file together.
        public: whether the records are known to all, as those of a textbook.
    """

    file: Path
    asked: str
    columns: tuple[str, ...]
    bounds: Mapping[str, list[float]] | float
    query: Query
    middle: Array
    half: Array
    epsilon: float
    delta: float
    mechanism: str
    importance: tuple[float, ...] | None
    target: str
    total: Mapping[str, float]
    public: bool = False


def read(path: Path) -> Specification:
    """Return what a file asks for; relative paths in it are relative to its folder.

    Raises:
        InputError: the file is not TOML, or a key is missing, unknown or out of range.
    """
    try:
        asked = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read as TOML ({error}); correct it") from None
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
    columns = tuple(bounds)
    box = Box(*zip(*bounds.values(), strict=True))
    middle, half = np.zeros(box.features), box.magnitudes
    if QUERIES[kind] is not Covariance:
        middle, half = box.widths / 2 + box.lower, box.widths / 2
    lower, upper = (((side - middle) / half).tolist() for side in (box.lower, box.upper))
    domain: Box | Ball = Box(lower, upper)
    if "radius" in asked:
        middle, half = np.zeros(box.features), np.ones(box.features)
        domain = Ball(asked["radius"], len(columns))
    adjacency = checks.choice(ADJACENCIES, adjacency=asked.get("adjacency", "replace"))
    query = QUERIES[kind](domain, asked["records"], adjacency)
    delta = asked.get("delta", 0)
    epsilon = checks.positive(epsilon=asked["epsilon"])
    if delta != 0:
        checks.open_unit(delta=delta)
    target = asked.get("target", "")
    if (kind == "regression") != (target in columns):
        raise InputError(
            f"target is {target!r} for the query {kind!r}; a regression, and no other query, needs "
            f"one of the columns {', '.join(columns)}"
        )
    importance = asked.get("importance")
    if importance is not None:
        if not isinstance(importance, dict) or set(importance) - set(columns):
            raise InputError(f"importance is {importance!r}; give a table of column = weight")
        importance = tuple(checks.positive(**{n: importance.get(n, 1.0)}) for n in columns)
    total = asked.get("total", {"epsilon": epsilon, "delta": delta})
    if not isinstance(total, dict) or set(total) != {"epsilon", "delta"}:
        raise InputError(f"total is {total!r}; give {{epsilon = ..., delta = ...}}")
    public = asked.get("public", False)
    if not isinstance(public, bool):
        raise InputError(f"public is {public!r}; it must be true or false")
    mechanism = asked.get("mechanism", RECOMMENDED)
    return Specification(
        file=path.parent / str(asked["file"]),
        asked=kind,
        columns=columns,
        bounds=domain.radius if isinstance(domain, Ball) else bounds,
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
