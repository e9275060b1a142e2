"""Specifications from small TOML files that people write, or from the same keys in Python.

:mod:`matrixdp.release.keys` checks each key; here is what several of them must be together.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp import checks
from matrixdp.checks import InputError, nearest
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE, SecondMomentQuery
from matrixdp.privacy.sizes import LARGEST
from matrixdp.release import ledger, missing, notation, tables, toml
from matrixdp.release.keys import KEYS, NEEDED, SYMMETRIC, allows, check_total
from matrixdp.release.outputs import (
    BY_GROUP,
    PRESENT,
    Bounds,
    Counts,
    Moments,
    Output,
    every,
    kinds,
    serves_present,
)
from matrixdp.release.outputs.about_mean import AboutMean
from matrixdp.release.outputs.moments import are_of_same_moments, check_mean_weight
from matrixdp.release.outputs.output import CLIPPED
from matrixdp.release.people import People

#: The keys of a ``[[release]]``, in a file with several releases.
_EACH = (
    *("query", "weight", "bounds", "label", "mechanism", "target", "number"),
    *("alpha", "intercept", "mean_weight", "max_norm", "missing", "missing_values"),
    *("by", "categories"),
)
#: Factor that keeps shares slightly small, so that rounding never overspends the total.
_BELOW = 1 - 1e-9
#: Largest size of a bound that is found.
_END = 2.0 ** (LARGEST + 1)


def read(path: Path) -> Output:
    """Return the specification in a file; relative paths in it are relative to its folder.

    Raises:
        InputError: the file is not TOML, it has several releases, or a key is missing, unknown or
            out of range.
    """
    specs = read_all(path)
    if len(specs) > 1:
        raise InputError(f"{path} asks for {len(specs)} releases; give a file for one")
    return specs[0]


def read_bounds(path: Path) -> Output:
    """Return the specification of bounds in a file; its query may be left out.

    Raises:
        InputError: as :func:`read`, or the file asks for something else.
    """
    table = toml.load(path)
    with _errors_of(path):
        return _one(path, with_bounds_query(table))


def with_bounds_query(table: dict[str, Any]) -> dict[str, Any]:
    """Return keys that ask for bounds, whose query may be left out.

    Raises:
        InputError: the query is another one.
    """
    query = table.get("query")
    if query is None:
        return {**table, "query": Bounds.name}
    # An array may hold records, which no message shows.
    text = isinstance(query, str)
    if not text or query != Bounds.name:
        raise InputError(
            f"query is {repr(query) if text else f'a {type(query).__name__}'}, and bounds are "
            "found before, by a request of their own with "
            'columns = ["age", "bmi"] and an epsilon of their own'
        )
    return table


def read_all(path: Path) -> list[Output]:
    """Return one specification for each ``[[release]]`` of a file, or for the whole file.

    The releases share the total in proportion to their weights. The shares are of mu^2 where the
    total has a delta, otherwise of epsilon.

    Raises:
        InputError: as :func:`read`, or two releases have one name.
    """
    table = toml.load(path)
    if "columns" in table:
        # A file that `matrixdp bounds` reads, at any other door.
        table.setdefault("query", Bounds.name)
    with _errors_of(path):
        entries = table.pop("release", None)
        _check_place(table)
        return [_one(path, table)] if entries is None else _several(path, table, entries)


def from_table(path: Path, table: dict[str, Any]) -> Output:
    """Return the specification in a table of keys; errors name the file at ``path``."""
    with _errors_of(path):
        return _one(path, table)


@contextlib.contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Let errors name the file of a specification."""
    try:
        yield
        return
    except InputError as error:
        refusal = InputError(f"{path}: {error}")
    try:
        raise refusal
    finally:
        # The frames of the other one hold what was stated, which may be records.
        refusal.__context__ = None


def _several(path: Path, table: Mapping[str, Any], entries: list[dict[str, Any]]) -> list[Output]:
    """Return the specifications of a file of several, in which ``table`` holds for all of them."""
    specs = []
    for (part, mu), entry in zip(_parts(table, entries), entries, strict=True):
        for key in entry:
            if key not in _EACH:
                raise InputError(f"{key} is unknown in [[release]]; {nearest(key, _EACH)}")
        specs.append(replace(_one(path, {**_shared_keys(table, entry), **entry, **part}), mu=mu))
    names = [spec.release_name for spec in specs]
    for name in names:
        if names.count(name) > 1:
            one, other, *_ = (spec for spec in specs if spec.release_name == name)
            remedy = "give each a label of its own"
            if _is_read_from(one, other):
                remedy = (
                    "leave one out, and put it in the place of the other afterwards, where it "
                    f"costs nothing, or {remedy}"
                )
            raise InputError(f"two releases have the name {name}; {remedy}")
        if Path(name).name != name or name == "..":
            raise InputError(f"label is {name!r}; it must be fit for the name of a folder")
    return specs


def _is_read_from(one: Output, other: Output) -> bool:
    """Return whether a request is read from the draw of another one, if this has its noise."""
    return (
        isinstance(one, AboutMean)
        and isinstance(other, AboutMean)
        and (one.answers_mean, one.mean_weight) == (other.answers_mean, other.mean_weight)
        and are_of_same_moments(one, other, Path())
    )


def _shared_keys(table: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all releases of a file share and one of them uses.

    Bounds and the rule for missing values say nothing of counts, and categories of no groups.
    """
    query = entry.get("query", table.get("query"))
    unused = {*every()[query].lacks} if isinstance(query, str) and query in every() else set()
    unused |= {"categories"} - ({"categories"} if "by" in {*table, *entry} else set())
    return {key: value for key, value in table.items() if key not in unused}


def _parts(
    table: Mapping[str, Any], entries: list[dict[str, Any]]
) -> list[tuple[dict[str, float], float]]:
    """Return :func:`_part` of each ``[[release]]``, whose weights are taken out.

    Raises:
        InputError: the total is missing, an entry is no table, or one states what they share.
    """
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("release is no list of tables; write [[release]] above each")
    for entry in entries:
        _check_place(entry)
    for key in ("epsilon", "delta"):
        if any(key in part for part in (table, *entries)):
            raise InputError(
                f"{key} has no meaning beside [[release]], which share the total by their weights; "
                "leave it out"
            )
    if "total" not in table:
        raise InputError("total is missing; add it, as all [[release]] share it")
    total = check_total(total=table["total"])
    weights = [
        checks.positive(**{"weight of a release": entry.pop("weight", 1)}) for entry in entries
    ]
    return [_part(total, weight / math.fsum(weights)) for weight in weights]


def _part(total: Mapping[str, float], share: float) -> tuple[dict[str, float], float]:
    """Return the epsilon and delta of a share of a total, and its largest mu, any if pure."""
    delta = ledger.usable_delta(total)
    if not delta:
        return {"epsilon": total["epsilon"] * share * _BELOW}, math.inf
    mu = gaussian_dp.mu(total["epsilon"] - total["pure"], delta) * math.sqrt(share)
    return {"epsilon": gaussian_dp.epsilon(delta, mu * _BELOW), "delta": delta}, mu


def _values(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of each key of a file as its check returns it, or its default.

    Raises:
        InputError: a key is unknown, missing, out of range, or has no meaning for the query.
    """
    check_names(table)
    query = table.get("query", "mean")
    if isinstance(query, str) and query not in every():
        # Bounds are found by a request of their own, whose columns have none.
        names = [name for name in every() if name != Bounds.name or "columns" in table]
        checks.choice(names, query=query)
    types = kinds(KEYS["query"].check(query=query))
    if len(types) > 1:
        types.append(Moments)
    values = {}
    for name, key in KEYS.items():
        allowed = any(allows(one, name) for one in types)
        if name in table and not allowed:
            raise InputError(
                f"{name} has no meaning for the query {checks.shown_public(query)}; leave it out"
            )
        if name in table:
            values[name] = key.check(**{name: table[name]})
        elif key.default is NEEDED and allowed:
            raise InputError(f"{name} is missing; {key.remedy}")
        else:
            values[name] = None if key.default is NEEDED else key.default
    return values


def check_names(table: Iterable[str]) -> None:
    """Check that every name is a key.

    Raises:
        InputError: one is unknown; the message names the nearest key.
    """
    for name in table:
        if name not in KEYS:
            raise InputError(f"{name} is unknown; {nearest(name, KEYS)}")


def _check_dots(key: str, table: object) -> None:
    """Check that no column's name has a dot outside quotes, where it begins a table.

    Raises:
        InputError: one does.
    """
    table = table if isinstance(table, dict) else {}
    for name, value in table.items():
        while isinstance(value, dict) and value:
            part, value = next(iter(value.items()))
            name = f"{name}.{part}"
        listed = key not in ("bounds", "categories") or isinstance(value, list)
        if name not in table and listed:
            raise InputError(
                f"{key} has the name {name}, whose dot begins a table; put the name in quotes, as "
                f'"{name}" = {json.dumps(value, default=str)}'
            )


def _one(path: Path, table: dict[str, Any]) -> Output:
    """Return the specification in a table; values of several keys must fit each other."""
    for key in ("bounds", "missing", "missing_values", "categories"):
        _check_dots(key, table.get(key))
    values = _values(table)
    types, delta, target = kinds(values["query"]), values["delta"], values["target"] or ""
    output_type = types[0] if len(types) == 1 else Moments
    dialect, by = _dialect(path, values), values["by"]
    if by is not None and output_type is Moments:
        raise InputError(
            "by has no meaning for a list of queries; ask for means by group in a request of their "
            "own"
        )
    if by is not None:
        output_type = BY_GROUP[output_type.name]
        types = [output_type]
    if output_type is Counts:
        if by is None:
            raise InputError('by is missing; name the column of groups, as by = "region"')
        names, box = [by], Box.cube(1, -1.0, 1.0)
    elif output_type is Bounds:
        names, box = values["columns"], Box.cube(len(values["columns"]), -_END, _END)
        if "" in names:
            raise InputError(
                "columns has the column '', and no query answers for a column without a name; "
                "rename the column"
            )
    else:
        names = [*values["bounds"]]
        for one in types:
            ordered = _columns(one, target if one.has_target else "", names)
        names = ordered if len(types) == 1 else names
        box = Box(*zip(*(values["bounds"][name] for name in names), strict=True))
    _check_texts(names)
    mechanism = _mechanism(output_type, values["mechanism"])
    rule, categories = values["missing"], _categories(values, names, dialect)
    people = _people(table, values, names)
    number = values["number"] or len(names)
    if number > len(names):
        raise InputError(f"number is {number}; it must be from 1 to {len(names)}")
    fill = missing.fill(box, names, rule, present=serves_present(values))
    if "bounds" in output_type.lacks:
        fill = np.full_like(fill, np.nan)
    if rule == missing.PRESENT and output_type is not Bounds:
        output_type = _of_present_values(output_type, values)
    names_of_answers = [one.name for one in types]
    check_mean_weight(names_of_answers, values["mean_weight"], values["max_norm"], mechanism)
    within = None if "bounds" in output_type.lacks else box
    book = missing.code_book(values["missing_values"], names, within, dialect)
    file, parts = _place(path, values["file"])
    line = {"count": number, "alpha": values["alpha"], "intercept": values["intercept"]}
    line |= {"target": target, "answers": (*names_of_answers,)}
    line |= {"group_column": by, "categories": categories}
    return output_type(
        columns=tuple(names),
        box=box,
        records=values["records"],
        adjacency=_adjacency(output_type, mechanism, values["adjacency"]),
        mechanism=mechanism,
        per_person=people.most if people else None,
        max_norm=values["max_norm"],
        file=file,
        parts=parts,
        terms={key: value for key, value in table.items() if key not in ("file", "account")},
        epsilon=values["epsilon"],
        delta=delta,
        total=values["total"],
        fill=fill,
        mean_weight=values["mean_weight"],
        account=values["account"] and path.parent / values["account"],
        people=people,
        label=values["label"],
        dialect=dialect,
        book=book,
        **{key: line[key] for key in line.keys() & output_type.__dataclass_fields__.keys()},
    )


def _check_texts(names: list[str]) -> None:
    """Check that accounts and answers can hold the names of columns.

    Raises:
        InputError: one has a lone half of a character, which no file holds.
    """
    for name in names:
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise InputError(f"there is a column {name!r}, which UTF-8 cannot write; rename it")


def _place(path: Path, stated: str | list[str]) -> tuple[Path, tuple[str, ...]]:
    """Return the file or the folder of records, and the names of parts that are stated of it."""
    names = () if isinstance(stated, str) else tuple(Path(name).name for name in stated)
    place = path.parent / stated if isinstance(stated, str) else (path.parent / stated[0]).parent
    # The folder that one works in has no name, as the file of no specification has none.
    place = place if place.name else place.absolute()
    if not place.name:
        raise InputError(f"file is in {place}, the root of a disk; give a folder of records")
    return place, names


def _dialect(path: Path, values: Mapping[str, Any]) -> notation.Dialect:
    """Return how the file is written; only a file of CSV is written in several ways."""
    stated = {name: values[name] for name in ("separator", "decimal") if values[name]}
    file, names = _place(path, values["file"])
    if stated and not file.is_dir() and tables.suffix(file / names[0] if names else file) != ".csv":
        tables.check_format(Path(values["file"]))
        raise InputError(f"{next(iter(stated))} has a meaning for files of CSV alone; leave it out")
    if stated.get("separator", ",") != "," and "decimal" not in stated:
        # Refused when the file is read, which may have another separator than is stated.
        stated["decimal"] = ""
    dialect = notation.Dialect(**stated)
    if dialect.separator == dialect.decimal:
        raise InputError(
            'decimal is ",", and values are separated by commas too; state separator = ";", or '
            "the one that the file has, and save it with another one where it has commas"
        )
    return dialect


def _check_place(table: Mapping[str, Any]) -> None:
    """Check that no key stands below ``[bounds]`` or ``[categories]``, which would own it.

    Raises:
        InputError: one does, and it has no bounds or categories, as a column of this name would.
    """
    for name in ("bounds", "categories"):
        columns = table.get(name)
        for key, value in columns.items() if isinstance(columns, dict) else ():
            fits = isinstance(value, list)
            if name == "bounds":
                fits = fits and [*map(type, value)].count(str) == 0 and len(value) == 2
            if not fits and key in (*KEYS, "weight", "release"):
                raise InputError(
                    f"{key} stands below [{name}], as if it were a column; move it up, above the "
                    f"line [{name}]"
                )


def _columns(output_type: type[Output], target: str, names: list[str]) -> list[str]:
    """Return the columns, the target of a regression last."""
    # The intercept takes the place of the target. An empty name heads the names of rows.
    taken = {"", *output_type.headers} & {*names}
    for name in taken - ({target} if target else set()):
        raise InputError(
            f"bounds has the column {name!r}, and the answer of the query {output_type.name!r} uses"
            " this name itself; rename the column"
        )
    if target:
        checks.columns(names, table="bounds", target=target)
    if target and len(names) < 2:
        raise InputError(
            f"bounds has the target {target!r} alone; add a column that explains it to the bounds"
        )
    return [name for name in names if name != target] + [target] * bool(target)


def _mechanism(output_type: type[Output], mechanism: str) -> str:
    """Return the name of a mechanism that answers this output."""
    if mechanism in SYMMETRIC and output_type.query_type is not SecondMomentQuery:
        raise InputError(
            f"mechanism is {mechanism!r}, which answers queries on second moments alone; take "
            f"laplace or gaussian for the query {output_type.name!r}"
        )
    return mechanism


def _adjacency(output_type: type[Output], mechanism: str, adjacency: str) -> str:
    """Return the neighbouring relation, where the mechanism can answer the query under it."""
    counting = [name for name, output in every().items() if output.counts]
    if adjacency == ADD_OR_REMOVE and not output_type.counts and mechanism != CLIPPED:
        raise InputError(
            f"adjacency is {adjacency!r}, which serves the queries {', '.join(counting)}, and "
            "second_moments by the mechanism 'clipped'; take replace"
        )
    return adjacency


def _of_present_values(output_type: type[Output], values: Mapping[str, Any]) -> type[Output]:
    """Return the output that leaves missing values out, where the other keys allow it."""
    rule, leaving = missing.PRESENT, PRESENT.get(output_type.name)
    if leaving is None:
        raise InputError(
            f"missing is {rule!r}, which serves the query 'mean' alone; take {missing.MIDDLE!r}, "
            f"{missing.REFUSE!r} or a table of column = value"
        )
    if values["max_norm"]:
        raise InputError(f"max_norm has no meaning beside missing = {rule!r}; leave it out")
    return leaving


def _categories(
    values: Mapping[str, Any], names: list[str], dialect: notation.Dialect
) -> notation.Categories | None:
    """Return the categories by which the columns ``names`` are asked for, where there are any."""
    by, stated = values["by"], values["categories"] or {}
    if by is None and stated:
        raise InputError(
            f"by is missing beside categories; add by = {next(iter(stated))!r}, or leave "
            "categories out"
        )
    if by is None:
        return None
    if stated:
        checks.columns(stated, table="categories", by=by)
    else:
        raise InputError(
            f"categories has no list for by = {by!r}; add public ones, which are not read off the "
            f'file, as categories = {{{by} = ["north", "south"]}}'
        )
    if values["query"] != Counts.name and by in names:
        raise InputError(
            f"by is {by!r}, which is among the bounds; a column of groups has categories alone, so "
            "leave it out of them"
        )
    if by == values["person"]:
        raise InputError(
            f"by is {by!r}, which names people; take another column of groups, or leave person out"
        )
    if values["max_norm"]:
        raise InputError("max_norm has no meaning beside by; leave it out")
    if values["missing"] == missing.PRESENT:
        raise InputError(
            f"missing is {missing.PRESENT!r}, which has no meaning beside by; take "
            f"{missing.MIDDLE!r}, {missing.REFUSE!r} or a table of column = value"
        )
    return missing.categories(by, stated[by], dialect)


def _people(table: Mapping[str, Any], values: Mapping[str, Any], names: list[str]) -> People | None:
    """Return whose records count, where the specification of the columns ``names`` says it."""
    person, most = values["person"], values["per_person"]
    if person is None and most is None:
        return None
    for key in ("person", "per_person"):
        if values[key] is None:
            raise InputError(
                f"{key} is missing; person names the column of people, and per_person how many "
                "records of each count"
            )
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
