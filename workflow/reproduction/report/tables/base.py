"""The interface of tables: one tidy frame, and a grid made from that frame alone.

::

    TABLES = {
        "audit": Table(
            title="Audit",
            caption="What is shown, and what one finds.",
            data=tidy,
            grid=cells,
        ),
    }
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pandas as pd

from reproduction import catalogue
from reproduction.report import entries, markup
from reproduction.report.entries import Recipe


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table(Recipe):
    """The recipe of a table (see :class:`reproduction.report.entries.Recipe`).

    Attributes:
        grid: function from the frame, which has at least one row, to header, groups and any
            warning. Title, headline and caption come from this entry. ``None``: a CSV alone, with
            its words in JSON and no Markdown.
    """

    grid: Callable[[pd.DataFrame], markup.Grid] | None

    def show(self, frame: pd.DataFrame, status: str) -> markup.Grid:
        """Return the grid of a frame, with its words and the mark of its data."""
        grid = markup.Grid() if self.grid is None or entries.is_empty(frame) else self.grid(frame)
        warnings = filter(None, (catalogue.mark(status).text, grid.warning))
        title, headline = self.topic(frame), self.headline(frame)
        return dataclasses.replace(
            grid,
            name=title,
            headline="" if headline == title else headline,
            caption=self.describe(frame),
            warning=" ".join(warnings),
        )
