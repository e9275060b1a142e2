"""The keys of a specification: what each one may be, and which outputs have it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.gaussian import AnalyzeGauss, Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.mechanisms.scaled import unscaled
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE, Query
from matrixdp.release import ledger, missing, notation, tables
from matrixdp.release.bounds import BoundsLike, pair
from matrixdp.release.outputs import OUTPUTS, READINGS, Moments, Output, every
from matrixdp.release.outputs.output import CLIPPED
from matrixdp.release.specification import RECOMMENDED

#: Neighbouring relations of a specification; queries in Python have another, zero_out.
RELATIONS = ("replace", ADD_OR_REMOVE)
MECHANISMS: dict[str, Mechanism] = {
    "laplace": Laplace(),
    "gaussian": Gaussian(),
    "analyze_gauss": AnalyzeGauss(),
}
#: Mechanisms for second moments only.
SYMMETRIC = ("analyze_gauss", CLIPPED)


def key_of(mechanism: Mechanism) -> str:
    """Return the key of a mechanism in a specification; its class name where it has none."""
    inner = unscaled(mechanism)
    if isinstance(inner, Centred | PrivatelyClipped):
        return CLIPPED if inner in (Centred(), PrivatelyClipped()) else ""
    return next((name for name, one in MECHANISMS.items() if one == inner), "")


def name_of(query: Query) -> str:
    """Return the name of a query in a specification; its own where it has none."""
    names = (name for name, output in OUTPUTS.items() if output.query_type is type(query))
    return next(names, query.name)


def check_total(**argument: Any) -> dict[str, float]:
    """Return the total of an account; the parts that it reserves are stated in Python alone."""
    ((_, stated),) = argument.items()
    if isinstance(stated, dict) and set(stated) - {"epsilon", "delta"}:
        raise InputError(f"total is {checks.shown(stated)}; give {{epsilon = ..., delta = ...}}")
    return ledger.total(stated)


def _bounds(*, bounds: object) -> dict[str, list[float]]:
    """Return the bounds [lowest, highest] by column."""
    if not isinstance(bounds, dict) or not bounds:
        raise InputError(
            f"bounds is {checks.shown(bounds)}; give a table of column = [lowest, highest], and "
            "put a name with # in quotes"
        )
    return {name: [*pair(sides, f"bounds.{name}")] for name, sides in bounds.items()}


def _names(*, columns: object) -> list[str]:
    """Return a list of different texts."""
    texts = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
    if not texts or not 0 < len(set(columns)) == len(columns):  # type: ignore[call-overload, arg-type]
        raise InputError(
            f'columns is {checks.shown(columns)}; give different names, as columns = ["age", "bmi"]'
        )
    return columns  # type: ignore[return-value]


def _file(*, file: object) -> str | list[str]:
    """Return the path of records, or a list of those of parts in one folder."""
    if not isinstance(file, list):
        return checks.text(file=file)
    names = [checks.text(file=name) for name in file]
    if len({os.path.dirname(name) for name in names}) != 1 or len({*names}) < len(names):
        raise InputError(
            f"file is {checks.shown_public(file)}; give different parts of one folder, beside "
            "which their account lies"
        )
    for name in names:
        if not name.lower().endswith(tables.PARTS):
            raise InputError(
                f"file has {name!r}, which is no part of {' or '.join(tables.PARTS)}; "
                f"{tables.conversion(Path(name))}"
            )
    return names


def _categories(*, categories: object) -> dict[str, list[Any]]:
    """Return the categories of each column, texts and numbers."""
    if not isinstance(categories, dict) or not categories:
        raise InputError(
            f"categories is {checks.shown(categories)}; give a table of column = list, as "
            '{region = ["north", "south"]}'
        )
    for name, stated in categories.items():
        known = isinstance(stated, list | tuple) and all(
            isinstance(one, str | Real | np.bool) for one in stated
        )
        if not known or not stated:
            raise InputError(
                f"categories.{name} is {checks.shown(stated)}; give a list of texts and numbers, "
                'as ["north", "south"]'
            )
    return {name: [*stated] for name, stated in categories.items()}


def _mark(allowed: Collection[str], **argument: object) -> str:
    """Return one of the marks between values or digits."""
    ((name, value),) = argument.items()
    if not isinstance(value, str) or value not in allowed:
        marks = ", ".join(map(json.dumps, allowed))
        raise InputError(
            f"{name} is {checks.shown(value)}; it must be one of {marks}, in double quotes"
        )
    return value


def _query(*, query: object) -> object:
    """Return the name of an answer, or a tuple of several that are read from one release."""
    if not isinstance(query, list):
        return checks.choice(every(), query=query)
    for name in query:
        if not isinstance(name, str) or name not in READINGS:
            names = ", ".join(READINGS)
            # A list of numbers may be records.
            kind = type(name).__name__
            article = "an" if kind[0] in "aeiou" else "a"
            shown = checks.shown(name) if isinstance(name, str) else f"{article} {kind}"
            raise InputError(
                f"query has {shown}, and a list has answers that are read from one release of "
                f"moments; take some of {names}, or a request of its own for another"
            )
    if len({*query}) < max(len(query), 2):
        raise InputError(
            f"query is {checks.shown_public(query)}; give different answers, two or more, or the "
            "name of one without brackets"
        )
    return (*query,)


#: The default of a key that must be stated.
NEEDED = object()


class Key(NamedTuple):
    """A key of the file.

    Attributes:
        check: returns the value as a release uses it, from the key and what is stated.
        default: the value where nothing is stated, or ``NEEDED``.
        remedy: what to do where it is missing.
    """

    check: Callable[..., Any]
    default: Any = None
    remedy: str = "add it (see `matrixdp release --help`)"


#: Keys of the outputs that list them.
_LISTED = {name for output in every().values() for name in output.keys} | {*Moments.keys}


def allows(output_type: type[Output], name: str) -> bool:
    """Return whether an output has the key of a name."""
    return name in output_type.keys if name in _LISTED else name not in output_type.lacks


#: All keys. What several of them must be together, :mod:`matrixdp.release.parser` checks.
KEYS = {
    "file": Key(_file, NEEDED),
    "query": Key(_query, NEEDED),
    "records": Key(checks.count, NEEDED),
    "epsilon": Key(checks.budget, NEEDED),
    "bounds": Key(
        _bounds,
        NEEDED,
        "add a table of column = [lowest, highest]; `matrixdp bounds` finds some in private",
    ),
    "columns": Key(_names, NEEDED, 'add those whose bounds to find, as columns = ["age", "bmi"]'),
    "delta": Key(checks.delta, 0.0),
    "total": Key(check_total),
    "account": Key(checks.text),
    "label": Key(checks.text, ""),
    "mechanism": Key(partial(checks.choice, (RECOMMENDED, *MECHANISMS, CLIPPED)), RECOMMENDED),
    "target": Key(checks.text, NEEDED, "add that of the columns that is predicted"),
    "number": Key(checks.count),
    "alpha": Key(checks.not_negative, 0.0),
    "intercept": Key(checks.flag, True),
    "mean_weight": Key(checks.size),
    "by": Key(checks.text),
    "categories": Key(_categories),
    "max_norm": Key(checks.size),
    "adjacency": Key(partial(checks.choice, RELATIONS), "replace"),
    "person": Key(checks.text),
    "per_person": Key(checks.count),
    # Checked beside the bounds, within which a value lies.
    "missing": Key(lambda *, missing: missing, missing.MIDDLE),
    "missing_values": Key(missing.check_codes),
    "separator": Key(partial(_mark, notation.SEPARATORS)),
    "decimal": Key(partial(_mark, notation.DECIMALS)),
}


#: What ``query`` and ``mechanism`` may be, for editors and type checkers.
QueryName = Literal[
    "records",
    "mean",
    "second_moments",
    "covariance",
    "components",
    "regression",
    "counts",
    "bounds",
]
MechanismName = Literal["recommend", "laplace", "gaussian", "analyze_gauss", "clipped"]


class Settings(TypedDict, total=False):
    """The keys that a request for records in memory may have, as Python states them.

    What each may be, and where it has a meaning, ``KEYS`` checks. None stands for nothing stated.
    """

    query: QueryName | Sequence[QueryName] | None
    records: int | None
    epsilon: float | None
    bounds: BoundsLike | None
    columns: Sequence[Any] | None
    delta: float | None
    total: Mapping[str, float] | None
    label: str | None
    mechanism: MechanismName | None
    target: str | int | None
    number: int | None
    alpha: float | None
    intercept: bool | None
    mean_weight: float | None
    by: str | int | None
    categories: Mapping[Any, Sequence[str | float]] | None
    max_norm: float | None
    adjacency: Literal["replace", "add_or_remove"] | None
    person: str | int | None
    per_person: int | None
    missing: Literal["refuse", "middle", "present"] | Mapping[Any, float] | None
    missing_values: Sequence[str | float] | Mapping[Any, Sequence[str | float]] | None
