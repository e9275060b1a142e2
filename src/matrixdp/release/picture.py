"""Pictures of the noise of releases, as SVG, from public facts alone.

Of means and of records a picture has the range of each column and the size of its noise, by
mechanism; of what is read from moments the loss against how much of their range records fill, which
is the table of ``matrixdp recommend``. Noise is drawn about the middle of a range: no picture says
where an answer lies. All numbers are in the description of the picture, too.
"""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from matrixdp.checks import InputError, plural
from matrixdp.release import outlooks, receipt_page
from matrixdp.release.comparison import Option
from matrixdp.release.keys import MECHANISMS
from matrixdp.release.outputs import Output, every
from matrixdp.release.outputs.moments import answers_of
from matrixdp.release.outputs.output import CLIPPED, FILLS, LOSSES
from matrixdp.release.words import plain

#: Columns that a picture shows, so that it stays a page.
MOST = 12

#: Width in pixels, that of a telephone; the margin and the height of a line.
_WIDTH, _MARGIN, _LINE = 390, 14, 20
#: Left and right ends of ranges, between the names of mechanisms and their numbers.
_LEFT, _RIGHT = 118, 296
#: Characters of a line of small text, and of a name.
_LETTERS, _NAME = 56, 44
#: Height of a chart of losses, the place of its first share, and from one share to the next.
_HEIGHT, _FIRST, _STEP = 150, 160, 68
#: Loss below which all are drawn alike: they are rounded to it.
_LEAST = 0.01
#: Colours of text, small text, the page and lines, and of mechanisms, by day and by night.
_COLOURS = {
    "light": ("#1f2328 #59636e #ffffff #818b98", "#0b5fa5 #a04a00 #1a7f37 #7a3fd1"),
    "dark": ("#e6edf3 #9198a1 #0d1117 #7d8590", "#58a6ff #f0a45d #56d364 #d2a8ff"),
}
#: Mechanisms in the order of their colours, dashes and marks.
_MECHANISMS = (*MECHANISMS, CLIPPED)
#: Dashes of mechanisms, which colours alone would not tell apart.
_DASHES = ("none", "7 4", "2 4", "10 3 2 3")


@dataclass(frozen=True)
class Panel:
    """A part of a picture, below the others.

    Attributes:
        title: what it shows, in a line.
        says: all that it shows, in words.
        height: in pixels.
        shapes: elements of SVG, whose origin is the upper left corner of the part.
    """

    title: str
    says: str
    height: float
    shapes: Sequence[str]


def draw(panels: Sequence[Panel]) -> str:
    """Return a picture of parts, one below the other, as SVG."""
    height, groups = _MARGIN / 2, []
    for panel in panels:
        groups += [f'<g transform="translate(0 {height:g})">', *panel.shapes, "</g>"]
        height += panel.height + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" '
        f'width="{_WIDTH}" height="{height:g}" role="img" aria-labelledby="title words">',
        f'<title id="title">{_escape("; ".join(panel.title for panel in panels))}</title>',
        f'<desc id="words">{_escape(" ".join(panel.says for panel in panels))}</desc>',
        f"<style>{_style()}</style>",
        f'<rect class="page" width="{_WIDTH}" height="{height:g}"/>',
        *groups,
        "</svg>",
    ]
    return "\n".join([*lines, ""])


def of_options(spec: Output, options: Sequence[Option]) -> list[Panel]:
    """Return the noise of mechanisms for each answer of a request, in their order.

    Raises:
        InputError: an answer has no picture.
    """
    panels = []
    bounds = dict(zip(spec.columns, zip(spec.box.lower, spec.box.upper, strict=True), strict=True))
    for number, reading in enumerate(spec.readings):
        facts = {"query": reading.name, "epsilon": spec.epsilon, "label": spec.label}
        statements = []
        for option in options:
            output = spec.by(option.key).readings[number]
            part = option.readings[number] if option.readings else option
            noise = output.noise_of(part)
            statements.append({**facts, "bounds": bounds, "mechanism": option.key, **noise})
        panel = _panel(statements)
        if panel is None:
            reason = (
                "as what noise takes from it is simulated without max_norm and for at most "
                f"{outlooks.MOST_COLUMNS} columns alone"
                if reading.loss_unit
                else "as no range is stated of its numbers, beside which to draw their noise"
            )
            raise InputError(
                f"the query {reading.name!r} has no picture here, {reason}; leave --picture out, "
                "and read the noise in words"
            )
        panels.append(panel)
    return panels


def of_statement(statement: Mapping[str, Any]) -> str:
    """Return the noise of an answer as its receipt states it, as SVG; empty where there is none."""
    panel = _panel([statement])
    return draw([panel]) if panel else ""


def _panel(statements: Sequence[Mapping[str, Any]]) -> Panel | None:
    """Return the noise of an answer by several mechanisms, as their receipts state it."""
    first = statements[0]
    query = every()[answers_of(first)["query"]]
    name = ", ".join(filter(None, [first.get("label"), query.name]))
    title = f"{name}: noise at epsilon {plain(first['epsilon'], 3)}"
    if query.loss_unit:
        losses = {
            receipt["mechanism"]: receipt[LOSSES] for receipt in statements if LOSSES in receipt
        }
        return _losses(title, query.loss_unit, losses) if losses else None
    noise = {one["mechanism"]: receipt_page.noise(one) for one in statements}
    if len({title for sizes in noise.values() for title in sizes}) > 1:
        # Bars beside each other have one measure, of which all mechanisms have the number.
        noise = {one["mechanism"]: receipt_page.deviations(one) for one in statements}
    if not query.number or not all(noise.values()):
        return None
    return _ranges(title, query, first["bounds"], noise)


def _ranges(
    title: str,
    query: type[Output],
    bounds: Mapping[str, Sequence[float]],
    noise: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> Panel:
    """Return the range of each column and the size of its noise, by mechanism and by its title."""
    sizes = {key: next(iter(of_titles.values())) for key, of_titles in noise.items()}
    kinds = {key: next(iter(of_titles)) for key, of_titles in noise.items()}
    what = ", ".join(dict.fromkeys(kinds.values()))
    words = (
        f"Lines are the ranges that were stated, bars the noise of each {query.number} ({what}), "
        "drawn about the middle of its range: where the answer lies no picture says."
    )
    shapes, height = _head(title, words)
    says = []
    for column in [*bounds][:MOST]:
        low, high = bounds[column]
        height += _LINE + 4
        shapes.append(_label(_MARGIN, height - 5, _cut(column), "name"))
        for key, of_columns in sizes.items():
            size = of_columns[column]
            shapes += _interval(key, height, size / (high - low))
            shapes.append(_label(_RIGHT + 8, height + 14, f"± {_up(size)}"))
            says.append(f"{column}, from {plain(low)} to {plain(high)}, {key}: ± {_up(size)}.")
            height += _LINE
        shapes += [
            _label(_LEFT, height + 10, _end(low), "small"),
            _label(_RIGHT, height + 10, _end(high), "small end"),
        ]
        height += 12
    if (more := len(bounds) - MOST) > 0:
        height += _LINE
        shapes.append(_label(_MARGIN, height, f"and {plural(more, 'more column')}", "small"))
    return Panel(title, " ".join([f"{title}.", words, *says]), height, shapes)


def _interval(key: str, height: float, share: float) -> Iterator[str]:
    """Yield a range with the noise of a mechanism, as a share of the range to either side."""
    i, middle, y = _MECHANISMS.index(key), (_LEFT + _RIGHT) / 2, height + 10
    half = (_RIGHT - _LEFT) * min(max(share, 0.004), 0.5)
    yield _label(_MARGIN, y + 4, key, f"ink{i}")
    yield f'<path class="line" d="M{_LEFT} {y - 5}v10m0 -5H{_RIGHT}m0 -5v10"/>'
    yield (
        f'<rect class="bar{i}" x="{middle - half:.1f}" y="{y - 4}" width="{2 * half:.1f}" '
        'height="8"/>'
    )
    if share > 0.5:
        # Noise goes on beyond the range.
        for x, side in ((_LEFT, -7), (_RIGHT, 7)):
            yield f'<path class="bar{i}" d="M{x} {y - 7}l{side} 7l{-side} 7z"/>'


def _losses(title: str, unit: str, losses: Mapping[str, Mapping[str, float]]) -> Panel:
    """Return losses against the share of their range that records fill, by mechanism."""
    words = (
        f"Upwards, by powers of ten: {unit}. To the right: records fill less of the ranges that "
        "were stated. Simulated from these ranges alone; no record is read."
    )
    shapes, height = _head(title, words)
    top = 10.0 ** math.ceil(math.log10(max(1.0, *(max(row.values()) for row in losses.values()))))
    base = height + 14 + _HEIGHT
    xs = [_FIRST + _STEP * k for k in range(len(FILLS))]

    def place(loss: float) -> float:
        share = math.log(max(loss, _LEAST) / _LEAST) / math.log(top / _LEAST)
        return base - _HEIGHT * share

    level = _LEAST
    while level <= top * 1.01:
        y = place(level)
        shapes.append(f'<path class="grid" d="M{_FIRST - 24} {y:.1f}H{xs[-1] + 14}"/>')
        words_of_level = f"{level:g}{' or less' * (level == _LEAST)}"
        shapes.append(_label(_FIRST - 30, y + 4, words_of_level, "small end"))
        level *= 10
    for key, row in losses.items():
        i = _MECHANISMS.index(key)
        points = [(x, place(loss)) for x, loss in zip(xs, row.values(), strict=True)]
        line = " ".join(f"{x},{y:.1f}" for x, y in points)
        shapes.append(f'<polyline class="curve{i}" points="{line}"/>')
        shapes += [_mark(i, x, y) for x, y in points]
    height = base + _LINE
    shapes.append(_label(_MARGIN, height, "ranges filled to", "small"))
    first = next(iter(losses.values()))
    shapes += [_label(x, height, fill, "small middle") for x, fill in zip(xs, first, strict=True)]
    says = []
    for key, row in losses.items():
        i = _MECHANISMS.index(key)
        height += _LINE
        shapes += [
            _mark(i, _MARGIN + 4, height - 4),
            _label(_MARGIN + 14, height, key, f"ink{i}"),
        ]
        for x, loss in zip(xs, row.values(), strict=True):
            shapes.append(_label(x, height, f"{loss:.2f}", "middle"))
        numbers = ", ".join(f"{loss:.2f} at {fill}" for fill, loss in row.items())
        says.append(f"{key}: {numbers}.")
    return Panel(title, " ".join([f"{title}.", words, *says]), height + 4, shapes)


def _mark(i: int, x: float, y: float) -> str:
    """Return the mark of a mechanism: a circle, a square, a triangle or a diamond."""
    forms = (
        f'<circle class="bar{i}" cx="{x:g}" cy="{y:.1f}" r="4.5"/>',
        f'<rect class="bar{i}" x="{x - 4:g}" y="{y - 4:.1f}" width="8" height="8"/>',
        f'<path class="bar{i}" d="M{x:g} {y - 5.5:.1f}l5.5 9.5h-11z"/>',
        f'<path class="bar{i}" d="M{x:g} {y - 6:.1f}l6 6l-6 6l-6 -6z"/>',
    )
    return forms[i]


def _head(title: str, words: str) -> tuple[list[str], float]:
    """Return the title and small text of a part, and their height."""
    shapes = [_label(_MARGIN, 20, _cut(title), "title")]
    height = 24.0
    for line in textwrap.wrap(words, _LETTERS):
        height += 15
        shapes.append(_label(_MARGIN, height, line, "small"))
    return shapes, height


def _label(x: float, y: float, text: str, kind: str = "") -> str:
    style = f' class="{kind}"' * bool(kind)
    return f'<text{style} x="{x:g}" y="{y:g}">{_escape(text)}</text>'


def _up(number: float) -> str:
    """Return the size of noise as the page of a receipt does, in at most nine characters."""
    text = receipt_page.up(number)
    return text if len(text) <= 9 else f"{float(text.replace(',', '')):.2e}"


def _end(number: float) -> str:
    """Return an end of a range in at most nine characters."""
    text = plain(number)
    return text if len(text) <= 9 else f"{number:.3g}"


def _cut(text: str) -> str:
    """Return a text that fits in a line; wide characters take the place of two."""
    letters: list[str] = []
    width = 0
    for letter in " ".join(text.split()):
        width += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if width > _NAME:
            return f"{''.join(letters).rstrip()}…"
        letters.append(letter)
    return "".join(letters)


def _escape(text: str) -> str:
    """Return a text as XML may hold it, whatever the name of a column."""
    return escape("".join(letter if letter.isprintable() else "\ufffd" for letter in text))


def _style() -> str:
    """Return the style of all shapes, by day and by night."""
    rules = [
        "text{font:13px system-ui,sans-serif}",
        ".title{font-size:15px;font-weight:600}.name{font-weight:600}.small{font-size:12px}",
        ".end{text-anchor:end}.middle{text-anchor:middle}",
        ".line,.grid{fill:none;stroke-width:1.5}.grid{stroke-width:.5}",
    ]
    rules += [
        f".curve{i}{{fill:none;stroke-width:2;stroke-dasharray:{dashes}}}"
        for i, dashes in enumerate(_DASHES)
    ]
    rules.append(_colours("light"))
    rules.append(f"@media(prefers-color-scheme:dark){{{_colours('dark')}}}")
    return "".join(rules)


def _colours(scheme: str) -> str:
    (ink, small, page, line), series = (names.split() for names in _COLOURS[scheme])
    rules = [
        f"text{{fill:{ink}}}.small{{fill:{small}}}.page{{fill:{page}}}",
        f".line,.grid{{stroke:{line}}}",
    ]
    rules += [
        f".bar{i},.ink{i}{{fill:{colour}}}.curve{i}{{stroke:{colour}}}"
        for i, colour in enumerate(series)
    ]
    return "".join(rules)
