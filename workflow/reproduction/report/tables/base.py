"""A table: its words, the frame of its CSV file, and columns that read the lines it shows.

A file of this package, such as ``imgm_settings.py``, has ``build(run)``, which makes the table of
that name::

    def build(run: Run) -> Table:
        frame = run["theory/settings"]
        return Table(
            title="Published settings",
            caption="What is shown, and what one finds.",
            frame=frame,
            columns=[Column("Scheme", "scheme"), Column("Noise", noise, "noise_std")],
            groups=lines(frame, by="perturbation"),
        )
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from reproduction.report import markup
from reproduction.report.inputs import Run
from reproduction.report.sheet import Cell, Group, Heading, Sheet

#: What a line shows: a row of a frame, or all rows that are alike as one frame.
Line = Any


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        header: its name; it may be empty.
        text: the name of a column of the frame, or a function from a line to the cell or its text.
        value: the same for the number to sort by, for a column of numbers; or empty.
        print: its header in the article; empty for a column that is not there.
        page: its header on the page, if it is another one; None for a column that is not there,
            but in the CSV file alone.
        badge: whether the page sets its words as badges.
        published: whether it shows what the paper prints.
    """

    header: str
    text: str | Callable[[Line], str | Cell]
    value: str | Callable[[Line], Any] = ""
    print: str = ""
    page: str | None = ""
    badge: bool = False
    published: bool = False

    def cell(self, line: Line) -> Cell:
        """Return the cell of a line, sorted by the least of several numbers."""
        made = self.text(line) if callable(self.text) else markup.format_value(line[self.text])
        cell = Cell(made) if isinstance(made, str) else made
        if not self.value:
            return cell
        value = self.value(line) if callable(self.value) else line[self.value]
        number = float(value.min() if isinstance(value, pd.Series) else value)
        return replace(cell, value=None if math.isnan(number) else number)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table with a caption.

    Attributes:
        title: "Table 3", its topic; also the LaTeX label, in small letters without the space.
        caption: plain sentences, as few as it needs.
        frame: what its CSV file has.
        columns: what is shown of a line; without any, it is a CSV file alone.
        groups: lines, each group after a rule and under its title (empty for none).
        aside: titles of groups that the page leaves to the CSV file.
        warning: what no reader may miss, set in bold before the caption; or empty.
    """

    title: str
    caption: str
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    columns: Sequence[Column] = ()
    groups: Mapping[str, Sequence[Line]] = field(default_factory=dict)
    aside: Collection[str] = ()
    warning: str = ""

    def sheet(self) -> Sheet:
        """Return what the table shows."""
        groups = (
            Group(
                title,
                tuple(tuple(column.cell(line) for column in self.columns) for line in group),
                title in self.aside,
            )
            for title, group in self.groups.items()
        )
        headings = (
            Heading(
                column.header,
                column.print,
                column.page,
                bool(column.value),
                column.badge,
                column.published,
            )
            for column in self.columns
        )
        return Sheet(self.title, self.caption, tuple(headings), tuple(groups), self.warning)


def lines(
    frame: pd.DataFrame,
    by: str | pd.Series | None = None,
    *,
    title: Callable[[Any], str] = str,
    each: Sequence[Hashable] = (),
) -> dict[str, list[Line]]:
    """Return the lines of a frame by the title of their group.

    Args:
        by: column that defines the groups, or one value per row; one group without a title if None.
        title: from what defines a group to its title.
        each: columns; rows that are alike in these make one line, as one frame.
    """
    groups: dict[str, list[Line]] = {}
    for key, rows in frame.groupby(by, sort=False) if by is not None else [("", frame)]:
        alike = [part for _, part in rows.groupby([*each], sort=False)] if each else []
        groups[title(key)] = alike or rows.to_dict("records")
    return groups


def empty(title: str, run: Run) -> Table:
    """Return a table that has nothing to show of what it is made from."""
    frame = pd.DataFrame({"note": [run.nothing]}, dtype=str)
    return Table(title=title, caption=f"Nothing to show: {run.nothing}.", frame=frame)
