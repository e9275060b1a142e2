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

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import matplotlib.figure
import pandas as pd

from matrixdp import files
from matrixdp.checks import InputError
from matrixdp.results import markup, published, summary
from matrixdp.results.figures import style

Tables = Mapping[str, pd.DataFrame]

#: Data behind a figure that uses no data set: formulas and samples of noise.
COMPUTED = "computed"

#: For PNG, 900 pixels at half its size.
DPI = 200


class Missing(Exception):
    """An input has not been made yet, or holds nothing."""


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
        try:
            tables = {name: _read(name, results) for name in self.inputs}
        except Missing as reason:
            return pd.DataFrame({"data_status": [COMPUTED], "note": [str(reason)]}, dtype=str)
        frame = self.data(tables)
        found = {s for table in tables.values() for s in table.get("data_status", ())}
        status = next((s for s in (summary.SIMULATED, "original") if s in found), COMPUTED)
        if frame.empty:
            note = f"{' and '.join(self.inputs)} hold nothing that this figure shows"
            return pd.DataFrame({"data_status": [status], "note": [note]}, dtype=str)
        return frame.assign(data_status=status)

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
    with style.context(name):
        drawing = figure.render(frame)
        # The SVG comes first: the layout that it settles is the one that both show.
        for suffix, metadata in {
            "svg": {"Date": None, "Creator": None, "Title": figure.title},
            "png": {"Software": None, "Title": figure.title},
        }.items():
            with files.replacing(Path(out) / f"{name}.{suffix}") as temporary:
                drawing.savefig(temporary, format=suffix, dpi=DPI, metadata=metadata)
    return frame


def _read(name: str, results: str | os.PathLike) -> pd.DataFrame:
    folder, _, stem = name.partition("/")
    if folder == "published":
        return published.read(stem)
    path = Path(results) / f"{name}.csv"
    if not path.is_file():
        raise Missing(f"{name}.csv has not been made yet")
    if folder == "summary":
        return summary.read(path)
    try:
        table = pd.read_csv(path, keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{path} cannot be read ({reason}); delete it and run again") from error
    if table.empty:
        raise Missing(f"{name}.csv holds no rows")
    return table
