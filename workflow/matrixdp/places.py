"""Where results lie: one name for each file that a job reads, below a run's folder or beside it.

``summary/regression``, ``comparisons/regression``, ``readings/regression``, ``theory/exact``,
``audit/regression``, ``tables/table3`` and ``claims`` are CSV files below the results' folder;
``published/table3`` is what a paper prints; ``data/liver`` is the provenance of a data set,
``settings`` the configuration that a run was made with, and ``errata`` the list of them.
"""

from __future__ import annotations

from pathlib import Path

#: What the papers print.
PUBLISHED = Path(__file__).parents[1] / "published"

#: What is wrong in print.
ERRATA = PUBLISHED.with_name("errata.yaml")

#: The configuration of a run, below its folder.
SETTINGS = "settings.yaml"


def place(name: str, results: str | Path = "results") -> Path:
    """Return the file that a name stands for, where ``results`` is the run's folder."""
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
