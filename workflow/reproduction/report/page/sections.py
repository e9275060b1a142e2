"""The order of the page: its sections, and which results of a run each of them shows.

A section shows, from the top: its text (texts/ID.md, if there is one), what the page itself adds
(``builtin``), and the evidence, each piece folded under its headline but for those in ``open``.
What is not there is listed as not built. What is there and has no place, such as the results of an
experiment of a person's own, stands in the section ``FURTHER``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from reproduction.report.inputs import Files

#: A result is named by its path below the results' folder without the suffix. A table without
#: Markdown is for programs alone.
KINDS = {"tables": ".md", "figures": ".svg"}

#: The section of results that no other section shows; it is left out where it has none.
FURTHER = "further"


@dataclass(frozen=True)
class Section:
    """One section of the page.

    Attributes:
        id: its anchor, and the name of its text, ``texts/<id>.md``, if there is one.
        title: its heading.
        show: results in their order, such as ``tables/table3``; ``*`` stands for any characters.
            They are folded but for those in ``open``.
        builtin: items that the page itself adds, such as ``parts``; or empty.
        open: names of the results that are unfolded.
    """

    id: str
    title: str
    show: tuple[str, ...] = ()
    builtin: str = ""
    open: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chapter:
    """A section with the results that exist for it, and the names of missing ones."""

    section: Section
    results: tuple[str, ...]
    missing: tuple[str, ...]


#: Results that are files alone. The ledger has claims and errata, a sentence the audit; the papers
#: have their own set-ups; what is said of directions and prices stands in claims and advice.
ASIDE = (
    *("tables/audit", "tables/claims", "tables/errata", "tables/section10_2"),
    *("tables/table1", "tables/table2", "figures/figure3", "figures/price"),
)

SECTIONS = (
    Section("recommend", "Which mechanism should I use?", builtin="choice"),
    Section(
        "mvg",
        "The MVG paper's experiments",
        show=(
            *("tables/table3", "tables/table4", "tables/table5"),
            *("figures/curves_regression", "figures/curves_first_pc", "figures/curves_covariance"),
            *("figures/figure4_left", "figures/figure4_middle", "figures/figure4_right"),
        ),
        builtin="cards_MVG",
    ),
    Section(
        "imgm",
        "The IMGM paper's experiments",
        show=(
            *("tables/imgm_adult", "tables/imgm_cora", "tables/imgm_mnist", "tables/imgm_imdb"),
            *("tables/imgm_mnist_features", "figures/imgm_gradients", "figures/figure1"),
        ),
        builtin="cards_IMGM",
    ),
    Section(
        "noise",
        "How much noise",
        show=(
            *("figures/explainer", "figures/noise_levels"),
            *("figures/nominal", "tables/imgm_settings"),
        ),
        open=("figures/explainer",),
    ),
    Section(FURTHER, "Further results", builtin="cards_"),
    Section("claims", "Claims, readings, errata", show=("figures/readings",), builtin="ledger"),
    Section("limits", "What this study cannot say"),
    Section("how", "How it was done", builtin="parts"),
)


def present(files: Files) -> list[str]:
    """Return the names of all tables and figures among the files of a run."""
    return sorted(
        name.removesuffix(suffix)
        for folder, suffix in KINDS.items()
        for name in files
        # Those in a folder of their own are drawn for telephones.
        if fnmatchcase(name, f"{folder}/*{suffix}") and name.count("/") == 1
    )


def arrange(sections: Iterable[Section], names: Iterable[str]) -> list[Chapter]:
    """Return the sections with their results; what none of them names goes to ``FURTHER``.

    The first section that names a result shows it; results of one pattern are in alphabetical
    order. Names and patterns that match no result are missing.

    Args:
        sections: in their order.
        names: of the existing results.
    """
    left = every = sorted(names)
    arrangement = []
    for section in sections:
        results: list[str] = []
        missing = []
        for pattern in section.show:
            hits = [name for name in left if fnmatchcase(name, pattern)]
            left = [name for name in left if name not in hits]
            results += hits
            if not any(fnmatchcase(name, pattern) for name in every):
                missing.append(pattern)
        arrangement.append(Chapter(section, tuple(results), tuple(missing)))
    arrangement = [
        replace(entry, results=tuple(left)) if entry.section.id == FURTHER else entry
        for entry in arrangement
    ]
    return [entry for entry in arrangement if entry.section.id != FURTHER or entry.results]
