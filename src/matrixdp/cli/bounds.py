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

from pathlib import Path


def run(
    specification: str,
    *,
    out: str | None = None,
    even_if_useless: bool = False,
    json: bool = False,
) -> None:
    """Print the bounds that are found.

    Args:
        specification: TOML file that names the columns
        out: folder for the bounds and their receipt, if they are wanted
        even_if_useless: pay for it also where there are too few records
        json: print one JSON object instead of text
    """
    from matrixdp import cli
    from matrixdp.release import plans
    from matrixdp.release.parser import read_bounds

    spec = read_bounds(Path(specification))
    result = plans.make(spec, None if out is None else Path(out), even_if_useless=even_if_useless)
    if json:
        cli.show({"bounds": result.answer, "notes": result.notes, "receipt": result.receipt})
        return
    cli.note(result.notes)
    print(result.files()["bounds.toml"], end="")
