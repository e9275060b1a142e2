"""A table as CSV, Markdown and LaTeX, and numbers as a person reads them."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from matrixdp import files

Row = Sequence[str]

#: Stands first wherever a result on stand-in data is shown.
SIMULATED = (
    "SIMULATED DATA. This was run on a generated stand-in, not on the data set of the paper: "
    "nothing here can be compared with the paper."
)

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
        columns: LaTeX column specification.
        name: "Table 3"; also the LaTeX label, in small letters without the space.
        caption: plain sentences.
        warning: what no reader may miss, set in bold before the caption; or empty.
    """

    header: Row = ()
    groups: Sequence[tuple[str, Sequence[Row]]] = ()
    columns: str = "l"
    name: str = ""
    caption: str = ""
    warning: str = ""


def grid(
    table: pd.DataFrame,
    by: str | pd.Series,
    cells: Callable[[Any], Mapping[str, str]],
    columns: str,
    *,
    title: Callable[[str], str] = str,
    each: Sequence[str] = (),
) -> Grid:
    """Return the rows of a frame in groups, in their order, without name and caption.

    Args:
        table: has at least one row.
        by: what tells groups apart: a column, or a value per row.
        cells: from a row, as a dictionary, to its cells by header.
        columns: LaTeX column specification.
        title: from what tells a group apart to its title.
        each: columns; ``cells`` then gets all rows that are alike in these as one frame.
    """
    return grouped(
        {
            title(str(key)): [cells(row) for _, row in rows.groupby([*each], sort=False)]
            if each
            else [cells(row) for row in rows.to_dict("records")]
            for key, rows in table.groupby(by, sort=False)
        },
        columns=columns,
    )


def grouped(rows: Mapping[str, Sequence[Mapping[str, str]]], **words: str) -> Grid:
    """Return the grid of rows, cells by header, under their titles; ``words`` are its others."""
    header = next((list(row) for group in rows.values() for row in group), [])
    groups = [(name, [[*row.values()] for row in group]) for name, group in rows.items()]
    return Grid(header, groups, **words)


def write(stem: str | os.PathLike, table: pd.DataFrame, grid: Grid) -> None:
    """Write ``<stem>.csv`` from the table, ``.md``, ``.tex`` and ``.json`` from the grid."""
    files.write_text(f"{stem}.csv", table.to_csv(index=False, lineterminator="\n"))
    files.write_text(f"{stem}.md", markdown(grid))
    files.write_text(f"{stem}.tex", latex(grid))
    told = json.dumps(dataclasses.asdict(grid), ensure_ascii=False, indent=1)
    files.write_text(f"{stem}.json", told + "\n")


def read(path: str | os.PathLike) -> Grid:
    """Return the grid that :func:`write` left in a ``.json`` file.

    Raises:
        OSError, ValueError, TypeError: it is missing, or holds no grid.
    """
    return Grid(**json.loads(Path(path).read_text(encoding="utf-8")))


def markdown(grid: Grid) -> str:
    """Return the table as Markdown: warning, caption, table."""
    lines = []
    if grid.header:
        lines = [_markdown_row(grid.header), _markdown_row(["---"] * len(grid.header))]
    for title, rows in grid.groups:
        if title:
            lines.append(_markdown_row([f"**{title}**", *[""] * (len(grid.header) - 1)]))
        lines.extend(_markdown_row([cell.replace("|", "\\|") for cell in row]) for row in rows)
    warning = [f"> **{grid.warning}**", ""] if grid.warning else []
    return "\n".join([*warning, f"**{grid.name}.** {grid.caption}", "", *lines, ""])


def latex(grid: Grid) -> str:
    """Return the table as a LaTeX float, for a document that loads ``booktabs``."""
    warning = rf"\textbf{{{escape(grid.warning)}}} " if grid.warning else ""
    lines = []
    for title, rows in grid.groups:
        lines.append(r"\midrule")
        if title:
            lines.append(rf"\multicolumn{{{len(grid.header)}}}{{l}}{{\emph{{{escape(title)}}}}} \\")
        lines.extend(_latex_row(row) for row in rows)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{warning}{escape(grid.caption)}}}",
            rf"\label{{tab:{grid.name.lower().replace(' ', '')}}}",
            rf"\begin{{tabular}}{{{grid.columns}}}",
            r"\toprule",
            _latex_row(grid.header),
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def escape(text: str) -> str:
    """Return plain text as LaTeX; the names of Greek letters become symbols."""
    escaped = "".join(_LATEX.get(character, character) for character in text)
    return re.sub(r"(?<!\\)\b(epsilon|[Dd]elta|mu|rho|tau)\b", r"$\\\1$", escaped)


def short(number: float, digits: int = 3) -> str:
    """Return a number with ``digits`` significant digits (0.197, 2.6e-4); NaN is empty."""
    if math.isnan(number):
        return ""
    plain = number == 0 or 1e-3 <= abs(number) < 1e5 or math.isinf(number)
    if plain:
        rounded = f"{number:.{digits}g}"
        return rounded if abs(float(rounded)) < 10**digits else f"{number:.0f}"
    mantissa, _, power = f"{number:.{digits - 1}e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"


def span(numbers: pd.Series, form: Callable[[float], str] = short) -> str:
    """Return the one number, or the smallest and the largest; nothing where there is none."""
    ends = [form(float(end)) for end in (numbers.min(), numbers.max()) if numbers.notna().any()]
    return " to ".join(dict.fromkeys(ends))


def interval(mean: float, half_width: float) -> str:
    """Return ``mean ± half-width``, both to the second significant digit of the half-width.

    Without a half-width above rounding the mean stands alone; without a mean there is nothing.
    """
    if math.isnan(mean) or not 1e-9 * abs(mean) < half_width < math.inf:
        return short(mean, 4)
    size = max(abs(mean), half_width)
    power = 0 if 1e-3 <= size < 1e5 else math.floor(math.log10(size))
    mean, half_width = mean / 10.0**power, half_width / 10.0**power
    decimals = max(0, 1 - math.floor(math.log10(half_width)))
    shown = f"{mean:.{decimals}f} ± {half_width:.{decimals}f}"
    return f"({shown})e{power}" if power else shown


def _markdown_row(cells: Row) -> str:
    return f"| {' | '.join(cells)} |"


def _latex_row(cells: Row) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"
