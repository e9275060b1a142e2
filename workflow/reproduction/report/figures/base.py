"""A figure: its words, one tidy frame, and a drawing made from that frame alone.

A file of this package, such as ``figure3.py``, has ``build(run)``, which makes the figure of that
name::

    def build(run: Run) -> Figure:
        return Figure(
            title="How large the noise is",
            caption="What is shown.",
            frame=run["theory/ellipses"],
            draw=draw,
        )
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.figure
import numpy as np
import pandas as pd
from PIL import Image

from reproduction import catalogue
from reproduction.files import replacing, write_text
from reproduction.report.figures import style
from reproduction.report.inputs import COMPUTED


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure with a caption, which also serves as alternative text.

    Attributes:
        title: its topic.
        caption: plain sentences, as few as it needs.
        frame: the data that it shows. Columns whose names begin with ``_`` are for the drawing
            alone.
        draw: from the frame to a drawing, made with :func:`style.canvas`. It may count on at
            least one row; it sets no title of the whole figure.
        status: that of the data, which may need a mark.
        mechanisms: those of the run, which have looks of their own.
    """

    title: str
    caption: str
    frame: pd.DataFrame
    draw: Callable[[pd.DataFrame], matplotlib.figure.Figure]
    status: str = COMPUTED
    mechanisms: Sequence[str] = ()

    def render(self) -> matplotlib.figure.Figure:
        """Return the drawing under its topic, with the mark of its data.

        Call it inside :func:`style.context`, and save the drawing there too.
        """
        with catalogue.looks_of(self.mechanisms):
            drawing = self.draw(self.frame)
        style.headline(drawing, self.title, catalogue.mark(self.status))
        return drawing


def save_figure(figure: Figure, words: dict[str, Any], out: str | os.PathLike) -> None:
    """Write a figure as SVG, beside it PNG and JSON, and its data as CSV to the folder ``data``.

    The JSON file has the words of the figure, the height of those above it in points, and what
    ``words`` has. The same frame gives the same bytes: no dates, fixed identifiers, fonts that come
    with matplotlib, drawn as paths.

    Raises:
        InputError: a file cannot be written.
    """
    columns = [column for column in figure.frame.columns if not column.startswith("_")]
    text = figure.frame[columns].to_csv(index=False, lineterminator="\n")
    svg = Path(out)
    write_text(svg.parent / "data" / f"{svg.stem}.csv", text)
    _, above = style.header(figure.title, catalogue.mark(figure.status))
    content = {"topic": figure.title, "caption": figure.caption}
    content |= {"header": round(72 * above, 2)} | words
    text = json.dumps(content, ensure_ascii=False, indent=1)
    write_text(svg.with_suffix(".json"), f"{text}\n")
    metadata = {"Date": None, "Creator": None, "Title": figure.title}
    with style.context(svg.stem):
        drawing = figure.render()
        settle(drawing)
        with replacing(svg) as temporary:
            drawing.savefig(temporary, format="svg", metadata=metadata)
        pixels = io.BytesIO()
        drawing.savefig(pixels, format="png")
        dots = (drawing.dpi, drawing.dpi)
    with replacing(svg.with_suffix(".png")) as temporary:
        # With a palette the file has a third of the bytes, and looks the same.
        palette = Image.open(pixels).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        palette.save(temporary, format="png", optimize=True, dpi=dots)


def settle(drawing: style.Drawing) -> None:
    """Settle a drawing's layout once for all files; the same drawing then gives the same bytes."""
    drawing.draw_without_rendering()
    drawing.set_layout_engine("none")
    # The layout's solver is not exact to the last digits, which would change the files.
    for axes in drawing.get_axes():
        axes.set_position(np.round(axes.get_position(original=True).bounds, 6).tolist())
