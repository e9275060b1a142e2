"""What the verbs' options have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from matrixdp.config import token

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
