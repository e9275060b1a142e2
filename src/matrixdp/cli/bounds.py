"""Find bounds of columns in private where nobody knows any, by a release of its own.

The specification is a small TOML file of its own (own_matrix.md explains every key)::

    file = "people.csv"
    columns = ["age", "bmi"]     # whose bounds to find
    records = 2126               # their number is public
    epsilon = 0.25               # of the bounds alone
    delta = 1e-6                 # where releases with a delta follow
    total = {epsilon = 2.0, delta = 1e-5}   # of all releases of this file, fixed by the first one
    missing = "middle"           # as in the releases to come

The table that is printed goes at the end of the specification of a release of the same file, whose
receipt then says which bounds were found, by which charge. The same request again costs nothing.
The keys account, label, person, per_person and adjacency are those of `matrixdp release --help`.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the verb to a parser."""
    parser.add_argument("specification", help="TOML file that names the columns")
    text = "folder for the bounds and their receipt, if they are wanted"
    parser.add_argument("--out", help=text)
    text = "pay for it also where there are too few records"
    parser.add_argument("--even-if-useless", action="store_true", help=text)


def run(specification: str, *, out: str | None, even_if_useless: bool, json: bool) -> None:
    """Print the bounds that are found."""
    from matrixdp.cli import terminal
    from matrixdp.release import plans
    from matrixdp.release.parser import read_bounds

    spec = read_bounds(Path(specification))
    (result,) = plans.make(
        spec, None if out is None else Path(out), even_if_useless=even_if_useless
    )
    if json:
        terminal.show({"bounds": result.answer, "notes": result.notes, "receipt": result.receipt})
        return
    terminal.note(result.notes)
    print(result.files()["bounds.toml"], end="")
