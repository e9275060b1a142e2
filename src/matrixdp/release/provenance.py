"""Bounds that a release of its own finds in private, and where the bounds of another come from.

`matrixdp bounds` spends a guarantee of its own on them and prints a table to paste. A later release
compares its bounds with the answers that the account keeps, so that its receipt says which of them
were found, by which charge. Values beyond such bounds are clipped, which no interval covers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matrixdp.privacy.sizes import SizeQuery
from matrixdp.release import missing, storage
from matrixdp.release.outputs import Bounds, Output
from matrixdp.release.words import join_columns

#: What a receipt says of bounds; the beginning of what it says of bounds that were found.
STATED = "stated by you"
_FOUND = "found in private by the charge"
_CLIPPED = "clipping not covered by intervals"
#: What it says where nobody can tell.
_UNKNOWN = "stated by you or found in private, which nobody can tell"
#: Digits of the identifier of a charge that are shown.
_DIGITS = 12


def text(rows: Sequence[Sequence[Any]], statement: Mapping[str, Any]) -> str:
    """Return the table of a specification with bounds that were found.

    Args:
        rows: name, lowest and highest of each column, both empty where none were found.
        statement: the receipt.
    """
    charge = f"by the charge {statement['digest'][:_DIGITS]}"
    count = charge if "charge" in statement else "and counted by no account"
    lines = [f"[bounds]  # found in private {count}"]
    for name, low, high in rows:
        # Of what JSON leaves as it is TOML refuses this character alone.
        key = json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
        lacking = f"# {key} has no bounds: state some, or leave it out"
        lines.append(lacking if low == "" else f"{key} = [{low!r}, {high!r}]")
    return "\n".join([*lines, ""])


def failure(rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return a sentence on the columns that have no bounds, if there are any."""
    lacking = [repr(name) for name, low, _ in rows if low == ""]
    if not lacking:
        return []
    return [
        f"no bounds were found for {', '.join(lacking)}, and the charge stays; state public "
        "bounds, or take fewer columns or a larger epsilon"
    ]


def stated(spec: Output) -> dict[str, str]:
    """Return the origin of bounds that no account tells of; a release of bounds has none."""
    return {} if "bounds" in spec.lacks else dict.fromkeys(spec.columns, STATED)


def of_bounds(spec: Output, path: Path, account: Mapping[str, Any]) -> dict[str, str]:
    """Return where the bounds of each column come from, for a receipt.

    Of bounds that were changed afterwards one end may be as it was found. An end of 0 says nothing.
    Nobody can tell where an account lost the answer of a charge, or Python spent it by itself.

    Args:
        spec: specification of a release.
        path: path of the account.
        account: its content.
    """
    if not (words := stated(spec)):
        return words
    found: dict[tuple[str, int, float], str] = {}
    otherwise = STATED
    for charge in account["releases"]:
        if charge.get("query") not in (Bounds.name, SizeQuery.name):
            continue
        file = path.with_name(charge["answer"] or "no answer")
        if not file.is_file():
            otherwise = f"{_UNKNOWN}: {file.name} is not there"
            continue
        stored = storage.content(file)
        if stored.answer is None:
            otherwise = f"{_UNKNOWN}: {file.name} has no description yet"
            continue
        source = f"{_FOUND} {charge['receipt'][:_DIGITS]}{_rule(spec, stored.receipt)}"
        for name, *ends in stored.answer["rows"]:
            found |= {(name, *end): f"{source}, {_CLIPPED}" for end in enumerate(ends)}
    box = spec.box
    for name, *ends in zip(spec.columns, box.lower, box.upper, strict=True):
        sources = [found.get((name, *end), "") for end in enumerate(ends)]
        named = [source for source, end in zip(sources, ends, strict=True) if source and end]
        words[name] = f"one end {named[0]}" if named else otherwise
        if sources[0] and sources[0] == sources[1]:
            words[name] = sources[0]
    return words


def _rule(spec: Output, statement: Mapping[str, Any]) -> str:
    """Return how the receipt of bounds treats a missing value otherwise than a release does.

    An account has one neighbouring relation, and one column of people.
    """
    refused = statement["missing"] == "refused"
    if refused == (spec.terms.get("missing") == missing.REFUSE):
        return ""
    return f", where a missing value {'would have ended it' if refused else 'was left out'}"


def describe(statement: Mapping[str, Any]) -> str:
    """Return sentences on the bounds of a receipt that were not stated; nothing where all were."""
    words = statement["origin_of_bounds"]
    unknown = [name for name in words if words[name].startswith(_UNKNOWN)]
    names = [name for name in words if words[name] != STATED and name not in unknown]
    sentences = []
    if unknown:
        sentences = [
            f"nobody can tell whether bounds of {join_columns(unknown)} were found in private"
        ]
    if names:
        sentences.append(
            f"bounds of {join_columns(names)} were found in private: what clipping to them takes "
            "is no noise, and no interval covers it"
        )
    return "; ".join(sentences)
