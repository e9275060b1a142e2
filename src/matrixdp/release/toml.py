"""Files of TOML; of one that is none the line and the reason are named."""

from __future__ import annotations

import tomllib
import unicodedata
from pathlib import Path
from typing import Any

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.release import tables


def check(path: Path) -> None:
    """Check that a path is not one of records.

    Raises:
        InputError: it has the suffix of records, or is a folder.
    """
    with checks.as_input_error(f"{path} cannot be read as TOML ({{why}})", remedy="correct it"):
        kind = "folder" if path.is_dir() else "file of records"
    if kind == "folder" or tables.suffix(path) in tables.SUFFIXES:
        raise InputError(f"{path} is a {kind}; give the file of TOML that names it")
    if tables.suffix(path) in tables.OTHERS:
        tables.check_format(path)


def load(path: Path) -> dict[str, Any]:
    """Return the content of a file of TOML; byte order marks are skipped, as in CSV.

    Raises:
        InputError: it cannot be read, or is no TOML.
    """
    check(path)
    with checks.as_input_error(f"{path} cannot be read as TOML ({{why}})", remedy="correct it"):
        text = path.read_text(encoding="utf-8").lstrip("\ufeff")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, remedy = checks.why(error), _remedy(text, error)
    except ValueError:
        # Python reads no whole number of thousands of digits, and does not say in which line.
        reason, remedy = "a number has too many digits", "write it shorter, as 1e300"
    raise InputError(f"{path} cannot be read as TOML ({reason}); {remedy}")


def _remedy(text: str, error: Exception) -> str:
    """Return what makes a text TOML."""
    if text.lstrip()[:1] == "{":
        return "it is JSON, so write each entry as a line name = value, without the outer { and }"
    if line := _line_of_sign(text):
        return f"write line {line} anew, as a sign in it looks like a blank, a minus or nothing"
    if str(error).startswith("Cannot"):
        return (
            "it states the same twice, so delete one; put a name with a point in it in quotes, as "
            '"a.b"'
        )
    return (
        "write each entry on a line as name = value, numbers as 0.5 or 1e-6, texts and unusual "
        'names in straight quotes as "age in years", paths with / for each backslash, lists as '
        "[0, 1], true in small letters, and comments after #"
    )


def _line_of_sign(text: str) -> int:
    """Return the first line with a sign that looks like none, a blank or a minus; 0 without one.

    It counts only if the text is TOML with usual signs in their place.
    """
    usual = "".join(map(_usual, text))
    try:
        tomllib.loads(usual)
    except ValueError:
        return 0
    lines = zip(text.split("\n"), usual.split("\n"), strict=True)
    return next((i for i, (line, plain) in enumerate(lines, 1) if line != plain), 0)


def _usual(sign: str) -> str:
    """Return a sign as TOML has it: a blank or a minus, and none for what nobody sees."""
    if sign in "\u2212\u2013":
        return "-"
    if sign in "\t\r\n" or sign.isprintable():
        return sign
    return " " * unicodedata.category(sign).startswith("Z")
