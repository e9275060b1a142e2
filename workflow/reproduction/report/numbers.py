"""The numbers of all texts by name: value, rounding, and the result that each one comes from.

``workflow/numbers.yaml`` has the source of each number. A text contains the name alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from reproduction.files import write_text
from reproduction.report import inputs
from reproduction.report.claims import findings
from reproduction.report.claims.definitions import PAPERS
from reproduction.report.inputs import Files
from reproduction.report.markup import short

#: The source of each number.
FILE = Path(__file__).parents[2] / "numbers.yaml"

#: A condition's value that stands for the epsilon of the run's tables.
CLAIMED = "claimed"

#: Text in place of a result that a run does not have.
MISSING = "n/a"


@dataclass(frozen=True)
class Number:
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


def collect(entries: Mapping[str, Any], files: Files) -> dict[str, Number]:
    """Return the numbers of a run by name.

    Args:
        entries: of ``numbers.yaml``: ``from`` (a file, see :mod:`reproduction.report.inputs`, or
            several, as far as the run has them), ``where`` (column and value), ``column``; and at
            will ``reduce`` (min, max or count), ``scale``, ``digits``. Or ``products``: lists of
            names whose numbers are multiplied, ``reduce`` and ``scale``. ``claims.ID`` stands for
            the verdict on a claim.
        files: files of a run by name.
    """
    tables: dict[str, pd.DataFrame | None] = {}
    numbers: dict[str, Number] = {}
    claimed = float(inputs.read("settings", files).get("table_epsilon", "nan"))
    for name, entry in entries.items():
        if "products" in entry:
            numbers[name] = _product(entry, numbers)
            continue
        for file in _sources(entry):
            if file not in tables:
                tables[file] = _table(file, files)
        parts = [part for file in _sources(entry) if (part := tables[file]) is not None]
        where = {
            column: claimed if value == CLAIMED else value
            for column, value in entry.get("where", {}).items()
        }
        numbers[name] = _number(entry, where, pd.concat(parts) if parts else None)
    claims = _table("claims", files)
    if claims is not None:
        for claim, verdict in zip(claims["id"], claims["verdict"], strict=True):
            numbers[f"claims.{claim}"] = Number(
                verdict, verdict, "none", "claims, verdict", "claims.csv"
            )
        numbers |= _counts(claims)
    return numbers


def of_run(files: Files) -> dict[str, Number]:
    """Return the numbers of ``numbers.yaml``, and the verdicts on claims, of a run by name."""
    return collect(yaml.safe_load(FILE.read_text(encoding="utf-8")), files)


def write(numbers: Mapping[str, Number], path: str | os.PathLike) -> None:
    """Write name, text, value, rounding and source of every number as CSV."""
    rows = [
        {"name": name, **{key: getattr(number, key) for key in Number.__annotations__}}
        for name, number in sorted(numbers.items())
    ]
    write_text(path, pd.DataFrame(rows).to_csv(index=False, lineterminator="\n"))


def _table(name: str, files: Files) -> pd.DataFrame | None:
    if name not in files:
        return None
    content = inputs.read(name, files)
    return pd.DataFrame([content] if isinstance(content, dict) else content)


def _sources(entry: Mapping[str, Any]) -> list[str]:
    source = entry["from"]
    return [source] if isinstance(source, str) else source


def _number(
    entry: Mapping[str, Any], where: Mapping[str, Any], table: pd.DataFrame | None
) -> Number:
    files, column = _sources(entry), entry["column"]
    conditions = ", ".join(f"{name} = {value}" for name, value in where.items())
    source = f"{', '.join([*files, column])}" + (f" where {conditions}" if where else "")
    file = f"{files[0]}.{'yaml' if files[0] == 'settings' else 'csv'}"
    digits, reduce = entry.get("digits", 3), entry.get("reduce", "")
    rounding = f"{digits} significant digits"
    if table is None or not {column, *where} <= {*table.columns}:
        return Number(MISSING, None, rounding, source, file)
    rows = table
    for name, value in where.items():
        rows = rows[_matches(rows[name], value)]
    if reduce == "count":
        return Number(str(len(rows)), len(rows), "none", f"number of rows of {source}", file)
    values = rows[column]
    if values.empty or (len(rows) > 1 and not reduce):
        return Number(MISSING, None, rounding, f"{source}, {len(rows)} rows", file)
    value = values.agg(reduce) if reduce else values.iloc[0]
    if isinstance(value, str):
        return Number(value, value, "none", source, file)
    value = float(value) * entry.get("scale", 1)
    if math.isnan(value):
        return Number(MISSING, None, rounding, source, file)
    source = f"{reduce} of {source}".removeprefix(" of ")
    return Number(short(value, digits), value, rounding, source, file)


def _product(entry: Mapping[str, Any], numbers: Mapping[str, Number]) -> Number:
    """Return the least or largest product of numbers that have been collected."""
    digits, reduce = entry.get("digits", 3), entry["reduce"]
    rounding = f"{digits} significant digits"
    source = f"{reduce} of " + ", ".join(" x ".join(names) for names in entry["products"])
    factors = [[numbers[name] for name in names] for names in entry["products"]]
    file = factors[0][0].file
    if any(factor.value is None for group in factors for factor in group):
        return Number(MISSING, None, rounding, source, file)
    products = [math.prod(factor.value for factor in group) for group in factors]
    value = (min if reduce == "min" else max)(products) * entry.get("scale", 1)
    return Number(short(value, digits), value, rounding, source, file)


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


def _counts(claims: pd.DataFrame) -> dict[str, Number]:
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
            for verdict in ("reproduced", "not reproduced", "undecided"):
                counts[f"{prefix}.{verdict}"] = int(claimed["verdict"].eq(verdict).sum())
            for control, count in findings.controlled(claimed, group).items():
                counts[f"{prefix}.{control}"] = count
            narrower = claimed["verdict"].str.startswith("reproduced only").sum()
            counts[f"{prefix}.narrower"] = int(narrower)
    return {
        name: Number(str(n), n, "none", "claims, counted", "claims.csv")
        for name, n in counts.items()
    }
