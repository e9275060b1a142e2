"""The specification of a release: a small TOML file that a person writes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from matrixdp import checks
from matrixdp.checks import Array, InputError, nearest
from matrixdp.mechanisms.base import Mechanism
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.gaussian import AnalyzeGauss, Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.private_bounds import MISSING
from matrixdp.mechanisms.scaled import MinMaxScaled
from matrixdp.privacy import gaussian
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import (
    ADD_OR_REMOVE,
    Query,
    SecondMomentQuery,
)
from matrixdp.release import ledger, missing, tables, toml
from matrixdp.release.outputs import OUTPUTS, PRESENT, Output
from matrixdp.release.people import People

#: Neighbouring relations of a specification; queries in Python have another, zero_out.
RELATIONS = ("replace", ADD_OR_REMOVE)
RECOMMENDED = "recommend"
MECHANISMS: dict[str, Mechanism] = {
    "laplace": Laplace(),
    "gaussian": Gaussian(),
    "analyze_gauss": AnalyzeGauss(),
}

_NEEDED = ("file", "query", "records", "epsilon", "bounds")
_OPTIONAL = (
    *("delta", "total", "account", "label", "mechanism"),
    *("target", "number", "alpha", "intercept", "max_norm", "adjacency", "person", "per_person"),
    *("missing", "separator", "decimal", "columns"),
)
#: The keys of a ``[[release]]``, in a file with several releases.
_EACH = (
    *("query", "weight", "bounds", "label", "mechanism", "target", "number"),
    *("alpha", "intercept", "max_norm", "missing", "columns"),
)
#: Factor that keeps shares slightly small, so that rounding never overspends the total.
_BELOW = 1 - 1e-9
#: Mechanisms for second moments only.
_SYMMETRIC = ("analyze_gauss", "clipped")
#: Second moments of records that are clipped to a private radius. Queries about the mean clip about
#: a private mean, see :mod:`matrixdp.mechanisms.composed`.
CLIPPED = "clipped"
#: Mechanisms that release in parts.
IN_PARTS = (CLIPPED,)
#: Bounds that a part of the release finds, see :mod:`matrixdp.release.private_bounds`; what stands
#: in their place before; and where a value that is stated for a missing one may lie.
PRIVATE = "private"
_HALF_RANGES, _ANYWHERE = [-1.0, 1.0], [-1e70, 1e70]


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
    #: A key of ``MECHANISMS``, one of ``IN_PARTS`` or ``recommend``.
    mechanism: str
    #: Name of the column that a regression predicts, or empty.
    target: str
    #: Budget of all releases of the account, see :func:`ledger.total`; None takes the account's.
    total: Mapping[str, float] | None
    #: Replacement of a missing value in each column, (m,); NaN where it ends the release instead,
    #: or counts in no mean (:attr:`present`).
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
    dialect: tables.Dialect = tables.USUAL
    #: Records in memory, a data frame or an array, in place of those in ``file``, its name.
    frame: Any = field(default=None, compare=False, repr=False)
    #: Columns whose bounds a part of the release finds; ``box`` has -1 and 1 in their place, and
    #: ``fill`` has ``MISSING`` for the middle of their bounds.
    private: tuple[str, ...] = ()

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
    def present(self) -> bool:
        """Whether the answer is the mean of the values present."""
        return self.output_type.leaves_missing_out

    def by(self, mechanism: str) -> Specification:
        """Return the same release by another mechanism, with the query that this one answers."""
        query, middle, half = _build_query(
            *(self.output_type, mechanism, self.box, self.query.n_records, self.query.adjacency),
            per_person=self.query.per_person,
            max_norm=self.terms.get("max_norm"),
        )
        return replace(self, mechanism=mechanism, query=query, middle=middle, half=half)

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
    query, middle, half = _build_query(
        *(output_type, mechanism, box, records, "replace"),
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


def read(path: Path) -> Specification:
    """Return the specification in a file; relative paths in it are relative to its folder.

    Raises:
        InputError: the file is not TOML, it has several releases, or a key is missing, unknown or
            out of range.
    """
    specs = read_all(path)
    if len(specs) > 1:
        raise InputError(f"{path} asks for {len(specs)} releases; give a file for one")
    return specs[0]


def read_all(path: Path) -> list[Specification]:
    """Return one specification for each ``[[release]]`` of a file, or for the whole file.

    The releases share the total in proportion to their weights. The shares are of mu^2 where the
    total has a delta, otherwise of epsilon.

    Raises:
        InputError: as :func:`read`, or two releases have one name.
    """
    table = toml.load(path)
    entries = table.pop("release", None)
    _check_place(path, table)
    if entries is None:
        return [from_table(path, table)]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path}: release is no list of tables; write [[release]] above each")
    for entry in entries:
        _check_place(path, entry)
    for key in ("epsilon", "delta"):
        for part in (table, *entries):
            if key in part:
                raise InputError(
                    f"{path}: {key} has no meaning beside [[release]], which share the total by "
                    "their weights; leave it out"
                )
    try:
        total = _total(table["total"])
        weights = [
            checks.positive(**{"weight of a release": entry.pop("weight", 1)}) for entry in entries
        ]
    except KeyError:
        raise InputError(f"{path}: total is missing; add it, as all [[release]] share it") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    specs = []
    for entry, weight in zip(entries, weights, strict=True):
        for key in entry:
            if key not in _EACH:
                raise InputError(f"{path}: {key} is unknown in [[release]]; {nearest(key, _EACH)}")
        part = _part(total, weight / math.fsum(weights))
        specs.append(replace(from_table(path, {**table, **entry, **part}), mu=_mu(part)))
    names = [spec.name for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"{path}: two releases have the name {name}; give each a label of its own"
            )
        if Path(name).name != name or name == "..":
            raise InputError(f"{path}: label is {name!r}; it must be fit for the name of a folder")
    return specs


def _total(stated: object) -> dict[str, float]:
    """Return the total of an account; the parts that it reserves are stated in Python alone."""
    if isinstance(stated, dict) and set(stated) - {"epsilon", "delta"}:
        raise InputError(f"total is {stated!r}; give {{epsilon = ..., delta = ...}}")
    return ledger.total(stated)  # type: ignore[arg-type]


def _part(total: Mapping[str, float], share: float) -> dict[str, float]:
    """Return the epsilon and delta of a release that gets a share of a total."""
    delta = ledger.usable_delta(total)
    if not delta:
        return {"epsilon": total["epsilon"] * share * _BELOW}
    whole = gaussian.mu(total["epsilon"] - total["pure"], delta)
    return {"epsilon": gaussian.epsilon(delta, whole * math.sqrt(share) * _BELOW), "delta": delta}


def _mu(part: Mapping[str, float]) -> float | None:
    """Return the mu of a share of the total, rounded up; None for a pure share."""
    return gaussian.mu(part["epsilon"], part["delta"]) / _BELOW if "delta" in part else None


def from_table(path: Path, table: dict[str, Any]) -> Specification:
    """Return the specification in a table of keys; errors name the file at ``path``."""
    for key in table:
        if key not in (*_NEEDED, *_OPTIONAL):
            raise InputError(f"{path}: {key} is unknown; {nearest(key, (*_NEEDED, *_OPTIONAL))}")
    for key in _NEEDED:
        if key not in table:
            raise InputError(f"{path}: {key} is missing; add it (see `matrixdp release --help`)")
    for key in ("file", "account", "label", "target", "person"):
        value = table.get(key, "a")
        if not isinstance(value, str) or not value or not value.isprintable():
            raise InputError(
                f"{path}: {key} is {value!r}; it must be a text on one line, with a backslash in "
                "single quotes alone"
            )
    for key in ("bounds", "missing"):
        _check_dots(path, key, table.get(key))
    try:
        return _specification(path, table)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _check_dots(path: Path, key: str, table: object) -> None:
    """Check that no column's name has a dot outside quotes, where it begins a table.

    Raises:
        InputError: one does.
    """
    table = table if isinstance(table, dict) else {}
    for name, value in table.items():
        while isinstance(value, dict) and value:
            part, value = next(iter(value.items()))
            name = f"{name}.{part}"
        if name not in table and (key != "bounds" or value == PRIVATE or isinstance(value, list)):
            raise InputError(
                f"{path}: {key} has the name {name}, whose dot begins a table; put the name in "
                f'quotes, as "{name}" = {json.dumps(value, default=str)}'
            )


def _specification(path: Path, table: dict[str, Any]) -> Specification:
    output_type = OUTPUTS[checks.choice(OUTPUTS, query=table["query"])]
    stated = _bounds(table["bounds"], table.get("columns"))
    names, target = _columns(output_type, table.get("target", ""), [*stated])
    private = tuple(name for name in names if stated[name] == PRIVATE)
    bounds = {**stated, **dict.fromkeys(private, _HALF_RANGES)}
    box = Box(*zip(*(bounds[name] for name in names), strict=True))
    epsilon, delta = checks.positive(epsilon=table["epsilon"]), table.get("delta", 0)
    if delta != 0:
        delta = checks.open_unit(delta=delta)
    mechanism = _mechanism(output_type, table.get("mechanism", RECOMMENDED), delta)
    _check_private(private, mechanism, delta, table)
    people = _people(table, names)
    _check_keys(output_type, table)
    intercept = _flag("intercept", table.get("intercept", True))
    alpha = checks.not_negative(alpha=table.get("alpha", 0.0))
    records = checks.count(records=table["records"])
    rule = table.get("missing", missing.MIDDLE)
    if rule == missing.PRESENT:
        output_type = _of_present_values(output_type, table)
    query, middle, half = _build_query(
        *(output_type, mechanism, box, records, _adjacency(output_type, mechanism, table)),
        per_person=people.most if people else None,
        max_norm=table.get("max_norm"),
    )
    return Specification(
        file=path.parent / table["file"],
        output_type=output_type,
        columns=tuple(names),
        box=box,
        terms={key: value for key, value in table.items() if key not in ("file", "account")},
        query=query,
        middle=middle,
        half=half,
        epsilon=epsilon,
        delta=float(delta),
        mechanism=mechanism,
        target=target,
        total=_total(table["total"]) if "total" in table else None,
        fill=_private_fill(bounds, names, private, rule),
        account=path.parent / table["account"] if "account" in table else None,
        number=_number(output_type, names, table.get("number")),
        people=people,
        alpha=alpha,
        intercept=intercept,
        label=table.get("label", ""),
        private=private,
        dialect=_dialect(table),
    )


def _dialect(table: Mapping[str, Any]) -> tables.Dialect:
    """Return how the file is written; only a file of CSV is written in several ways."""
    keys = {"separator": [*tables.SEPARATORS], "decimal": tables.DECIMALS}
    stated = {key: table[key] for key in keys if key in table}
    for key, value in stated.items():
        if value not in keys[key]:
            allowed = ", ".join(json.dumps(one) for one in keys[key])
            raise InputError(f"{key} is {value!r}; it must be one of {allowed}, in double quotes")
        if tables.suffix(Path(table["file"])) != ".csv":
            tables.check_format(Path(table["file"]))
            raise InputError(f"{key} has a meaning for files of CSV alone; leave it out")
    dialect = tables.Dialect(**stated)
    if dialect.separator != tables.USUAL.separator and "decimal" not in stated:
        # Refused when the file is read, which may have another separator than is stated.
        dialect = dialect._replace(decimal="")
    if dialect.separator == dialect.decimal:
        raise InputError(
            'decimal is ",", and values are separated by commas too; state separator = ";", or '
            "the one that the file has"
        )
    return dialect


def _check_place(path: Path, table: Mapping[str, Any]) -> None:
    """Check that no key of the specification stands below ``[bounds]``, which would own it.

    Raises:
        InputError: one does, and it has no bounds, as a column of this name would.
    """
    bounds = table.get("bounds")
    for key, value in bounds.items() if isinstance(bounds, dict) else ():
        pair = isinstance(value, list) and len(value) == 2
        if not pair and value != PRIVATE and key in (*_NEEDED, *_OPTIONAL, "weight", "release"):
            raise InputError(
                f"{path}: {key} stands below [bounds], as if it were a column; move it up, above "
                "the line [bounds]"
            )


def _bounds(bounds: object, columns: object) -> dict[str, Any]:
    """Return the checked bounds [lowest, highest] by column, or ``PRIVATE`` for private ones."""
    if bounds == PRIVATE:
        if not _are_names(columns):
            raise InputError(
                f"bounds is {PRIVATE!r}, which names no columns, and columns is {columns!r}; add "
                'them above all tables, as columns = ["age", "bmi"]'
            )
        return dict.fromkeys(columns, PRIVATE)  # type: ignore[call-overload]
    if columns is not None:
        raise InputError(
            f"columns has a meaning beside bounds = {PRIVATE!r} alone; leave it out, as the table "
            "of bounds names the columns"
        )
    if not isinstance(bounds, dict) or not bounds:
        raise InputError(f"bounds is {bounds!r}; give a table of column = [lowest, highest]")
    for name, sides in bounds.items():
        if sides == PRIVATE:
            continue
        if not isinstance(sides, list) or len(sides) != 2:
            raise InputError(
                f"bounds.{name} is {sides!r}; it must be [lowest, highest], or {PRIVATE!r} for "
                "bounds that a part of the release finds"
            )
        low, high = (checks.finite(**{f"bounds.{name}": side}) for side in sides)
        if low >= high:
            raise InputError(f"bounds.{name} is {sides}; the lowest must be below the highest")
    return bounds


def _are_names(columns: object) -> bool:
    """Return whether this is a list of different texts."""
    texts = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
    return texts and 0 < len(set(columns)) == len(columns)  # type: ignore[call-overload, arg-type]


def _check_private(
    private: tuple[str, ...], mechanism: str, delta: float, table: Mapping[str, Any]
) -> None:
    """Refuse what private bounds cannot stand beside."""
    if private and "max_norm" in table:
        raise InputError(
            f"max_norm is beside private bounds of {', '.join(private)}; leave it out, or state "
            "bounds, as a known norm says how large values are"
        )
    if private and delta and mechanism == "laplace":
        raise InputError(
            "mechanism is 'laplace', which finds private bounds without a delta; leave delta out, "
            "or take another mechanism"
        )


def _private_fill(
    bounds: Mapping[str, list[float]], names: list[str], private: tuple[str, ...], rule: object
) -> Array:
    """Return the replacement of missing values as :func:`missing.fill`, with private bounds.

    A value that is stated for a private column may lie anywhere. ``MISSING`` stands for the middle
    of bounds that are still to be found.
    """
    sides = {**bounds, **dict.fromkeys(private, _ANYWHERE)}
    fill = missing.fill(Box(*zip(*(sides[name] for name in names), strict=True)), names, rule)
    stated = rule if isinstance(rule, dict) else ()
    for name in private if rule != missing.REFUSE else ():
        if name not in stated:
            fill[names.index(name)] = MISSING
    return fill


def _columns(output_type: type[Output], target: str, names: list[str]) -> tuple[list[str], str]:
    """Return the columns, the target of a regression last, and the target; empty for none."""
    # The intercept takes the place of the target. An empty name heads the names of rows.
    taken = {"", *output_type.headers} & {*names}
    for name in taken - ({target} if target else set()):
        raise InputError(
            f"bounds has the column {name!r}, and the answer of the query {output_type.name!r} uses"
            " this name itself; rename the column"
        )
    if output_type.has_target != (target in names):
        raise InputError(
            f"target is {target!r} for the query {output_type.name!r}; a regression, and no other "
            f"query, needs one of the columns {', '.join(names)}"
        )
    if target and len(names) < 2:
        raise InputError(
            f"bounds has the target {target!r} alone; add a column that explains it to the bounds"
        )
    return [name for name in names if name != target] + [target] * bool(target), target


def _mechanism(output_type: type[Output], name: object, delta: float) -> str:
    """Return the name of a mechanism that answers this output at this delta."""
    mechanism = checks.choice((RECOMMENDED, *MECHANISMS, *IN_PARTS), mechanism=name)
    if mechanism in _SYMMETRIC and output_type.query_type is not SecondMomentQuery:
        raise InputError(
            f"mechanism is {mechanism!r}, which answers queries on second moments alone; take "
            f"laplace or gaussian for the query {output_type.name!r}"
        )
    if not delta and mechanism not in (RECOMMENDED, "laplace"):
        raise InputError(f"delta is 0, and {mechanism} needs one; state a delta, or take laplace")
    return mechanism


def _adjacency(output_type: type[Output], mechanism: str, table: Mapping[str, Any]) -> str:
    """Return the neighbouring relation, where the mechanism can answer the query under it."""
    adjacency = checks.choice(RELATIONS, adjacency=table.get("adjacency", "replace"))
    counting = [name for name, output in OUTPUTS.items() if output.counts]
    if adjacency == ADD_OR_REMOVE and not output_type.counts and mechanism != CLIPPED:
        raise InputError(
            f"adjacency is {adjacency!r}, which serves the queries {', '.join(counting)}, and "
            "second_moments by the mechanism 'clipped'; take replace"
        )
    return adjacency


def _check_keys(output_type: type[Output], table: Mapping[str, Any]) -> None:
    """Refuse keys that only other outputs have."""
    for name in ("alpha", "intercept"):
        if name in table and name not in output_type.keys:
            raise InputError(
                f"{name} has no meaning for the query {output_type.name!r}; leave it out"
            )


def _number(output_type: type[Output], names: list[str], stated: object) -> int:
    """Return the number of principal components; all of them unless stated."""
    number = checks.count(number=len(names) if stated is None else stated)
    if number > len(names) or (stated is not None and "number" not in output_type.keys):
        raise InputError(
            f"number is {number} for the query {output_type.name!r}; it is that of components, from"
            f" 1 to {len(names)}, and of no other query"
        )
    return number


def _of_present_values(output_type: type[Output], table: Mapping[str, Any]) -> type[Output]:
    """Return the output that leaves missing values out, where the other keys allow it."""
    rule, leaving = missing.PRESENT, PRESENT.get(output_type.name)
    if leaving is None:
        raise InputError(
            f"missing is {rule!r}, which serves the query 'mean' alone; take {missing.MIDDLE!r}, "
            f"{missing.REFUSE!r} or a table of column = value for {output_type.name!r}"
        )
    if "max_norm" in table:
        raise InputError(f"max_norm has no meaning beside missing = {rule!r}; leave it out")
    return leaving


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}; it must be true or false")
    return value


def _build_query(
    output_type: type[Output],
    mechanism: str,
    box: Box,
    records: int,
    adjacency: str,
    *,
    per_person: int | None,
    max_norm: object,
) -> tuple[Query, Array, Array]:
    """Return the query of a mechanism, and the middle and unit (m,) of its records' columns."""
    return output_type.build_query(
        *(box, records, adjacency),
        mechanism=mechanism,
        in_parts=mechanism in IN_PARTS,
        per_person=per_person,
        max_norm=max_norm,
    )


def _people(table: Mapping[str, Any], names: list[str]) -> People | None:
    """Return whose records count, where the specification of the columns ``names`` says it."""
    if "person" not in table and "per_person" not in table:
        return None
    for key in ("person", "per_person"):
        if key not in table:
            raise InputError(
                f"{key} is missing; person names the column of people, and per_person how many "
                "records of each count"
            )
    person, most = table["person"], checks.count(per_person=table["per_person"])
    if person in names:
        raise InputError(
            f"person is {person!r}, which is among the bounds; a column that names people is not "
            "released, so leave it out of them"
        )
    if "adjacency" not in table:
        raise InputError(
            "adjacency is missing beside person; add_or_remove hides who is in the file and with "
            "how many records, replace hides their values alone, so state one"
        )
    return People(person, most)
