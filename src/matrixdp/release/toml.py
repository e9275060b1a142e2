"""Files of TOML, and what to change in one that is none: the remedy is tried before it is named."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.release import tables

#: What other formats and other programs write, as a pattern of a line; what TOML has in its place;
#: and the sentence that says so. The first that makes a line TOML is named.
_FIXES = (
    (r"[“”„‟″«»]", '"', 'write straight quotes "'),
    (r"[‘’‚‛′`´]", "'", "write straight quotes '"),
    (
        "[\u00a0\u00ad\u2000-\u200f\u2028-\u202f\u2060\u3000\ufeff]",
        " ",
        "type the line anew, as a character in it looks like a blank or like nothing",
    ),
    (r"\\", "/", "a backslash begins an escape in double quotes, so write / or single quotes"),
    (r"(?:^|\s+)\s*(?://|;|--|%)(?!.*=\s*\[).*", "", "begin a comment with #"),
    (r"[\u2010-\u2015\u2212](?=[0-9.])", "-", "write the minus - of the keyboard"),
    (r"^[^=]*=\s*(?i:null|none|nil)\s*$", "", "leave the entry out"),
    (r"([\w\"'])\s*:(?=\s*\S)", r"\1 =", "write = between a name and its value"),
    (r"\b(?i:true)\b", "true", "write true in small letters"),
    (r"\b(?i:false)\b", "false", "write false in small letters"),
    (
        r"(=\s*[1-9][0-9]{0,2}|,\s*[0-9]{1,3})[, '’](?=[0-9]{3}\b)",
        r"\1",
        "write numbers without marks of thousands, and decimals with a point",
    ),
    (r"(=\s*[-+]?[0-9]+),([0-9]+)\s*$", r"\1.\2", "write decimals with a point"),
    (r"[;,]\s*$", "", "end a line without a mark"),
    (r"^\s*([\w.-]+)\s*:\s*$", r"[\1]", "write the name of a table in brackets"),
    (r'^\s*([^"\'=\[][^"=]*?)\s*=', r'"\1" =', "put the name in quotes"),
    (r'^\s*([^"\'\[][^"]*?)\s*=(?=\s*\[)', r'"\1" =', "put the name in quotes"),
    (r"^\s*(?:[\"']([^\"'=]+?)|([^\"'=\s]+)[\"'])\s*=", r'"\1\2" =', "close the quotes"),
    (r"^\s*([^'\[][^']*?)\s*=(?=\s*\[)", r"'\1' =", "put the name in single quotes"),
    (r"$", '"', "close the quotes"),
    (r"$", "]", "close the brackets"),
    (r"$", "}", "close the braces"),
)


def load(path: Path) -> dict[str, Any]:
    """Return the content of a file of TOML; byte order marks are skipped, as in CSV.

    Raises:
        InputError: it cannot be read, or is no TOML; the remedy was tried on the line.
    """
    if tables.suffix(path) in tables.SUFFIXES:
        raise InputError(f"{path} is a file of records; give the file of TOML that names it")
    if tables.suffix(path) in tables.OTHERS:
        tables.check_format(path)
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
    """Return what makes the line of an error TOML."""
    if text.lstrip()[:1] == "{" and _is_json(text):
        return "it is JSON, so write each entry as a line name = value, without the outer { and }"
    lines = text.split("\n")
    number = _line(error, len(lines))
    # A list that is not closed is noticed on a later line.
    for place, fix in product((number, number - 1), _FIXES):
        pattern, replacement, sentence = fix
        line = re.sub(pattern, replacement, lines[place])
        if place >= 0 and _is_better([*lines[:place], line, *lines[place + 1 :]], number):
            line_words = f" in line {place + 1}" * (place != number)
            example = checks.short(" ".join(line.split()))
            return f"{sentence}{line_words}{example and f', as in {example}'}"
    if str(error).startswith("Cannot"):
        return "it states the same twice, so delete one"
    return (
        "write each entry as name = value, numbers as 0.5 or 1e-6, texts in double quotes, and "
        "lists in square brackets with commas, as [0, 1]"
    )


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _is_better(lines: list[str], number: int) -> bool:
    """Return whether lines have no error up to line ``number``, from 0."""
    try:
        tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        return _line(error, len(lines)) > number
    except ValueError:
        return False
    return True


def _line(error: Exception, count: int) -> int:
    """Return the number of the line of an error, from 0; the last one for the end of the file."""
    place = re.search(r"at line (\d+)", str(error))
    return int(place[1]) - 1 if place else count - 1
