"""Tables as CSV, Markdown and LaTeX, and numbers formatted for readers."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reproduction import catalogue, files
from reproduction.report.statistics import ENOUGH, ROUNDING
from reproduction.report.summary import MEDIAN

Row = Sequence[str]

#: Cells of a row by header: the name of a column, or a function from the row to its text.
Cells = dict[str, str | Callable[[Any], str]]

#: Range of numbers that are written without an exponent.
PLAIN = 1e-3, 1e7

#: Cells with more letters than this are wrapped in LaTeX.
WIDE = 30

_LATEX = {
    **{character: "\\" + character for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"$\sim$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\le$",
    "†": r"$\dagger$",
    "ε": r"$\epsilon$",
    "δ": r"$\delta$",
    "<": "$<$",
    ">": "$>$",
}


@dataclass(frozen=True)
class Grid:
    """A table with a caption.

    Attributes:
        header: one name per column.
        groups: rows with one cell per column, each group after a rule and under its title (empty
            for none).
        name: "Table 3", its topic; also the LaTeX label, in small letters without the space.
        headline: what one finds in it; or empty.
        caption: plain sentences.
        warning: what no reader may miss, set in bold before the caption; or empty.
        inputs: names of what it is made from (:mod:`reproduction.report.inputs`).
    """

    header: Row = ()
    groups: Sequence[tuple[str, Sequence[Row]]] = ()
    name: str = ""
    headline: str = ""
    caption: str = ""
    warning: str = ""
    inputs: Sequence[str] = ()


def grid(
    table: pd.DataFrame,
    by: str | pd.Series,
    cells: Cells | Callable[[Any], Mapping[str, str]],
    *,
    title: Callable[[str], str] = lambda group: catalogue.experiment(group).title,
    each: Sequence[str] = (),
) -> Grid:
    """Return the rows of a frame (at least one) in groups, without name and caption.

    Args:
        by: column that defines the groups, or one value per row.
        cells: what is shown of a row, or a function from the row, as a dictionary, to its cells by
            header.
        title: from what tells a group apart to its title; by default that of an experiment.
        each: columns; ``cells`` then gets all rows that are alike in these as one frame.
    """
    row_cells = cells if callable(cells) else functools.partial(_row, cells)
    groups: dict[str, list[Mapping[str, str]]] = {}
    for key, rows in table.groupby(by, sort=False):
        alike = [part for _, part in rows.groupby([*each], sort=False)] if each else []
        groups[title(str(key))] = [row_cells(row) for row in alike or rows.to_dict("records")]
    return grouped(groups)


def _row(cells: Cells, row: Any) -> dict[str, str]:
    return {
        header: format_value(row[source]) if isinstance(source, str) else source(row)
        for header, source in cells.items()
    }


def grouped(rows: Mapping[str, Sequence[Mapping[str, str]]], **words: str) -> Grid:
    """Return the grid of rows, cells by header, under their titles; ``words`` are its others."""
    header = next((list(row) for group in rows.values() for row in group), [])
    groups = [(name, [[*row.values()] for row in group]) for name, group in rows.items()]
    return Grid(header, groups, **words)


def write(
    stem: str | os.PathLike, table: pd.DataFrame, grid: Grid, as_markdown: bool = True
) -> None:
    """Write ``<stem>.csv`` from the table, ``.json`` and perhaps ``.md`` from the grid."""
    files.write_text(f"{stem}.csv", table.to_csv(index=False, lineterminator="\n"))
    if as_markdown:
        files.write_text(f"{stem}.md", markdown(grid))
    text = json.dumps(dataclasses.asdict(grid), ensure_ascii=False, indent=1)
    files.write_text(f"{stem}.json", text + "\n")


def read(path: str | os.PathLike) -> Grid:
    """Return the grid that :func:`write` left in a ``.json`` file.

    Raises:
        OSError, ValueError, TypeError: the file is missing, or not a grid.
    """
    return Grid(**json.loads(Path(path).read_text(encoding="utf-8")))


def markdown(grid: Grid) -> str:
    """Return the table as Markdown: warning, headline, caption, table."""
    lines = []
    if grid.header:
        lines = [_markdown_row(grid.header), _markdown_row(["---"] * len(grid.header))]
    for title, rows in grid.groups:
        if title:
            lines.append(_markdown_row([f"**{title}**", *[""] * (len(grid.header) - 1)]))
        lines.extend(_markdown_row([cell.replace("|", "\\|") for cell in row]) for row in rows)
    warning = [f"> **{grid.warning}**", ""] if grid.warning else []
    headline = [f"### {grid.headline}", ""] if grid.headline else []
    return "\n".join([*warning, *headline, f"**{grid.name}.** {grid.caption}", "", *lines, ""])


def latex(grid: Grid) -> str:
    """Return the table as a LaTeX float, for a document that loads ``booktabs``."""
    warning = rf"\textbf{{{escape(grid.warning)}}} " if grid.warning else ""
    headline = rf"\emph{{{escape(grid.headline)}.}} " if grid.headline else ""
    lines = []
    for title, rows in grid.groups:
        lines.append(r"\midrule")
        if title:
            lines.append(rf"\multicolumn{{{len(grid.header)}}}{{l}}{{\emph{{{escape(title)}}}}} \\")
        lines.extend(_latex_row(row) for row in rows)
    first = [
        r"\begin{table}",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{warning}{headline}{escape(grid.caption)}}}",
        rf"\label{{tab:{re.sub('[^a-z0-9]', '', grid.name.lower())}}}",
        rf"\begin{{tabular}}{{{_specification(grid)}}}",
    ]
    last = [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join([*first, r"\toprule", _latex_row(grid.header), *lines, *last])


def escape(text: str) -> str:
    """Return plain text as LaTeX; the names of Greek letters become symbols."""
    escaped = "".join(_LATEX.get(character, character) for character in text)
    escaped = re.sub(r"(?<![\w)])-(?=\d)", "$-$", escaped)
    return re.sub(r"(?<!\\)\b(epsilon|[Dd]elta|mu|rho|tau)\b", r"$\\\1$", escaped)


def format_value(value: Any) -> str:
    """Return a value of a table as text, empty for a missing one.

    A column of several rows gives its smallest and largest number, or each of its words once.
    """
    if isinstance(value, pd.Series):
        if pd.api.types.is_numeric_dtype(value):
            return span(value)
        return ", ".join(dict.fromkeys(value.dropna().map(str)))
    if isinstance(value, str) or pd.isna(value):
        return value if isinstance(value, str) else ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int | np.integer) else short(float(value))


def mechanism(row: Any) -> str:
    """Return the label of the mechanism of a row, or of rows with the same mechanism."""
    name = row["mechanism"]
    return catalogue.label(name.iloc[0] if isinstance(name, pd.Series) else name)


def short(number: float, digits: int = 3) -> str:
    """Return a number with ``digits`` significant digits (0.197, 12,300, 2.6e-4); NaN is empty.

    Integers below a thousand are never rounded.
    """
    if math.isnan(number):
        return ""
    if number == 0 or math.isinf(number):
        return f"{number:.0f}"
    digits = max(digits, min(3, len(f"{abs(number):.0f}")))
    rounded = float(f"{number:.{digits - 1}e}")
    mantissa, _, power = f"{rounded:.{digits - 1}e}".partition("e")
    if PLAIN[0] <= abs(rounded) < PLAIN[1]:
        text, end = f"{rounded:,.{max(0, digits - 1 - int(power))}f}", ""
    else:
        text, end = mantissa, f"e{int(power)}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + end


def span(numbers: pd.Series, form: Callable[[Any], str] = format_value) -> str:
    """Return the smallest and the largest number, or the only one; empty without numbers."""
    ends = [form(end) for end in (numbers.min(), numbers.max()) if numbers.notna().any()]
    return " to ".join(dict.fromkeys(ends))


def interval(mean: float, half_width: float, step: float = 0.0) -> str:
    """Return ``mean ± half-width``, both to the second significant digit of the half-width.

    A half-width that is missing or a rounding error is omitted; a missing mean gives empty text.

    Args:
        mean, half_width: in one unit.
        step: a power of ten: digits below it mean nothing, whatever the half-width.
    """
    has_width = not math.isnan(half_width) and 1e-9 * abs(mean) < half_width < math.inf
    if math.isnan(mean) or not (has_width or step):
        return short(mean, 4)
    size = max(abs(mean), half_width) if has_width else abs(mean)
    plain = PLAIN[0] <= size < PLAIN[1] or not has_width
    power = 0 if plain else math.floor(math.log10(size))
    unit = max(10.0 ** (math.floor(math.log10(half_width)) - 1) if has_width else 0.0, step)
    digits = math.floor(math.log10(unit) + 1e-9)
    ends = [mean, max(half_width, unit)] if has_width else [mean]
    # Tens and more are rounded here, for a format only knows decimals.
    ends = [round(end, -digits) if digits > 0 and not power else end / 10.0**power for end in ends]
    text = " ± ".join(f"{end:,.{max(0, power - digits)}f}" for end in ends)
    return f"({text})e{power}" if power else text


def result(row: Mapping[str, Any], metric: str) -> str:
    """Return ``mean`` and ``ci95`` of a row in the unit that its metric is shown in.

    The median of a heavy-tailed row and its interval follow: ``0.36 ± 0.27 [median 0.21, 0.2 to
    0.22]``.

    An interval of too few trials that leaves the range of the metric says nothing; the mean then
    stands alone, with their number.
    """
    if pd.isna(row["mean"]):
        return ""
    about = catalogue.metric(metric)
    mean, half, n = row["mean"] * about.scale, row["ci95"] * about.scale, row["n_trials"]
    mean = 0.0 if abs(mean) < ROUNDING else mean
    within = mean >= half and not mean + half > (about.scale if about.larger else math.inf)
    if n < ENOUGH and half > 0 and not within:
        return f"{short(mean, 2)} ({n:.0f} trials)"
    text = interval(mean, half, about.step)
    if pd.isna(row.get("median")):
        return text
    median, low, high = (short(row[name] * about.scale) for name in MEDIAN)
    return f"{text} [median {median}, {low} to {high}]"


_VALUE = r"[+-]?(?:inf|\d[\d,]*\.?\d*(?:e[+-]?\d+)?)"
#: Pattern of numbers in tables: ``~3.99 ± 0.2``, ``(1.2 ± 0.3)e-5``, ``0 (mu = 2e-4)``, ``85 %``,
#: ``54 (3 trials)``, ``26 [0.1]``, ``120 to 150``, ``0.52†``.
_NUMBER = re.compile(
    rf"(?:[~≈≤<>]|at most)?\s*\(?({_VALUE})(?:\s*(?:±|to)\s*[<>]?\s*{_VALUE})?\)?(?:e([+-]?\d+))?"
    r"[†*]*(?:\s*%|\s*[(\[][^)\]]*[)\]])*",
    re.IGNORECASE,
)


def number(text: str) -> float | None:
    """Return the number in a cell, the first of a range; None for words."""
    match = _NUMBER.fullmatch(text.strip())
    if not match:
        return None
    value = float(match[1].replace(",", "")) * 10.0 ** int(match[2] or 0)
    return None if math.isnan(value) else value


def numeric(grid: Grid) -> list[bool]:
    """Return for each column whether most of its cells are numbers."""
    flags = []
    for cells in zip(*(row for _, rows in grid.groups for row in rows), strict=True):
        filled = [cell for cell in cells if cell]
        words = [cell for cell in filled if number(cell) is None]
        flags.append(2 * len(words) < len(filled) and not any(map(str.isdigit, "".join(words))))
    return flags or [False] * len(grid.header)


def _specification(grid: Grid) -> str:
    """Return the LaTeX columns: numbers right-aligned; wide columns share the remaining width."""
    cells = [*zip(grid.header, *(row for _, rows in grid.groups for row in rows), strict=True)]
    wide = [max(map(len, column)) > WIDE for column in cells]
    share = max(0.1, (0.95 - 0.07 * wide.count(False)) / max(1, wide.count(True)))
    return "".join(
        rf"p{{{share:.2f}\linewidth}}" if broad else "r" if right else "l"
        for broad, right in zip(wide, numeric(grid), strict=True)
    )


def _markdown_row(cells: Row) -> str:
    return f"| {' | '.join(cells)} |"


def _latex_row(cells: Row) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"
