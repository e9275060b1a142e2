"""The shape of a table: named inputs, one tidy frame, and a grid of nothing but that frame.

::

    TABLES = {
        "audit": Table(
            title="Audit",
            caption="What is shown, and what one finds.",
            inputs=("audit/{experiment}",),
            data=tidy,
            grid=cells,
        ),
    }
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import entries, markup
from matrixdp.report.entries import Entry


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table(Entry):
    """How a table is made (see :class:`matrixdp.report.entries.Entry`).

    Attributes:
        grid: from the frame, which has at least one row, to header and groups. Title, headline
            and caption are this entry's; it may warn.
    """

    grid: Callable[[pd.DataFrame], markup.Grid]

    def show(self, frame: pd.DataFrame, status: str) -> markup.Grid:
        """Return the grid of a frame, with its words and the mark of its data."""
        grid = markup.Grid() if entries.is_empty(frame) else self.grid(frame)
        warnings = filter(None, (catalogue.mark(status).text, grid.warning))
        headline = self.headline(frame)
        return dataclasses.replace(
            grid,
            name=self.title,
            headline="" if headline == self.title else headline,
            caption=self.describe(frame),
            warning=" ".join(warnings),
        )
