"""What a table shows, as a value: page, article, Markdown and LaTeX read it, and build nothing.

The job of a table writes it as JSON beside the CSV file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter


@dataclass(frozen=True)
class Heading:
    """The head of a column.

    Attributes:
        header: its name; it may be empty.
        print: its name in the article; empty for a column that is not there.
        page: its name on the page, if it is another one; None for a column that is not there.
        number: whether it is a column of numbers.
        badge: whether the page sets its words as badges.
        published: whether it shows what the paper prints.
    """

    header: str
    print: str = ""
    page: str | None = ""
    number: bool = False
    badge: bool = False
    published: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes:
        text: what a reader sees.
        value: the number to sort by; None for none.
        note: what stands behind the text, on the page in a line of its own; or empty.
        brief: text for a narrow column in print, if it is another one: without an interval, a mark,
            or the number in a paper's own list of references.
        word: the verdict in a word, which a badge is coloured by, where the text says more.
    """

    text: str
    value: float | None = None
    note: str = ""
    brief: str = ""
    word: str = ""

    # JSON has no infinite number.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(ser_json_inf_nan="strings")

    @property
    def whole(self) -> str:
        """The text and the note."""
        return f"{self.text} {self.note}" if self.note else self.text


@dataclass(frozen=True)
class Group:
    """Lines under a title, which may be empty.

    Attributes:
        title: what they have in common.
        lines: a cell a column.
        aside: whether the page leaves them to the CSV file.
    """

    title: str
    lines: tuple[tuple[Cell, ...], ...]
    aside: bool = False


@dataclass(frozen=True)
class Sheet:
    """What a table shows.

    Attributes:
        title: "Table 3", its topic; also the LaTeX label, in small letters without the space.
        caption: plain sentences.
        headings: of its columns.
        groups: its lines.
        warning: what no reader may miss; or empty.
    """

    title: str
    caption: str
    headings: tuple[Heading, ...] = ()
    groups: tuple[Group, ...] = ()
    warning: str = ""

    def dump(self) -> str:
        """Return the sheet as JSON in one line."""
        return f"{_JSON.dump_json(self, exclude_defaults=True).decode()}\n"


_JSON = TypeAdapter(Sheet)


def load_sheet(text: str) -> Sheet:
    """Return the sheet of a JSON text.

    Raises:
        pydantic.ValidationError: it is none.
    """
    return _JSON.validate_json(text)
