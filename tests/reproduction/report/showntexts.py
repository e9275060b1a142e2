"""What a run shows, as lines of text: tables, figures, page and article.

Numbers have the digits that a reader sees; those of frames and drawings have three.
"""

from __future__ import annotations

import html.parser
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import drawntexts
import matplotlib.colors
import matplotlib.figure
import numpy as np
import pandas as pd
import runfiles
from matplotlib.collections import Collection, LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from reproduction.report import inputs, markup, page
from reproduction.report.article import build
from reproduction.report.figures import style

#: Points of a drawn series that are all listed; of a longer one the ends and the range are.
FEW = 12
#: Lines of a LaTeX table from its upper rule on, to the first of its rows.
LATEX = 5
#: Words of a text column that are all listed.
WORDS = 8

Lines = list[str]


def table(root: Path, name: str, whole: bool = True) -> Lines:
    """Return the lines of a table: Markdown, the first of LaTeX, and the frame.

    Args:
        root: folder of a run.
        name: such as ``tables/table3``, or ``tables/against_adult_imgm`` for one on request.
        whole: whether each row of the frame is listed; else its columns are summarised.
    """
    shown = runfiles.table(root, name)
    sheet = shown.sheet()
    lines = markup.markdown(sheet).splitlines()
    if shown.groups:
        latex = markup.latex(sheet).splitlines()
        lines += latex[: latex.index(r"\toprule") + LATEX]
    frame = rows(shown.frame) if whole else columns(shown.frame)
    return [*lines, *frame, f"made from {', '.join(runfiles.files(root, name))}"]


def figure(root: Path, name: str, whole: bool = True) -> Lines:
    """Return the lines of a figure: words, frame, and what is drawn.

    Args:
        root, name: as for tables.
        whole: whether each row of the frame and each series is listed.
    """
    shown = runfiles.figure(root, name.partition("/")[2])
    frame = shown.frame
    lines = [f"topic: {shown.title}"]
    lines += [f"caption: {shown.caption}", *(rows(frame) if whole else columns(frame))]
    with style.context(name):
        drawing = shown.render()
        # Labels of ticks come only with the drawing.
        parts = drawntexts.texts_of(drawing)
        lines += texts(drawing)
        if whole:
            lines += panels(drawing)
        else:
            lines += [f"covered: {pair}" for pair in drawntexts.overlaps(parts)]
            lines += [f"cut: {text}" for text in drawntexts.outside(parts, drawing)]
    return [*lines, f"made from {', '.join(runfiles.files(root, name))}"]


def rows(frame: pd.DataFrame) -> Lines:
    """Return a frame, a line a row; a column of one value is said once."""
    frame = frame[[column for column in frame if not str(column).startswith("_")]]
    cells = pd.DataFrame({name: [_cell(value) for value in frame[name]] for name in frame})
    once = [name for name in cells if len(cells) > 1 and cells[name].nunique() == 1]
    alike = [f"{name} = {cells[name].iloc[0]}" for name in once]
    cells = cells.drop(columns=once)
    return [f"every row: {', '.join(alike)}", ",".join(cells), *map(",".join, cells.to_numpy())]


def columns(frame: pd.DataFrame) -> Lines:
    """Return a frame, a line a column: its range and mean, or its words and how often they stand.

    What stands in which row is left to tests that compute it in another way.
    """
    lines = [f"{len(frame)} rows"]
    for name in frame:
        values = frame[name]
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            sizes = values.replace([np.inf, -np.inf], np.nan).dropna()
            numbers_ = [sizes.min(), sizes.mean(), sizes.max()] if len(sizes) else []
            lines += [f"{name}: {len(sizes)} numbers, {', '.join(map(_cell, numbers_))}"]
            continue
        counts = values.map(_cell).value_counts(sort=False).sort_index()
        words = [f"{word} ({count})" for word, count in counts.items()]
        shown = words if len(words) <= WORDS else [*words[:2], words[-1]]
        lines += [f"{name}: {len(words)} words, {'; '.join(shown)}"]
    return lines


def panels(drawing: matplotlib.figure.Figure) -> Lines:
    """Return for each panel of a drawing its scales and its series, with looks and points."""
    lines = []
    for number, axes in enumerate(drawing.get_axes(), 1):
        scales = f"{axes.get_xscale()} x {axes.get_yscale()}"
        ends = [*axes.get_xlim(), *axes.get_ylim()]
        lines += [f"panel {number}: {scales}, {', '.join(map(_cell, ends))}"]
        lines += [
            line
            for artist in axes.get_children()
            for line in _artist(artist)
            if artist.get_visible() and artist is not axes.patch
        ]
    return lines


def texts(drawing: matplotlib.figure.Figure) -> Lines:
    """Return the texts of a drawing with their colours, in the order of its parts."""
    parts = [(" ".join(text.get_text().split()), text) for text in drawing.findobj(Text)]
    return [
        f"text {_colour(text.get_color())}: {words}"
        for words, text in parts
        # Powers of ten at the ends of an axis are told by its range.
        if words and text.get_visible() and r"\mathdefault" not in words
    ]


def _artist(artist: Any) -> Iterator[str]:
    if isinstance(artist, Line2D) and len(artist.get_xdata()):
        look = [artist.get_linestyle(), artist.get_marker(), _colour(artist.get_color())]
        look += [_colour(artist.get_markerfacecolor())] if artist.get_marker() != "None" else []
        yield f"line {_label(artist)} {' '.join(look)}: {_points(artist.get_xydata())}"
    elif isinstance(artist, LineCollection):
        ends = np.concatenate([*artist.get_segments(), np.empty((0, 2))])
        yield f"bars {_colours(artist.get_edgecolor())}: {_points(ends)}"
    elif isinstance(artist, Collection):
        looks = _colours(artist.get_facecolor()), _colours(artist.get_edgecolor())
        paths = (
            [path.vertices for path in artist.get_paths()] if not len(artist.get_offsets()) else []
        )
        points = np.concatenate(paths) if paths else np.asarray(artist.get_offsets())
        yield f"area {_label(artist)} {' '.join(looks)}: {_points(points)}"
    elif isinstance(artist, Patch):
        shape = artist.get_path().transformed(artist.get_patch_transform()).vertices
        yield f"patch {_label(artist)} {_colour(artist.get_facecolor())}: {_points(shape)}"


def _label(artist: Any) -> str:
    label = str(artist.get_label())
    return "" if label.startswith("_") else repr(label)


def _colour(colour: Any) -> str:
    if isinstance(colour, str) and colour.lower() == "none":
        return "none"
    return matplotlib.colors.to_hex(colour, keep_alpha=False)


def _colours(colours: Any) -> str:
    return "/".join(dict.fromkeys(_colour(colour) for colour in colours)) or "none"


def _points(points: Any) -> str:
    points = np.ma.filled(np.ma.asarray(points, dtype=float), np.nan)
    if len(points) <= FEW:
        return " ".join(f"({_cell(x)}, {_cell(y)})" for x, y in points)
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    ends = [f"({_cell(x)}, {_cell(y)})" for x, y in (points[0], points[-1], low, high)]
    return f"{len(points)} points, {ends[0]} to {ends[1]}, within {ends[2]} and {ends[3]}"


def _cell(value: Any) -> str:
    """Return a value at three digits; smaller than any that is shown is zero."""
    if isinstance(value, bool | np.bool_ | str | list | tuple | dict) or value is None:
        return str(value)
    if pd.isna(value):
        return ""
    if isinstance(value, int | np.integer):
        return str(value)
    return f"{float(value):.3g}" if abs(float(value)) > 1e-12 else "0"


def page_lines(root: Path) -> Lines:
    """Return the page of a run: texts, links, marks; of tables shown elsewhere the first rows."""
    reader = _Reader()
    reader.feed(page.build(inputs.files_of_folder(root), run={}))
    reader.close()
    return reader.lines


class _Reader(html.parser.HTMLParser):
    """Text of a page, a line a block; a cell after another behind a bar."""

    BLOCKS = frozenset(
        ("caption", "dd", "details", "div", "dl", "dt", "figcaption", "figure", "h1", "h2", "h3")
        + ("header", "li", "main", "nav", "p", "pre", "section", "summary", "table", "tr", "ul")
    )
    UNSEEN = frozenset(("script", "style", "head", "button"))
    SHOWN = ("id", "class", "href", "alt", "title", "style", "download", "colspan", "role")

    def __init__(self) -> None:
        super().__init__()
        self.lines: Lines = []
        self.line = ""
        self.skipped, self.rows, self.exhibit = 0, 0, False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        words = {name: value or "" for name, value in attributes}
        self.skipped += tag in self.UNSEEN
        if tag in self.BLOCKS:
            self.flush()
        if words.get("class") == "result":
            self.exhibit, self.rows = words["id"].startswith("tables-"), 0
        self.rows += tag == "tr"
        if tag in ("td", "th"):
            self.line += " | "
        marks = [
            f"{name}={_rounded(words[name])}" for name in self.SHOWN if self.tells(name, words)
        ]
        if marks and tag != "button":
            self.line += f"<{tag} {' '.join(marks)}>"

    def tells(self, name: str, words: dict[str, str]) -> bool:
        # What a term means stands in the glossary.
        known = words.get("class") in ("term", "number") and name != "href"
        return name in words and not known and not words[name].startswith("data:")

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag in self.UNSEEN
        if tag in self.BLOCKS:
            self.flush()

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.line += data

    def flush(self) -> None:
        line, self.line = " ".join(self.line.split()), ""
        # Rows of exhibits stand with their tables; two show what the page makes of them.
        hidden = self.exhibit and line.startswith("|") and self.rows > 3
        if line and not self.skipped and not hidden:
            self.lines.append(line)


def _rounded(text: str) -> str:
    return re.sub(r"\d+\.\d+", lambda match: _cell(float(match[0])), text)


def article(root: Path) -> Lines:
    """Return what the article's source reads of a run: its numbers, tables and verdicts.

    A run without claims has the tables of results and the advice alone. Authors and versions are
    left out.
    """
    files = inputs.files_of_folder(root)
    if "claims" not in files:
        grids = {}
        for name in build.RESULTS:
            grids[name], grids[f"{name}_beyond"] = build._results_of(files, name)
        return _grids({**grids, "advice": build._advice(files)})
    content, (_, used) = build._content(files), build.typst_text(files)
    lines = [f"{name}: {number.text} ({number.file})" for name, number in sorted(used.items())]
    lines += [f"{name}: {content[name]}" for name in ("mark", "simulated", "status")]
    return lines + _grids(content["tables"])


def _grids(grids: Mapping[str, Any]) -> Lines:
    lines = []
    for name, grid in grids.items():
        lines += [f"table {name}: {' | '.join(grid['header'])}"]
        for title, cells in grid["groups"]:
            lines += [f"group {title}", *map(" | ".join, cells)]
    return lines
