"""The numbers of all texts by name: value, rounding, and the result that each one comes from.

``workflow/numbers.yaml`` has the source of each number. A text contains the name alone.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from reproduction.files import write_text
from reproduction.report import findings
from reproduction.report.claims.definitions import PAPERS
from reproduction.report.inputs import Files, Run
from reproduction.report.markup import significant

#: The source of each number.
FILE = Path(__file__).parents[2] / "numbers.yaml"

#: A condition's value that stands for the epsilon of the run's tables.
CLAIMED = "claimed"

#: Text in place of a result that a run does not have.
MISSING = "n/a"


@dataclass(frozen=True)
class PrintedNumber:
    """One value of a text.

    Attributes:
        text: as every text prints it.
        value: before rounding; text for a verdict, None where the run lacks it.
        rounding: in words.
        source: the rows that it comes from, or the numbers.
        file: the file that has them, below the folder of the run.
    """

    text: str
    value: Any
    rounding: str
    source: str
    file: str


def load_numbers(files: Files) -> dict[str, PrintedNumber]:
    """Return the numbers of ``numbers.yaml``, and the verdicts on claims, of a run by name.

    An entry has ``from`` (a file, see :mod:`reproduction.report.inputs`, or several, as far as the
    run has them), ``where`` (column and value), ``column``; and at will ``reduce`` (min, max or
    count), ``scale``, ``digits``, ``bound`` (upper or lower, which rounds up or down). Or
    ``products``: lists of names whose numbers are multiplied, ``reduce`` and ``scale``.
    ``claims.ID`` stands for the verdict on a claim.
    """
    run, numbers = Run(files), dict[str, PrintedNumber]()
    read = functools.cache(functools.partial(_table, run=run))
    for name, entry in yaml.safe_load(FILE.read_text(encoding="utf-8")).items():
        if "products" in entry:
            numbers[name] = _product(entry, numbers)
            continue
        sources = [entry["from"]] if isinstance(entry["from"], str) else entry["from"]
        where = {
            column: run.table_epsilon if value == CLAIMED else value
            for column, value in entry.get("where", {}).items()
        }
        parts = [part for part in map(read, sources) if part is not None]
        numbers[name] = _number(entry, sources, where, pd.concat(parts) if parts else None)
    if (claims := read("claims")) is not None:
        for claim in claims.to_dict("records"):
            verdict, source = findings.text(claim), ("claims, verdict", "claims.csv")
            numbers[f"claims.{claim['id']}"] = PrintedNumber(verdict, verdict, "none", *source)
        numbers |= _counts(claims)
    return numbers


def write_numbers(numbers: Mapping[str, PrintedNumber], path: str | os.PathLike) -> None:
    """Write name, text, value, rounding and source of every number as CSV."""
    rows = [
        {"name": name, **{key: getattr(number, key) for key in PrintedNumber.__annotations__}}
        for name, number in sorted(numbers.items())
    ]
    write_text(path, pd.DataFrame(rows).to_csv(index=False, lineterminator="\n"))


def _table(name: str, run: Run) -> pd.DataFrame | None:
    content = run.get(name)
    if content is None:
        return None
    return pd.DataFrame([content] if isinstance(content, dict) else content)


def _number(
    entry: Mapping[str, Any],
    sources: Sequence[str],
    where: Mapping[str, Any],
    table: pd.DataFrame | None,
) -> PrintedNumber:
    column, reduce = entry["column"], entry.get("reduce", "")
    conditions = ", ".join(f"{name} = {value}" for name, value in where.items())
    source = f"{', '.join([*sources, column])}" + (f" where {conditions}" if where else "")
    file = f"{sources[0]}.{'yaml' if sources[0] == 'settings' else 'csv'}"
    if table is None or not {column, *where} <= {*table.columns}:
        return _rounded(math.nan, entry, source, file)
    for name, value in where.items():
        table = table[_matches(table[name], value)]
    if reduce == "count":
        return PrintedNumber(
            str(len(table)), len(table), "none", f"number of rows of {source}", file
        )
    values = table[column]
    if values.empty or (len(values) > 1 and not reduce):
        return _rounded(math.nan, entry, f"{source}, {len(values)} rows", file)
    value = values.agg(reduce) if reduce else values.iloc[0]
    if isinstance(value, str):
        return PrintedNumber(value, value, "none", source, file)
    return _rounded(float(value), entry, f"{reduce} of {source}".removeprefix(" of "), file)


def _product(entry: Mapping[str, Any], numbers: Mapping[str, PrintedNumber]) -> PrintedNumber:
    """Return the least or largest product of numbers that come before; missing if one is."""
    factors = [[numbers[name] for name in names] for names in entry["products"]]
    source = f"{entry['reduce']} of " + ", ".join(" x ".join(names) for names in entry["products"])
    values = [[math.nan if n.value is None else n.value for n in group] for group in factors]
    products = pd.Series([math.prod(group) for group in values])
    value = products.agg(entry["reduce"], skipna=False)
    return _rounded(float(value), entry, source, factors[0][0].file)


def _rounded(value: float, entry: Mapping[str, Any], source: str, file: str) -> PrintedNumber:
    """Return a number in the unit and with the digits of its entry; NaN is missing."""
    digits, value = entry.get("digits", 3), value * entry.get("scale", 1)
    bound = entry.get("bound", "")
    rounding = f"{digits} significant digits" + {"upper": ", up", "lower": ", down"}.get(bound, "")
    if math.isnan(value):
        return PrintedNumber(MISSING, None, rounding, source, file)
    return PrintedNumber(significant(value, digits, bound), value, rounding, source, file)


def _matches(column: pd.Series, value: Any) -> pd.Series:
    """Return the rows that have a value, or one of a list; ``x*`` begins with x, ``""`` is none."""
    if isinstance(value, list):
        return pd.concat([_matches(column, each) for each in value], axis=1).any(axis=1)
    if value == "":
        return column.isna() | column.eq("")
    if isinstance(value, bool):
        return column.astype(str).eq(str(value))
    if isinstance(value, int | float):
        return pd.to_numeric(column, errors="coerce").eq(value)
    if str(value).endswith("*"):
        return column.astype(str).str.startswith(str(value)[:-1])
    return column.astype(str).eq(str(value))


def _counts(claims: pd.DataFrame) -> dict[str, PrintedNumber]:
    """Return the number of claims by paper, group and verdict, and the number of all.

    Claims that the same fact decides count once.
    """
    claims = findings.facts(claims)
    groups = findings.group(claims["claim_type"])
    counts = {}
    for paper in PAPERS:
        for group in findings.GROUPS:
            claimed = claims[claims["paper"].eq(paper) & groups.eq(group)]
            prefix = f"count.{paper}.{group}"
            counts[f"{prefix}.all"] = len(claimed)
            for verdict in findings.VERDICTS:
                counts[f"{prefix}.{verdict}"] = int(claimed["verdict"].eq(verdict).sum())
            for name, count in {
                **findings.count_controls(claimed),
                **findings.count_causes(claimed),
            }.items():
                counts[f"{prefix}.{name}"] = count
    return {
        name: PrintedNumber(str(n), n, "none", "claims, counted", "claims.csv")
        for name, n in counts.items()
    }
