"""Verbs for a person's own matrix; ``matrixdp VERB --help`` explains one.

A verb is a module of this package, as in :mod:`matrixdp.commands`.
"""

from __future__ import annotations

import codecs
import contextlib
import difflib
import io
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matrixdp import commands

#: The verbs, in the order of use.
_NAMES = ("recommend", "bounds", "release", "account")

_DESCRIPTION = f"""Release a matrix of your own with differential privacy:

  matrixdp recommend people.toml   the mechanisms and their noise, from public facts alone
  matrixdp bounds limits.toml      bounds of columns where nobody knows any, by a release of its own
  matrixdp release people.toml     the private numbers, a receipt, and a charge to the account
  matrixdp account people.csv      what is spent of the file's total, and what is left

people.toml says what is released; `matrixdp release --help` shows one. Every key is explained in
{Path(__file__).parents[1] / "own_matrix.md"}
"""


#: The help text of every verb.
VERBS = commands.texts(Path(__file__).with_name(f"{name}.py") for name in _NAMES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status."""
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    if words and words[0] not in VERBS and not words[0].startswith("-"):
        print(f"matrixdp: {_no_verb(words[0])}", file=sys.stderr)
        return 2
    return commands.call(words, "matrixdp", __name__, VERBS, _DESCRIPTION, around=_isolated)


def _isolated() -> contextlib.AbstractContextManager:
    """Return the arithmetic that every door of the library runs in; its import takes a while."""
    from matrixdp.isolation import Isolation

    return Isolation()


def escape_output() -> None:
    """Have characters that the terminal cannot show printed as JSON and TOML escape them.

    Otherwise the answer of a charged release could end in an error of the terminal.
    """
    codecs.register_error("escape", _escaped)
    for stream in (sys.stdout, sys.stderr):
        # What stands in place of a stream may show every character.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="escape")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Return the escapes of the characters of an error, and the place behind them."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    codes = map(ord, error.object[error.start : error.end])
    return "".join(
        f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}" for code in codes
    ), error.end


def show(content: Mapping[str, Any]) -> None:
    """Print one JSON object, as verbs do under ``--json``."""
    print(json.dumps(_finite(content), indent=2, allow_nan=False, default=float))


def note(sentences: Iterable[str]) -> None:
    """Print notes for the owner of the records, on stderr."""
    for sentence in sentences:
        print(f"note: {sentence}", file=sys.stderr)


def _finite(content: Any) -> Any:
    """Return content with null for numbers that JSON has not."""
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _no_verb(word: str) -> str:
    """Return a sentence on a word that is no verb: the nearest one, or that of the study."""
    known = ", ".join(VERBS)
    if near := difflib.get_close_matches(word, VERBS, n=1):
        return f"{word!r} is no verb; did you mean {near[0]!r}? It must be one of {known}"
    sentence = f"{word!r} is no verb of the library, which has {known} (see `matrixdp --help`)"
    if word.lower().endswith(".toml"):
        return f"{sentence}; write `matrixdp release {word}`"
    if not word.isidentifier():
        return sentence
    return (
        f"{sentence}; a verb of the study runs in the project's folder, after `make`, as "
        f"`.venv/bin/python -m reproduction {word}`"
    )
