"""Release a matrix of your own with differential privacy, with a receipt.

The specification is a small TOML file (own_matrix.md in the package's folder explains every key)::

    file = "people.csv"          # or .npy, .parquet; one record per row; or a folder of parts
    query = "covariance"         # or records, mean, counts, second_moments, components, regression;
                                 # or ["mean", "components"]: several of one release, at one charge
    records = 2126               # their number is public
    epsilon = 1.0
    delta = 1e-6                 # omit for pure DP
    total = {epsilon = 2.0, delta = 1e-5}   # of all releases of this file, fixed by the first one
    missing = "refuse"           # or "middle" of the bounds, {age = 40}

    [bounds]                     # public; values outside are clipped
    age = [0, 120]
    income = [0, 200000]

Beside these, above [bounds]:

    target = "income"            # of a regression: the column that it predicts
    number = 3                   # of components: how many (default: all)
    by = "region"                # of means and counts: the column of groups,
    categories = {region = ["north", "south"]}   # and its public categories
    mechanism = "clipped"        # or laplace, gaussian, analyze_gauss (default: the first one
                                 # that `matrixdp recommend` lists)
    max_norm = 1.0               # a public l2 norm of records, in the columns' units: less noise
    missing_values = ["-999", "?"]   # what else stands for a missing value, by the code book
    label = "again"              # the same request has the same answer, at no cost; a new label has
                                 # a new one, at a new charge
    account = "books.json"       # of all releases of the file (default: beside the file)
    person = "patient"           # the column that identifies people who have several rows
    per_person = 5               # how many rows of each count, the first ones
    adjacency = "add_or_remove"  # hides who is in the file, with how many rows and which values;
                                 # "replace" hides the values alone (default, but beside person)

Several releases can share the whole total by their weights. Each has a section [[release]] with a
query and a weight (default: 1), but no epsilon.

A missing value ends the release under "refuse", gets the middle of its bounds under "middle", or a
value of missing = {age = 40}; under "present", for a mean, the values present alone count. An ended
release reveals something about one record, as does a cell that is not a number.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matrixdp.release.answer import Answer
    from matrixdp.release.outputs import Output


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the verb to a parser."""
    parser.add_argument("specification", help="TOML file that specifies the release")
    text = "folder of the release and its receipt (default: release)"
    parser.add_argument("--out", default="release", help=text)
    text = "pay for a release whose noise hides everything"
    parser.add_argument("--even-if-useless", action="store_true", help=text)


def run(specification: str, *, out: str, even_if_useless: bool, json: bool) -> None:
    """Make the release that a file specifies."""
    specs: list[Output] = []
    before: list[int] = []
    try:
        from matrixdp.checks import InputError
        from matrixdp.release import plans
        from matrixdp.release.parser import read_all

        specs, folder = read_all(Path(specification)), Path(out)
        if folder.is_file():
            raise InputError(f"{out} is a file, and a release needs a folder; give another --out")
        before = plans.charge_counts(specs)
        results = plans.make_all(specs, folder, even_if_useless=even_if_useless)
        named = []
        for spec, answers in zip(specs, results, strict=True):
            label = f"{spec.label}: " * bool(spec.label)
            names = [f"{label}{one.query}" for one in answers]
            names = [spec.release_name] if len(answers) == 1 else names
            named += [*zip(names, answers, strict=True)]
        _print(named, json)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_charge_sentence(specs, before)) from None


def _charge_sentence(specs: Sequence[Output], before: Sequence[int]) -> str:
    """Return what an interrupted run has charged, by the charges of each release before it."""
    from matrixdp.release import plans

    after = plans.charge_counts(specs) if before else []
    names = [
        spec.release_name
        for spec, first, last in zip(specs, before, after, strict=False)
        if last > first
    ]
    if not names:
        return "nothing was charged"
    return (
        f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'} charged, and nothing else; "
        "the same command again gives what is paid for at no further cost"
    )


def _print(results: Sequence[tuple[str, Answer]], in_json: bool) -> None:
    from matrixdp.cli import terminal

    if in_json:
        terminal.show(
            {
                "releases": [
                    {
                        "name": name,
                        "says": result.says,
                        "notes": result.notes,
                        "paths": {key: str(path) for key, path in result.paths.items()},
                        "receipt": result.receipt,
                    }
                    for name, result in results
                ]
            }
        )
        return
    notes: set[str] = set()
    for name, result in results:
        # Answers of one release share some.
        terminal.note([note for note in result.notes if note not in notes])
        notes |= {*result.notes}
        print(f"{name}: {result.says}" if "answer" in result.receipt else result.says)
        for key, path in result.paths.items():
            if key != "account":
                print(f"{key}: {path}")
    # All of them have the same.
    print(f"account: {results[0][1].paths['account']}")
