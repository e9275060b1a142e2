"""List the mechanisms for a release and their noise, from public facts alone.

The first one is what `matrixdp release` takes of the same specification. All that fit the account
are listed, those last that leave less room in it. The file of records is never read.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matrixdp.release.comparison import Option
    from matrixdp.release.outputs import Output


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the verb to a parser."""
    parser.add_argument("specification", help="TOML file that specifies the release")
    parser.add_argument(
        "--picture",
        metavar="FILE.svg",
        help="draw the ranges of columns and the noise of each mechanism, also from public facts",
    )


def run(specification: str, *, picture: str | None, json: bool) -> None:
    """List the mechanisms, the one that is taken first, with details on it."""
    from matrixdp.cli import terminal
    from matrixdp.release import choices, plans, receipt, stored_draws
    from matrixdp.release.parser import read_all

    specs, contents, firsts = read_all(Path(specification)), [], []
    charged: list[plans.Plan] = []
    if picture is not None:
        _write_picture(Path(picture), specs)
    for spec in specs:
        notes = [*filter(None, [choices.proposal(spec), *receipt.cautions(spec)])]
        books = choices.account_of(spec)
        is_kept = stored_draws.is_kept(spec, *books)
        if is_kept:
            notes.append(
                "the account keeps a draw that answers this at no cost, and what follows is of a "
                'new one, for which add label = "..."'
            )
        else:
            notes += filter(None, [stored_draws.larger_draw(spec, *books)])
        terminal.note([] if json else notes)
        fitting = choices.rank(spec)
        firsts.append(fitting[0][0])
        planned = plans.Plan(spec, None, option=firsts[-1])
        if not is_kept:
            if sentence := stored_draws.repetition(planned, charged):
                terminal.note([] if json else [sentence])
                notes.append(sentence)
            charged.append(planned)
        content = {**_content(spec, fitting), "notes": notes}
        contents.append(content)
        if not json:
            if len(specs) > 1:
                print(f"{spec.release_name}: epsilon {spec.epsilon:.3g}")
            for line in _lines(content, alone=len(specs) == 1):
                print(line)
    together = choices.together(specs, firsts) if len(specs) > 1 else None
    if json:
        terminal.show({"releases": contents, "together": together})
    elif together:
        print(together)


def _write_picture(file: Path, specs: Sequence[Output]) -> None:
    """Write the picture of the noise of releases.

    Raises:
        InputError: a release has none, or the file is there or cannot be written.
    """
    from matrixdp.checks import InputError
    from matrixdp.release import choices, durable, picture

    if file.suffix.lower() != ".svg":
        raise InputError(f"{file} is no name of a picture; give --picture a name that ends in .svg")
    if file.exists():
        raise InputError(f"{file} is there already; move it, or give --picture another name")
    panels = []
    for spec in specs:
        panels += picture.of_options(spec, [option for option, _ in choices.rank(spec)])
    with durable.explain(file, "{cure}, or give --picture another path"):
        durable.write(file, picture.draw(panels))


def _content(
    spec: Output,
    fitting: Sequence[tuple[Option, int]],
) -> dict[str, Any]:
    """Return what is said of a release, with all digits; None where it has no meaning."""
    from matrixdp.release import receipt, separate

    best, most = fitting[0]
    compared = [option for option, room in fitting if room == most]
    return {
        "name": spec.release_name,
        "epsilon": spec.epsilon,
        "delta": spec.delta,
        "mechanisms": [
            {
                "name": option.key,
                "status": option.status,
                "says": option.says,
                "noise": option.error,
                "losses": option.losses,
                "typical_loss": option.typical_loss,
                "room": room,
            }
            for option, room in fitting
        ],
        "details": [
            *receipt.comparison(spec, compared),
            *receipt.noise_lines(spec, best),
            *separate.beside_separate(spec, best),
        ],
        "records_that_count": receipt.counting_rule(spec) or None,
    }


def _lines(content: Mapping[str, Any], *, alone: bool) -> Iterator[str]:
    """Yield the lines of text that say what :func:`_content` returns.

    Args:
        content: what is said of a release.
        alone: whether the file has no other release, whose charges would take from the room.
    """
    from matrixdp.checks import plural

    width = max(len(row["name"]) for row in content["mechanisms"])
    largest_room = content["mechanisms"][0]["room"]
    for row in content["mechanisms"]:
        room = f"; the account has room for {plural(row['room'], 'more such release')} then"
        fewer = ", fewer than after the first" * (row["room"] < largest_room)
        yield f"{row['name']:{width}}  {row['says']}{(room + fewer) * alone}"
    yield from content["details"]
    if content["records_that_count"]:
        yield f"records that count: {content['records_that_count']}"
