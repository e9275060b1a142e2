"""The order of the page: its sections, and which results of a run each of them shows.

A section shows, from the top: its text (texts/ID.md, if there is one), what the page itself adds
(``builtin``), and the evidence, each piece folded under its headline but for those in ``open``.
What is not there is listed as not built. What is there and has no place, such as the results of an
experiment of a person's own, stands in the section ``FURTHER``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from reproduction.report.inputs import Files

#: A result is named by its path below the results' folder without the suffix.
KINDS = {"tables": ".json", "figures": ".svg"}

#: The section of results that no other section shows; it is left out where it has none.
FURTHER = "further"


@dataclass(frozen=True)
class Section:
    """One section of the page.

    Attributes:
        id: its anchor, and the name of its text, ``texts/<id>.md``, if there is one.
        title: its heading.
        show: results in their order, such as ``tables/table3``. They are folded but for those in
            ``open``.
        builtin: items that the page itself adds, such as ``parts``; or empty.
        open: names of the results that are unfolded.
        screen: names of those that stay folded on paper, which opens all others.
        optional: names of those that a run may lack, without a word on it.
    """

    id: str
    title: str
    show: tuple[str, ...] = ()
    builtin: str = ""
    open: tuple[str, ...] = ()
    screen: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chapter:
    """A section with the results that exist for it, and the names of missing ones."""

    section: Section
    results: tuple[str, ...]
    missing: tuple[str, ...]


#: Results that are files alone. The ledger has claims and errata, a sentence the audit; the papers
#: have their own set-ups; what is said of directions and prices stands in claims and advice, which
#: the cards of the choice show.
ASIDE = (
    *("tables/audit", "tables/claims", "tables/errata", "tables/section10_2"),
    *("tables/table1", "tables/table2", "figures/figure3"),
    *("tables/advice", "tables/effective_noise", "tables/price"),
    # The figures of gradients and features show what these have.
    *("tables/imgm_cora", "tables/imgm_mnist_features"),
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
        screen=(
            *("figures/curves_regression", "figures/curves_first_pc", "figures/curves_covariance"),
            *("figures/figure4_left", "figures/figure4_middle", "figures/figure4_right"),
        ),
    ),
    Section(
        "imgm",
        "The IMGM paper's experiments",
        show=(
            *("tables/imgm_adult", "tables/imgm_mnist", "tables/imgm_imdb"),
            *("figures/imgm_gradients", "figures/figure1"),
        ),
        builtin="cards_IMGM",
        screen=("tables/imgm_mnist", "figures/imgm_gradients"),
    ),
    Section(
        "noise",
        "How much noise",
        show=(
            *("figures/explainer", "figures/noise_levels"),
            *("figures/nominal", "tables/imgm_settings"),
        ),
        open=("figures/explainer",),
        screen=("figures/noise_levels", "figures/nominal", "tables/imgm_settings"),
    ),
    Section(FURTHER, "Further results", builtin="cards_"),
    Section(
        "claims",
        "Claims, readings, errata",
        show=("figures/readings",),
        builtin="ledger",
        screen=("figures/readings",),
    ),
    Section("limits", "What this study cannot say"),
    Section(
        "how",
        "How it was done",
        show=("tables/second_seed",),
        builtin="parts",
        screen=("tables/second_seed",),
        # Beside a kept run alone that differs in the seed.
        optional=("tables/second_seed",),
    ),
)


def present(files: Files) -> list[str]:
    """Return the names of all tables and figures of the page among the files of a run."""
    names = [
        name.removesuffix(suffix)
        for folder, suffix in KINDS.items()
        for name in files
        if name.startswith(f"{folder}/") and name.endswith(suffix)
    ]
    return sorted({*names} - {*ASIDE})


def arrange_sections(sections: Iterable[Section], names: Collection[str]) -> list[Chapter]:
    """Return the sections with their results; what none of them names goes to ``FURTHER``.

    Args:
        sections: in their order.
        names: of the existing results.
    """
    sections = [*sections]
    placed = {name for section in sections for name in section.show}
    further = tuple(name for name in names if name not in placed)
    chapters = []
    for section in sections:
        results = tuple(name for name in section.show if name in names)
        missing = tuple(
            name for name in section.show if name not in names and name not in section.optional
        )
        chapters.append(Chapter(section, further if section.id == FURTHER else results, missing))
    return [entry for entry in chapters if entry.section.id != FURTHER or further]
