"""Names of the files that jobs read, and their paths.

``summary/regression``, ``comparisons/regression``, ``readings/regression``, ``theory/exact``,
``audit/regression``, ``tables/table3`` and ``claims`` are CSV files in the results' folder.
``published/table3`` holds the numbers of a paper, ``data/liver`` the provenance of a data set,
``settings`` the configuration of the run, and ``errata`` the papers' errors.
"""

from __future__ import annotations

from pathlib import Path

#: Folder of the numbers that the papers print.
PUBLISHED = Path(__file__).parents[1] / "published"

#: List of errors in the papers.
ERRATA = PUBLISHED.with_name("errata.yaml")

#: File name of a run's configuration.
SETTINGS = "settings.yaml"


def place(name: str, results: str | Path = "results") -> Path:
    """Return the path of a file by its name.

    Args:
        name: name as in the docstring of this module.
        results: folder of the run.
    """
    folder, _, stem = name.partition("/")
    if folder == "published":
        return PUBLISHED / f"{stem}.csv"
    if name == "errata":
        return ERRATA
    root = Path(results)
    if name == "settings":
        return root / SETTINGS
    if folder == "data":
        return root / "data" / stem / "provenance.json"
    return root / f"{name}.csv"
