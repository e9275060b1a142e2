"""Release a matrix of your own with differential privacy, with a receipt.

The specification is a small TOML file (docs/own_matrix.md explains every key)::

    file = "people.csv"          # or .npy, .npz, .parquet; one record per row
    query = "covariance"         # or records, mean, second_moments, components, regression
    records = 2126               # their number is public
    epsilon = 1.0
    delta = 1e-6                 # left out: a pure guarantee
    total = {epsilon = 2.0, delta = 1e-5}   # of all releases of this file, fixed by the first one

    [bounds]                     # public; what lies outside is clipped
    age = [0, 120]
    income = [0, 200000]

Several releases that share the total by their weights stand each under [[release]], with a query of
its own and weight = 2 or any other (default: 1), and without an epsilon.

Where people have several rows, person = "patient" names the column that identifies them, and
per_person = 5 how many rows of each count, the first ones. All rows of one person are then
protected: under adjacency = "add_or_remove" who is in the file, with how many rows and which
values, under "replace" and "zero_out" the values alone.

The account of all releases is beside the file, or where account = "..." says. A missing value gets
the middle of its bounds, or what missing = {age = 40} says. Under missing = "refuse" it ends the
release, which itself tells something of one record, as does a cell that is no number.
"""

from __future__ import annotations

from pathlib import Path


def run(specification: str, *, out: str = "release", even_if_useless: bool = False) -> None:
    """Make the release that a file asks for.

    Args:
        specification: the TOML file that says what is released
        out: folder of the release and its receipt (default: release)
        even_if_useless: pay for a release whose noise hides everything
    """
    import sys

    from matrixdp.practice import release
    from matrixdp.practice.specification import read_all

    specs = read_all(Path(specification))
    for result in release.make_all(specs, Path(out), even_if_useless=even_if_useless):
        for note in result.notes:
            print(f"note: {note}", file=sys.stderr)
        print(result.says)
        for name, path in result.places.items():
            print(f"{name}: {path}")
