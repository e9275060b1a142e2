"""Tables as Markdown and LaTeX, and numbers formatted for readers."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reproduction import catalogue
from reproduction.report.sheet import Cell, Sheet
from reproduction.report.statistics import ENOUGH, ROUNDING
from reproduction.report.summary import MEDIAN

#: Range of numbers that are written without an exponent.
PLAIN = 1e-3, 1e7

#: A number this near to its rounded one, relatively, is exact.
EXACT = 1e-6

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


def markdown(sheet: Sheet) -> str:
    """Return a table as Markdown: warning, headline, caption, table."""
    parts = []
    if sheet.groups:
        headers = [heading.header for heading in sheet.headings]
        parts = [_markdown_row(headers), _markdown_row(["---"] * len(headers))]
    for group in sheet.groups:
        if group.title:
            empty = [""] * (len(sheet.headings) - 1)
            parts.append(_markdown_row([f"**{group.title}**", *empty]))
        for line in group.lines:
            parts.append(_markdown_row([cell.whole.replace("|", "\\|") for cell in line]))
    warning = [f"> **{sheet.warning}**", ""] if sheet.warning else []
    return "\n".join([*warning, f"**{sheet.title}.** {sheet.caption}", "", *parts, ""])


def latex(sheet: Sheet) -> str:
    """Return a table as a LaTeX float, for a document that loads ``booktabs``."""
    warning = rf"\textbf{{{escape(sheet.warning)}}} " if sheet.warning else ""
    headers = [heading.header for heading in sheet.headings]
    parts, columns = [], [[header] for header in headers]
    for group in sheet.groups:
        parts.append(r"\midrule")
        if group.title:
            title = rf"\emph{{{escape(group.title)}}}"
            parts.append(rf"\multicolumn{{{len(headers)}}}{{l}}{{{title}}} \\")
        for line in group.lines:
            texts = [cell.whole for cell in line]
            parts.append(_latex_row(texts))
            for column, text in zip(columns, texts, strict=True):
                column.append(text)
    wide = [max(map(len, column)) > WIDE for column in columns]
    share = max(0.1, (0.95 - 0.07 * wide.count(False)) / max(1, wide.count(True)))
    specification = "".join(
        rf"p{{{share:.2f}\linewidth}}" if broad else "r" if heading.number else "l"
        for broad, heading in zip(wide, sheet.headings, strict=True)
    )
    first = [
        r"\begin{table}",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{warning}{escape(sheet.caption)}}}",
        rf"\label{{tab:{re.sub('[^a-z0-9]', '', sheet.title.lower())}}}",
        rf"\begin{{tabular}}{{{specification}}}",
    ]
    last = [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join([*first, r"\toprule", _latex_row(headers), *parts, *last])


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
    """Return a number with at most ``digits`` significant digits (0.197, 0.2, 12,300, 2.6e-4).

    NaN is empty. Integers below a thousand are never rounded.
    """
    mantissa, exponent, power = significant(number, digits).partition("e")
    return _without_zeros(mantissa) + exponent + power


def significant(number: float, digits: int = 3, bound: str = "") -> str:
    """Return a number with ``digits`` significant digits, where :func:`short` drops zeros.

    A rounded number keeps the zeros at its end (0.2003 is 0.200); an exact one has none. What is
    said to be at most a number is an ``upper`` bound, which rounds up, and a ``lower`` one down.
    """
    if math.isnan(number):
        return ""
    if number == 0 or math.isinf(number):
        return f"{number:.0f}"
    digits = max(digits, min(3, len(f"{abs(number):.0f}")))
    rounded = float(f"{number:.{digits - 1}e}")
    if bound:
        rule = {"upper": decimal.ROUND_CEILING, "lower": decimal.ROUND_FLOOR}[bound]
        # What twelve digits leave out comes from the order of adding.
        rounded = float(decimal.Context(digits, rule).create_decimal(f"{number:.12g}"))
    text, _, power = f"{rounded:.{digits - 1}e}".partition("e")
    plain = PLAIN[0] <= abs(rounded) < PLAIN[1]
    if plain:
        text = f"{rounded:,.{max(0, digits - 1 - int(power))}f}"
    if math.isclose(rounded, number, rel_tol=EXACT):
        text = _without_zeros(text)
    return text if plain else f"{text}e{int(power)}"


def _without_zeros(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal


def epsilon_text(epsilon: float) -> str:
    """Return a claimed epsilon as a configuration has it, empty for none."""
    return "" if math.isnan(epsilon) else f"{epsilon:g}"


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
    texts, power = _ends(mean, half_width, step)
    text = " ± ".join(texts)
    return f"({text}){power}" if power else text


def middle(mean: float, half_width: float, step: float = 0.0) -> str:
    """Return the mean as :func:`interval` has it, without the half-width."""
    texts, power = _ends(mean, half_width, step)
    return texts[0] + power


def _ends(mean: float, half_width: float, step: float) -> tuple[list[str], str]:
    """Return mean and half-width, where there is one, as text, and the power of ten of both."""
    has_width = not math.isnan(half_width) and 1e-9 * abs(mean) < half_width < math.inf
    if math.isnan(mean) or not (has_width or step):
        return [short(mean, 4)], ""
    size = max(abs(mean), half_width) if has_width else abs(mean)
    plain = PLAIN[0] <= size < PLAIN[1] or not has_width
    power = 0 if plain else math.floor(math.log10(size))
    unit = max(10.0 ** (math.floor(math.log10(half_width)) - 1) if has_width else 0.0, step)
    digits = math.floor(math.log10(unit) + 1e-9)
    ends = [mean, max(half_width, unit)] if has_width else [mean]
    # Tens and more are rounded here, for a format only knows decimals.
    ends = [round(end, -digits) if digits > 0 and not power else end / 10.0**power for end in ends]
    texts = [f"{end:,.{max(0, power - digits)}f}" for end in ends]
    return texts, f"e{power}" if power else ""


def result(row: Mapping[str, Any], metric: str) -> Cell:
    """Return ``mean`` and ``ci95`` of a row in the unit that its metric is shown in.

    The median of a heavy-tailed row and its interval follow: ``0.36 ± 0.27 [median 0.21, 0.2 to
    0.22]``.

    An interval of too few trials that leaves the range of the metric says nothing; the mean then
    stands alone, with their number as a note.
    """
    if pd.isna(row["mean"]):
        return Cell("")
    about = catalogue.metric(metric)
    mean, half, n = row["mean"] * about.scale, row["ci95"] * about.scale, row["n_trials"]
    mean = 0.0 if abs(mean) < ROUNDING else mean
    within = mean >= half and not mean + half > (about.scale if about.larger else math.inf)
    if n < ENOUGH and half > 0 and not within:
        return Cell(short(mean, 2), note=f"({n:.0f} trials)")
    text = interval(mean, half, about.step)
    if pd.isna(row.get("median")):
        return Cell(text)
    median, low, high = (short(row[name] * about.scale) for name in MEDIAN)
    return Cell(f"{text} [median {median}, {low} to {high}]")


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"
