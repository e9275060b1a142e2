"""What the verbs' options and outputs have in common."""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from matrixdp import checks
from matrixdp.config import token

if TYPE_CHECKING:
    import pandas as pd

#: Adds a verb: its name, the function that runs it, what it does in one line.
Verb = Callable[[str, Callable[[argparse.Namespace], None], str], argparse.ArgumentParser]


def comma_separated(text: str) -> list[str]:
    """Return the words of a comma-separated option."""
    words = [word for word in text.split(",") if word]
    if not words:
        raise argparse.ArgumentTypeError(f"{text!r} must name at least one value")
    return words


def seed_number(text: str) -> int:
    """Return a root seed."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 0")
    return int(text)


def tokens(values: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the canonical tokens of numbers, each once."""
    return tuple(dict.fromkeys(token(value, name) for value in values))


def delta_number(text: str) -> float:
    """Return a nominal delta.

    Raises:
        InputError: it is not a number strictly between 0 and 1.
    """
    return checks.open_unit(delta=float(token(text, "delta")))


def write_rows(table: pd.DataFrame, out: str) -> None:
    """Write tidy rows as gzipped CSV; the same rows are the same bytes."""
    from matrixdp import files

    text = table.to_csv(index=False, lineterminator="\n")
    with (
        files.replacing(out) as temporary,
        open(temporary, "wb") as raw,
        # No name and no time in the gzip header.
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as stream,
    ):
        stream.write(text.encode())
