"""Receipts as half a page of plain words, for a data protection officer.

All is said at three digits, and rounded so that no promise gets stronger by it. The receipt in JSON
has every digit.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any

from matrixdp.release import provenance
from matrixdp.release.outputs import every
from matrixdp.release.outputs.moments import answers_of
from matrixdp.release.outputs.output import AT_A_BOUND

#: What nobody can tell of a record, or of all records of a person, and what its neighbours differ
#: in, by neighbouring relation and by whether people are protected.
_HIDDEN = {
    ("replace", False): ("what it says", "with any other in its place"),
    ("replace", True): ("what they say", "with any others in their places"),
    ("add_or_remove", False): ("whether it is in the file, and what it says", "without it"),
    ("add_or_remove", True): ("whether they are in the file, and what they say", "without them"),
}
#: Columns that the table shows, so that a receipt stays a page.
_MOST = 12

#: Keys of a receipt on what changes an answer and is no noise.
_EFFECTS = ("private_bounds", "groups", "clipping", "ridge")

#: Largest exponent of a factor that is written out.
_LARGE = 20


def markdown(statement: Mapping[str, Any], files: str = "release", picture: str = "") -> str:
    """Return a receipt as Markdown.

    Args:
        statement: the receipt, see :func:`matrixdp.release.receipt.build`.
        files: name of the release's files, without suffixes.
        picture: name of the picture of the noise, if there is one.
    """
    paragraphs = [f"**{title}** {text}" for title, text in _paragraphs(statement, files)]
    after = [table] if (table := "\n".join(_table(statement))) else []
    paragraphs[1:1] = [*after, *([f"![Noise]({picture})"] if picture else [])]
    return "\n\n".join(["# Receipt of a private release", *paragraphs]) + "\n"


def _paragraphs(statement: Mapping[str, Any], files: str) -> Iterator[tuple[str, str]]:
    """Yield the title and text of each paragraph."""
    answer = answers_of(statement)
    label = f', "{statement["label"]}"' if "label" in statement else ""
    target = f" of {answer['target']}" if "target" in answer else ""
    target += f" by {statement['by']}" if "by" in statement else ""
    says = statement["says"][:1].upper() + statement["says"][1:]
    records = f"{statement['records']:,} records"
    place = f"the file {statement['file']}" if statement["file"] else "the memory of a program"
    if statement.get("adjacency") == "add_or_remove":
        records = f"about {records} (their number is private)"
    yield (
        "What was released:",
        f"{every()[answer['query']].title}{target}{label}, of {records} in {place}, on "
        f"{statement['date']} (UTC). {says}.",
    )
    yield "Whom it protects:", _protection(statement)
    yield f"Epsilon is {up(statement['epsilon'])}:", _odds(statement)
    yield f"Delta is {up(statement['delta'])}:", _chance(statement)
    yield "Missing and extreme values:", " ".join(_rules(statement))
    rule = statement["records_that_count"]
    yield "Records that count:", f"{rule}." if rule else "all of them."
    yield "How:", _mechanism(statement)
    yield "Spent:", _spending(statement)
    if "readings" in statement:
        yield "Other answers:", f"{statement['readings']}. All of them together cost this once."
    yield (
        "Not covered:",
        f"{statement['not_covered']}; what holds for people in general, whoever is in the file; "
        "copies of the file, and other files on the same people.",
    )
    if statement["cautions"]:
        yield "Caution:", f"{'; '.join(statement['cautions'])}."
    check = f"{files}.receipt.json has all numbers in full"
    if statement["file"]:
        check += ", and a digest that the account notes beside the charge; `matrixdp account "
        check += f"{shlex.quote(statement['file'])} --json` lists it"
    yield "To check:", f"{check}. Made by matrixdp {statement['version']['matrixdp']}."


def _spending(statement: Mapping[str, Any]) -> str:
    if "total_of_the_account" not in statement:
        return "no account counts this release; whoever made it must add up all of them."
    epsilon = statement["epsilon_of_all_releases_so_far"]
    reason = f" That is below {up(statement['epsilon'])} as a larger delta needs a smaller epsilon."
    return (
        f"epsilon {up(epsilon)} by all releases of the account up to this one, at the delta of "
        f"its total, of {statement['total_of_the_account']}, which holds for good."
        + reason
        * (epsilon < statement["epsilon"])
    )


def _secret(statement: Mapping[str, Any]) -> tuple[str, str]:
    return _HIDDEN[statement.get("adjacency", "replace"), "person" in statement]


def _protection(statement: Mapping[str, Any]) -> str:
    unit, caution = "each single record", " Who has several records is protected less."
    if "person" in statement:
        unit, caution = "all records of each person together", ""
    return (
        f"{unit}. Nobody can tell from the release, beyond the odds below, {_secret(statement)[0]}."
        f" Exactly: {statement['neighbours']}.{caution}"
    )


def _factor(epsilon: float) -> str:
    return up(math.exp(epsilon)) if epsilon <= _LARGE else f"e^{up(epsilon)}"


def _odds(statement: Mapping[str, Any]) -> str:
    unit = "a person's records" if "person" in statement else "a record"
    return (
        f"up to delta, whatever is released is at most {_factor(statement['epsilon'])} times as "
        f"likely with {unit} as {_secret(statement)[1]}, or the other way round; the odds of a "
        "guess change by no more."
    )


def _chance(statement: Mapping[str, Any]) -> str:
    return (
        f"the chance of any set of answers is at most {_factor(statement['epsilon'])} times "
        f"the other, plus {up(statement['delta'])}."
    )


def _rules(statement: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on missing and extreme values."""
    yield f"{statement['rule_for_missing_values']}."
    if "max_norm" in statement:
        yield f"A record longer than {_number(statement['max_norm'])} was shortened to that."
    if "bounds" not in statement:
        return
    yield "A value beyond its bounds counted as the nearest bound."
    if found := provenance.describe(statement):
        yield f"{found[0].upper()}{found[1:]}."
    if beyond := statement["beyond_bounds"]:
        yield f"{beyond[0].upper()}{beyond[1:]}."


def _bounds(statement: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the bounds of each column: two numbers, or a word where they are what is released."""
    found: Mapping[str, Any] = dict.fromkeys(statement.get("columns", ()), "found, see the table")
    return statement.get("bounds", found)


def _mechanism(statement: Mapping[str, Any]) -> str:
    parts = ", ".join(f"{part['part']} {part['share']:.0%}" for part in statement.get("parts", ()))
    holds = statement.get("noise_std_holds")
    return (
        f"random noise (mechanism: {statement['mechanism']}) was added before anybody saw a "
        f"result, and cannot be taken off{f'; the budget went to {parts}' * bool(parts)}."
        + f" It is as large as stated {holds}." * bool(holds)
        + "".join(f" Also, {statement[key]}." for key in _EFFECTS if key in statement)
    )


def _table(statement: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a table of columns with their bounds, and their noise if that is public.

    A receipt without columns has no table.
    """
    noises = noise(statement)
    bounds = _bounds(statement)
    if not bounds:
        return
    names = [*bounds][:_MOST]
    yield "| column | bounds |" + "".join(f" {title} |" for title in noises)
    yield "| --- | --- |" + " --- |" * len(noises)
    for name in names:
        sides = bounds[name]
        cells = [_text(name), sides if isinstance(sides, str) else " to ".join(map(_number, sides))]
        cells += [f"± {up(values[name])}" if name in values else "" for values in noises.values()]
        yield f"| {' | '.join(cells)} |"
    if len(bounds) > len(names):
        yield f"| {len(bounds) - len(names)} more, see the JSON | |" + " |" * len(noises)


def noise(statement: Mapping[str, Any]) -> dict[str, Mapping[str, float]]:
    """Return the public bounds on the noise of each column, by title; none where none is known."""
    cell = every()[answers_of(statement)["query"]].cell
    if not cell:
        return {}
    if widths := statement.get("interval_95_plus_or_minus"):
        widths = {
            name: width[name] if isinstance(width, Mapping) else width
            for name, width in widths.items()
        }
        return {f"{cell}, 95 % for all": widths}
    return deviations(statement)


def deviations(statement: Mapping[str, Any]) -> dict[str, Mapping[str, float]]:
    """Return the standard deviations of the noise of each column, by title; none where unknown."""
    stated = {
        name: numbers
        for name, numbers in statement.items()
        if name.startswith("noise_std") and isinstance(numbers, Mapping)
    }
    if not stated:
        return {}
    # Of several that of the worst case.
    name = next((name for name in stated if name.endswith(AT_A_BOUND)), [*stated][-1])
    numbers = stated[name]
    title = name.replace("noise_std", "noise alone, standard deviation").replace("_", " ")
    return {title: numbers}


def _text(name: str) -> str:
    return " ".join(name.split()).replace("|", "\\|")


def _number(number: float | str) -> str:
    return number if isinstance(number, str) else f"{number:,.10g}"


def up(number: float) -> str:
    """Return a positive number at three digits, rounded up but for errors of floating point."""
    exact = Decimal(f"{number:.12g}")
    step = Decimal(1).scaleb(exact.adjusted() - 2)
    return _number(float(exact.quantize(step, ROUND_CEILING)))
