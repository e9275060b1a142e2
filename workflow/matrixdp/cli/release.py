"""Release a matrix of your own with differential privacy, with a receipt.

The specification is a small TOML file::

    file = "people.csv"          # or .npy, .npz, .parquet; one record per row
    query = "second_moments"     # or records, mean, first_component, regression (with a target)
    records = 2126               # their number is public
    epsilon = 1.0
    delta = 1e-6                 # left out: a pure guarantee
    total = {epsilon = 2.0, delta = 1e-5}   # of all releases of this file; default: this one;
                                 # pure = 0.5 in it keeps a part for pure ones beside others

    [bounds]                     # public; what lies outside is clipped
    age = [0, 120]
    income = [0, 200000]
"""

from __future__ import annotations

from pathlib import Path


def run(specification: str, *, out: str = "release") -> None:
    """Make the release that a file asks for.

    Args:
        specification: the TOML file that says what is released
        out: folder of the release and its receipt (default: release)
    """
    from matrixdp.practice import release
    from matrixdp.practice.specification import read

    asked = read(Path(specification))
    places = release.make(asked, Path(out))
    print(release.says(asked, release.options(asked)[0]))
    for name, path in places.items():
        print(f"{name}: {path}")
