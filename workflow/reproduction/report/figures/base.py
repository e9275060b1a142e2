"""The interface of figures: one tidy frame, and a drawing made from that frame alone.

A file of this package has its figures in a dictionary with literal keys::

    FIGURES = {
        "noise_levels": Figure(
            title="How large the noise is",
            caption="What is shown.",
            data=tidy,
            draw=draw,
        ),
    }
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.figure
import numpy as np
import pandas as pd
from PIL import Image

from reproduction import catalogue
from reproduction.files import replacing, write_text
from reproduction.report import entries
from reproduction.report.entries import Recipe
from reproduction.report.figures import style
from reproduction.report.inputs import Files


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figure(Recipe):
    """The recipe of a figure (see :class:`reproduction.report.entries.Recipe`).

    Its caption also serves as alternative text.

    Attributes:
        data: see there; without it, the frame is the one input as it is.
        draw: from the frame to a drawing, made with :func:`style.canvas`. It may count on at
            least one row; it sets no title of the whole figure.
    """

    data: Callable[..., pd.DataFrame] = entries.only
    draw: Callable[[pd.DataFrame], matplotlib.figure.Figure]

    def frame(self, files: Files) -> pd.DataFrame:
        """Return the figure's data from its inputs, with ``data_status``.

        Raises:
            InputError: an input is damaged.
        """
        frame, status = self.collect(files)
        return frame.assign(data_status=status)

    def describe(self, frame: pd.DataFrame) -> str:
        """Return the caption for a frame; the mark of its data and missing data come first."""
        text = super().describe(frame)
        return " ".join(filter(None, (catalogue.mark(frame["data_status"].iloc[0]).text, text)))

    def render(self, frame: pd.DataFrame) -> matplotlib.figure.Figure:
        """Return the drawing of a frame under its finding and topic, with the mark of its data.

        Without both on a telephone. Call it inside :func:`style.context`, and save the drawing
        there too.
        """
        empty = entries.is_empty(frame)
        with catalogue.looks_of(frame.attrs.get("mechanisms", ())):
            drawing = style.message(frame["note"].iloc[0]) if empty else self.draw(frame)
        mark = catalogue.mark(frame["data_status"].iloc[0])
        if style.is_narrow():
            style.stamp(drawing, mark)
            style.fit(drawing)
        else:
            style.headline(drawing, self.headline(frame), self.topic(frame), mark)
        return drawing


def save(figure: Figure, recipe: str, files: Files, out: str | os.PathLike) -> None:
    """Write a figure as SVG, beside it PNG and JSON, and its data as CSV to the folder ``data``.

    The folder ``narrow`` has it as SVG for a telephone, without headline.

    The JSON file has the words of the figure, the height of those above it in points, its recipe,
    and the names of what it is made from.
    The same frame gives the same bytes: no dates, fixed identifiers, fonts that come with
    matplotlib, drawn as paths.

    Raises:
        InputError: an input is damaged, or a file cannot be written.
    """
    frame = figure.frame(files)
    columns = [column for column in frame.columns if not column.startswith("_")]
    text = frame[columns].to_csv(index=False, lineterminator="\n")
    svg = Path(out)
    write_text(svg.parent / "data" / f"{svg.stem}.csv", text)
    topic, headline = figure.topic(frame), figure.headline(frame)
    words: dict[str, Any] = {
        "topic": topic,
        "headline": headline,
        "caption": figure.describe(frame),
    }
    _, above = style.header(headline, topic, catalogue.mark(frame["data_status"].iloc[0]))
    words |= {"header": round(72 * above, 2)}
    words |= {"recipe": recipe, "inputs": [*files]}
    text = json.dumps(words, ensure_ascii=False, indent=1)
    write_text(svg.with_suffix(".json"), f"{text}\n")
    metadata = {"Date": None, "Creator": None, "Title": topic}
    with style.context(f"{svg.stem} narrow", narrow=True):
        drawing = figure.render(frame)
        settle(drawing)
        _write(drawing, svg.parent / "narrow" / svg.name, metadata)
    with style.context(svg.stem):
        drawing = figure.render(frame)
        settle(drawing)
        _write(drawing, svg, metadata)
        pixels = io.BytesIO()
        drawing.savefig(pixels, format="png", dpi=style.DPI)
    with replacing(svg.with_suffix(".png")) as temporary:
        # With a palette the file has a third of the bytes, and looks the same.
        palette = Image.open(pixels).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        palette.save(temporary, format="png", optimize=True, dpi=(style.DPI, style.DPI))


def _write(drawing: style.Drawing, path: Path, metadata: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        drawing.savefig(temporary, format=path.suffix[1:], metadata=metadata)


def settle(drawing: style.Drawing) -> None:
    """Settle a drawing's layout once for all files; the same drawing then gives the same bytes."""
    drawing.draw_without_rendering()
    drawing.set_layout_engine("none")
    # The layout's solver is not exact to the last digits, which would change the files.
    for axes in drawing.get_axes():
        axes.set_position(np.round(axes.get_position(original=True).bounds, 6).tolist())
