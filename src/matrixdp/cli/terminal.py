"""What verbs print: characters that every terminal can show, JSON, and notes."""

from __future__ import annotations

import codecs
import io
import json
import math
import sys
from collections.abc import Iterable, Mapping
from typing import Any


def escape_output() -> None:
    """Have characters that the terminal cannot show printed as JSON and TOML escape them.

    Otherwise the answer of a charged release could end in an error of the terminal.
    """
    codecs.register_error("escape", _escape)
    for stream in (sys.stdout, sys.stderr):
        # What stands in place of a stream may show every character.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="escape")


def _escape(error: UnicodeError) -> tuple[str, int]:
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
