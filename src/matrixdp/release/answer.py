"""The answer of a release: its table, its receipt and what stands beside them, and their files."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from matrixdp.checks import Array, InputError
from matrixdp.isolation import isolate
from matrixdp.release import durable, picture, provenance, receipt_page, storage
from matrixdp.release.outputs import Bounds


@isolate
@dataclass(frozen=True, repr=False)
class Answer:
    """What a release says; all of it may be shown.

    Attributes:
        query: a name of a query in specifications.
        header: names of the table's columns; the first one is empty where rows have names.
        rows: its rows, which then begin with their names. An empty text is an empty cell.
        details: what depends on the answer: intervals, means beyond their bounds, parts; empty
            where the receipt has all.
        receipt: the guarantee and the noise.
        notes: messages for the owner of the records, a sentence each.
        paths: paths by role, of what was written: ``release``, ``receipt``, ``page``, ``picture``,
            ``details``, and of the ``account``.
    """

    query: str
    header: list[str]
    rows: list[list[Any]]
    details: dict[str, Any]
    receipt: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    paths: dict[str, Path] = field(default_factory=dict)

    @classmethod
    def of(cls, stored: storage.Stored) -> Self:
        """Return the answer that was stored with its description."""
        assert stored.answer is not None
        return cls(**stored.answer, receipt=stored.receipt)

    @property
    def answer(self) -> Any:
        """The numbers: a data frame of pandas, or without pandas a dictionary of the same.

        It has ``columns``, ``index`` (names of the rows, or None) and ``values``, an array (rows,
        columns). Bounds are a dictionary of (lowest, highest) by column, of those that were found.
        """
        if self.query == Bounds.name:
            return {name: (low, high) for name, low, high in self.rows if low != ""}
        first = self.header[0] == ""
        index = [row[0] for row in self.rows] if first else None
        cells = [[np.nan if cell == "" else cell for cell in row[first:]] for row in self.rows]
        values: Array = np.array(cells, dtype=float)
        try:
            import pandas as pd
        except ImportError:
            return {"columns": self.header[first:], "index": index, "values": values}
        return pd.DataFrame(values, columns=self.header[first:], index=index)

    @property
    def page(self) -> str:
        """The receipt as Markdown, which shows the picture of its noise where there is one."""
        return self._page(self.picture)

    @property
    def picture(self) -> str:
        """The picture of the noise as SVG; empty where there is none."""
        return picture.of_statement(self.receipt)

    @property
    def says(self) -> str:
        """The size of the noise, in plain words."""
        return str(self.receipt["says"])

    def files(self) -> dict[str, str]:
        """Return the texts of its files by name."""
        drawing = self.picture
        texts = {
            "release": self._text(),
            "receipt": json.dumps(self.receipt, indent=2) + "\n",
            "page": self._page(drawing),
            "picture": drawing,
            "details": json.dumps(self.details, indent=2) + "\n" if self.details else "",
        }
        names = file_names(self.query)
        return {names[role]: text for role, text in texts.items() if text}

    def paths_in(self, out: Path | None) -> dict[str, Path]:
        """Return the paths of its files in a folder, by role; none without a folder."""
        if out is None:
            return {}
        names, texts = file_names(self.query), self.files()
        return {role: out / name for role, name in names.items() if name in texts}

    def _page(self, drawing: str) -> str:
        """Return the receipt as Markdown beside a picture as SVG, which may be empty."""
        shown = file_names(self.query)["picture"] if drawing else ""
        return receipt_page.markdown(self.receipt, self.query, shown)

    def _text(self) -> str:
        """Return the table as text: of bounds TOML, otherwise CSV."""
        if self.query == Bounds.name:
            return provenance.text(self.rows, self.receipt)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.header, *self.rows])
        return text.getvalue()

    def content(self) -> dict[str, Any]:
        """Return what an account stores, beside the receipt, to make the answer from again."""
        return {name: getattr(self, name) for name in ("query", "header", "rows", "details")}

    def __repr__(self) -> str:
        table = self._text() if self.query == Bounds.name else str(self.answer)
        return "\n".join([table, self.says, *self.notes])


def file_names(query_name: str) -> dict[str, str]:
    """Return the names of the files that an answer may have, by role."""
    suffixes = {
        "release": ".toml" if query_name == Bounds.name else ".csv",
        "receipt": ".receipt.json",
        "page": ".receipt.md",
        "picture": ".receipt.svg",
        "details": ".details.json",
    }
    return {role: f"{query_name}{suffix}" for role, suffix in suffixes.items()}


@contextlib.contextmanager
def claim(
    out: Path | None,
    account: Path,
    sizes: Mapping[str, int],
    texts: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Lock a folder and reserve disk space for new files; existing files are never replaced.

    Space that a killed run left is freed, also of files of size 0, which are not written.

    Raises:
        InputError: one of the files exists with other content than ``texts`` or is to become the
            account, or the folder cannot hold them.
    """
    if out is None:
        yield
        return
    files = {name: out / name for name in sizes}
    with contextlib.ExitStack() as stack:
        with durable.explain(out, "{cure}, or give another --out"):
            out.mkdir(parents=True, exist_ok=True)
            # Some file systems cannot lock folders; the account keeps a copy of each answer.
            with contextlib.suppress(OSError):
                stack.enter_context(durable.lock(out))
            for name, file in files.items():
                if account in (file.resolve(), durable.part(file.resolve())):
                    raise InputError(
                        f"{account} is stated as the account, and {file} is a file of the answer; "
                        "state another account, or give another --out"
                    )
                if not sizes[name] or not file.exists():
                    continue
                if not (texts and file.read_bytes() == texts[name].encode()):
                    raise InputError(f"{file} is there already; move it, or give another --out")
            for name, file in files.items():
                stack.callback(durable.unreserve, file)
                if sizes[name]:
                    durable.reserve(file, sizes[name])
        yield


def rename_answer(answer: Answer, claimed: Container[str], out: Path | None) -> Answer:
    """Return an answer whose files are claimed, or have names that no file in the folder has.

    Numbers that could not be described have a name that was not known when files were claimed.
    """
    name, number = answer.query, 1
    while out and any(
        file not in claimed and (out / file).exists() for file in file_names(answer.query).values()
    ):
        number += 1
        answer = replace(answer, query=f"{name}_{number}")
    return answer


def publish(out: Path | None, texts: Mapping[str, str]) -> None:
    """Write the files of an answer to a folder that :func:`claim` holds; none without a folder.

    Raises:
        InputError: one cannot be written.
    """
    if out is None:
        return
    remedy = "the answer is kept beside the account; ask again with another --out, at no cost"
    for name, text in texts.items():
        with durable.explain(out / name, remedy):
            durable.write(out / name, text)
