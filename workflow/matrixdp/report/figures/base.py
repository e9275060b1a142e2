"""The shape of a figure: tables in, one tidy frame, and a drawing of nothing but that frame.

A file of this package offers its figures in a dictionary with literal keys and literal inputs,
which the workflow reads without importing anything::

    FIGURES = {
        "bounds": Figure(
            title="Two upper bounds",
            caption="What is shown, and what one finds.",
            inputs=("theory/bounds",),
            data=tidy,
            draw=draw,
        ),
    }
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import matplotlib.figure
import pandas as pd
from PIL import Image

from matrixdp import files
from matrixdp.checks import InputError
from matrixdp.report import markup, published, summary
from matrixdp.report.figures import style

Tables = Mapping[str, pd.DataFrame]

#: Data behind a figure that uses no data set: formulas and samples of noise.
COMPUTED = "computed"


def _nothing(status: str, note: str) -> pd.DataFrame:
    return pd.DataFrame({"data_status": [status], "note": [note]}, dtype=str)


@dataclass(frozen=True)
class Figure:
    """How a figure is made.

    Attributes:
        title: a headline, drawn above the panels.
        caption: one or two plain sentences: what it shows and what one finds. It also serves as
            alternative text. A function of the frame, where the finding depends on the numbers.
        inputs: names such as ``summary/regression``: CSV files below the results' folder;
            ``published/table3`` stands for what a paper prints.
        data: from the inputs by name to one tidy frame. ``data_status`` is added to it.
        draw: from that frame to a drawing, made with :func:`style.canvas`. It may count on at
            least one row; it sets no title of the whole figure.
    """

    title: str
    caption: str | Callable[[pd.DataFrame], str]
    inputs: tuple[str, ...]
    data: Callable[[Tables], pd.DataFrame]
    draw: Callable[[pd.DataFrame], matplotlib.figure.Figure]

    def frame(self, results: str | os.PathLike) -> pd.DataFrame:
        """Return the figure's data from the inputs below ``results``.

        Returns:
            The tidy frame with a column ``data_status``: ``simulated`` if any input is, else
            ``original`` if any is, else ``computed``. Without rows there is a column ``note``
            instead, whose one entry says what is missing.

        Raises:
            InputError: an input is damaged.
        """
        if (name := self.missing(results)) is not None:
            return _nothing(COMPUTED, f"{name}.csv has not been made yet")
        tables = {name: _read(name, results) for name in self.inputs}
        frame = self.data(tables)
        found = {s for table in tables.values() for s in table.get("data_status", ())}
        status = next((s for s in (summary.SIMULATED, "original") if s in found), COMPUTED)
        if frame.empty:
            return _nothing(status, f"{', '.join(self.inputs)}: nothing that this figure shows")
        return frame.assign(data_status=status)

    def missing(self, results: str | os.PathLike) -> str | None:
        """Return the first input that is not there, None if all are."""
        return next((name for name in self.inputs if not _path(name, results).is_file()), None)

    def describe(self, frame: pd.DataFrame) -> str:
        """Return the caption for a frame; simulated data and missing data come first."""
        if is_empty(frame):
            return f"Nothing to show: {frame['note'].iloc[0]}."
        text = self.caption(frame) if callable(self.caption) else self.caption
        simulated = frame["data_status"].eq(summary.SIMULATED).any()
        return f"{markup.SIMULATED} {text}" if simulated else text

    def render(self, frame: pd.DataFrame) -> matplotlib.figure.Figure:
        """Return the drawing of a frame, with its title and, if so, the mark of simulated data.

        Call it inside :func:`style.context`, and save the drawing there too.
        """
        drawing = style.message(frame["note"].iloc[0]) if is_empty(frame) else self.draw(frame)
        simulated = bool(frame["data_status"].eq(summary.SIMULATED).any())
        style.headline(drawing, self.title, simulated)
        return drawing


def is_empty(frame: pd.DataFrame) -> bool:
    """Return whether :meth:`Figure.frame` found nothing to show."""
    return list(frame.columns) == ["data_status", "note"]


def save(
    figure: Figure, name: str, *, results: str | os.PathLike, out: str | os.PathLike
) -> pd.DataFrame:
    """Write ``<out>/data/<name>.csv``, ``<out>/<name>.svg`` and ``<out>/<name>.png``.

    The same frame gives the same bytes: no dates, fixed identifiers, fonts that come with
    matplotlib, drawn as paths.

    Returns:
        The figure's frame.

    Raises:
        InputError: an input is damaged, or a file cannot be written.
    """
    frame = figure.frame(results)
    text = frame.to_csv(index=False, lineterminator="\n")
    files.write_text(Path(out) / "data" / f"{name}.csv", text)
    svg, png = (Path(out) / f"{name}.{suffix}" for suffix in ("svg", "png"))
    with style.context(name):
        drawing = figure.render(frame)
        # One layout for both files, settled once.
        drawing.draw_without_rendering()
        drawing.set_layout_engine("none")
        with files.replacing(svg) as temporary:
            metadata = {"Date": None, "Creator": None, "Title": figure.title}
            drawing.savefig(temporary, format="svg", metadata=metadata)
        pixels = io.BytesIO()
        drawing.savefig(pixels, format="png", dpi=style.DPI)
    with files.replacing(png) as temporary:
        # A palette makes a third of the bytes, and no difference to see.
        palette = Image.open(pixels).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        palette.save(temporary, format="png", optimize=True, dpi=(style.DPI, style.DPI))
    return frame


def _path(name: str, results: str | os.PathLike) -> Path:
    folder, _, stem = name.partition("/")
    root = published.FOLDER if folder == "published" else Path(results) / folder
    return Path(root) / f"{stem}.csv"


def _read(name: str, results: str | os.PathLike) -> pd.DataFrame:
    folder, _, stem = name.partition("/")
    path = _path(name, results)
    if folder == "published":
        return published.read(stem)
    if folder == "summary":
        return summary.read(path)
    try:
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{path} cannot be read ({reason}); delete it and run again") from error
