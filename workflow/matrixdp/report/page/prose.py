"""Text and tables for the page: a little Markdown, and Markdown tables read back into cells."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup, escape

_INLINE = (
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*(.+?)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"(?<![\w*])\*([^*]+)\*(?![\w*])"), r"<em>\1</em>"),
    (re.compile(r"\[([^\]]+)\]\(((?:https?://|#)[^)\s]+)\)"), r'<a href="\2">\1</a>'),
)

_VALUE = r"[+-]?(?:inf|\d[\d,]*\.?\d*(?:e[+-]?\d+)?)"
#: A number as tables show it: ``~3.99 ± 0.2``, ``(1.2 ± 0.3)e-5``, ``0 (mu = 2e-4)``, ``2 %``.
_NUMBER = re.compile(
    rf"[~≈≤<>]?\s*\(?({_VALUE})(?:\s*±\s*{_VALUE})?\)?(?:e([+-]?\d+))?"
    r"(?:\s*%|\s*\([^)]*\))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Cell:
    """One cell: what is shown, and the number to sort by (None for text)."""

    text: str
    number: float | None


@dataclass(frozen=True)
class Table:
    """A table as the page shows it.

    Attributes:
        name, caption, warning: as in :class:`matrixdp.report.markup.Grid`.
        header: a name per column.
        numeric: per column, whether all that stands in it are numbers.
        groups: title (empty for none) and rows.
    """

    name: str
    caption: str
    warning: str
    header: tuple[str, ...]
    numeric: tuple[bool, ...]
    groups: tuple[tuple[str, tuple[tuple[Cell, ...], ...]], ...]


def html(text: str) -> Markup:
    """Return Markdown as HTML: paragraphs, ``###`` headings, lists, fences, inline marks, links.

    HTML in the text is shown, not obeyed; links are kept if they go to http(s) or into the page.
    """
    blocks = re.split(r"\n\s*\n", text.strip())
    return Markup("\n").join(_block(block) for block in blocks if block.strip())


def inline(text: str) -> Markup:
    """Return one run of Markdown text (code, bold, emphasis, links) as HTML."""
    marked = str(escape(text))
    for pattern, replacement in _INLINE:
        marked = pattern.sub(replacement, marked)
    return Markup(marked)


def number(text: str) -> float | None:
    """Return the number that a cell shows, or None if it shows something else."""
    found = _NUMBER.fullmatch(text.strip())
    if not found:
        return None
    value = float(found[1].replace(",", "")) * 10.0 ** int(found[2] or 0)
    return None if math.isnan(value) else value


def from_markdown(text: str) -> Table:
    """Return the table that :func:`matrixdp.report.markup.markdown` wrote.

    A row whose cells but the first are empty, and whose first is bold, begins a group.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    warning = next((line[2:].strip("*") for line in lines if line.startswith("> ")), "")
    head = next((line for line in lines if line.startswith("**")), "")
    name, _, caption = head.removeprefix("**").partition(".**")
    header, *rows = [_cells(line) for line in lines if line.startswith("|")] or [()]
    groups: list[tuple[str, list[tuple[str, ...]]]] = [("", [])]
    for row in rows:
        if set("".join(row)) == {"-"} and "---" in row[0]:
            continue
        if re.fullmatch(r"\*\*.+\*\*", row[0]) and not any(row[1:]):
            groups.append((row[0].strip("*"), []))
        else:
            groups[-1][1].append(row)
    return table(header, groups, name=name, caption=caption.strip(), warning=warning)


def from_frame(frame: pd.DataFrame, *, name: str = "", caption: str = "") -> Table:
    """Return a data frame as a table; what is missing in it is empty."""
    rows = [tuple("" if pd.isna(cell) else str(cell) for cell in row) for row in frame.to_numpy()]
    return table(tuple(map(str, frame.columns)), [("", rows)], name=name, caption=caption)


def table(
    header: tuple[str, ...],
    groups: list[tuple[str, list[tuple[str, ...]]]],
    *,
    name: str = "",
    caption: str = "",
    warning: str = "",
) -> Table:
    """Return rows of text as a table whose columns of numbers are known as such."""
    parsed = tuple(
        (title, tuple(tuple(Cell(cell, number(cell)) for cell in row) for row in rows))
        for title, rows in groups
        if rows
    )
    every = [row for _, rows in parsed for row in rows]
    numeric = tuple(
        any(row[i].text for row in every)
        and all(row[i].number is not None for row in every if row[i].text)
        for i in range(len(header))
    )
    return Table(name, caption, warning, header, numeric, parsed)


def _block(block: str) -> Markup:
    lines = block.strip().splitlines()
    if lines[0].startswith("```"):
        code = "\n".join(line for line in lines if not line.startswith("```"))
        return Markup("<pre><code>{}</code></pre>").format(code)
    if lines[0].startswith("### "):
        return Markup("<h3>{}</h3>").format(inline(" ".join(lines).removeprefix("### ")))
    if lines[0].startswith("- "):
        items = re.split(r"\n- ", "\n".join(lines).removeprefix("- "))
        shown = [Markup("<li>{}</li>").format(inline(" ".join(item.split()))) for item in items]
        return Markup("<ul>{}</ul>").format(Markup("").join(shown))
    return Markup("<p>{}</p>").format(inline(" ".join(" ".join(lines).split())))


def _cells(line: str) -> tuple[str, ...]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return tuple(cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner))
