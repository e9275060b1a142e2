"""What is refused, as rows: one sentence that names thing, value and remedy, and nothing else done.

A row is an input, the smallest difference from a valid one, and parts of the sentence. Whatever the
door, nothing below the folder is written or changed, so that no budget is spent either.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest


def tables(path: Path) -> list[str]:
    """Return the names of the tables of a TOML file."""
    return [*tomllib.loads(path.read_text(encoding="utf-8"))]


def rows(path: Path, table: str) -> list[Any]:
    """Return the rows of a table of a TOML file, each an input and the parts of its sentence."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))[table]
    return [pytest.param(row[0], row[1:], id=str(row[0])[:60]) for row in content]


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def command(
    main: Callable[[list[str]], int],
    words: Iterable[object],
    folder: Path,
    capsys: Any,
    says: Sequence[str],
    private: Sequence[str] = (),
) -> str:
    """Check how a command refuses its words; return the sentence."""
    before = contents(folder)
    try:
        status = main([str(word) for word in words])
    except SystemExit as end:
        status = end.code
    out, error = capsys.readouterr()
    assert (status, out) == (2, "")
    assert contents(folder) == before
    return sentence(error, folder, says, private)


def call(
    function: Callable[[], object],
    folder: Path,
    says: Sequence[str],
    private: Sequence[str] = (),
    kinds: type[Exception] | tuple[type[Exception], ...] = ValueError,
) -> str:
    """Check how Python refuses a call; return the sentence."""
    before = contents(folder)
    with pytest.raises(kinds) as refusal:
        function()
    assert contents(folder) == before
    if private:
        # Nor does a traceback show them.
        assert refusal.value.__cause__ is refusal.value.__context__ is None
    return sentence(f"{refusal.value}\n", folder, says, private)


def sentence(text: str, folder: Path, says: Sequence[str], private: Sequence[str]) -> str:
    """Check a sentence: one short line with all parts and no private value; return it."""
    text = text.replace(str(folder), "OUT")
    assert text.endswith("\n")
    assert text.count("\n") == 1, text
    assert len(text) < 700, text
    assert "Traceback" not in text
    assert [part for part in says if part not in text] == [], text
    assert [value for value in private if value in text] == []
    return text[:-1]
