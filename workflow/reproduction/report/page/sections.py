"""The order of the page: its sections, and which results of a run each of them shows.

A section shows, from the top: its text (texts/ID.md, if there is one), what the page itself adds
(``builtin``), what became of the claims on the experiments that ``claims`` names, and the evidence.
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
        part: its heading in the navigation.
        show: results in their order, such as ``tables/table3``; ``*`` stands for any characters.
            They are folded but for those in ``open``.
        builtin: items that the page itself adds, such as ``provenance``; or empty.
        claims: experiments whose claims belong here; the first one's table is judged.
        open: names of the results that are unfolded.
        fold: what text and added items are folded under; empty for none.
    """

    id: str
    title: str
    part: str
    show: tuple[str, ...] = ()
    builtin: str = ""
    claims: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    fold: str = ""


@dataclass(frozen=True)
class Chapter:
    """A section with the results that exist for it, and the names of missing ones."""

    section: Section
    results: tuple[str, ...]
    missing: tuple[str, ...]


#: Results that are files alone: the dashboard has the claims, a figure the accuracies on MNIST's
#: features, the text what the table on Cora adds.
ASIDE = ("tables/claims", "tables/imgm_cora", "tables/imgm_mnist_features")

SECTIONS = (
    Section("cards", "Every experiment on one scale", "Answers", builtin="cards"),
    Section(
        "recommend", "Which mechanism should I use?", "Answers", builtin="choice", open=("choice",)
    ),
    Section(
        "setups",
        "The three experiments",
        "MVG paper",
        show=("tables/table2", "tables/section10_2"),
        fold="What the paper does, and on which data",
    ),
    Section(
        "explainer",
        "Two minutes on the noise",
        "MVG paper",
        show=("figures/explainer", "figures/noise_levels", "figures/figure3"),
        open=("figures/explainer",),
    ),
    Section(
        "regression",
        "Experiment I: regression",
        "MVG paper",
        show=("tables/table3", "figures/figure4_left", "figures/curves_regression"),
        claims=("regression",),
        open=("tables/table3",),
    ),
    Section(
        "first_pc",
        "Experiment II: first principal component",
        "MVG paper",
        show=("tables/table4", "figures/figure4_middle", "figures/curves_first_pc"),
        claims=("first_pc",),
        open=("tables/table4",),
    ),
    Section(
        "covariance",
        "Experiment III: covariance",
        "MVG paper",
        show=("tables/table5", "figures/figure4_right", "figures/curves_covariance"),
        claims=("covariance",),
        open=("tables/table5",),
    ),
    Section(
        "tight_epsilon",
        "Claimed against tight ε",
        "IMGM paper",
        show=("figures/nominal", "tables/imgm_settings"),
        open=("figures/nominal",),
    ),
    Section(
        "imgm",
        "Adult, Cora, IMDB and MNIST",
        "IMGM paper",
        show=(
            "tables/table1",
            "figures/figure1",
            "tables/imgm_imdb",
            "figures/imgm_gradients",
            "tables/imgm_adult",
            "tables/imgm_mnist",
        ),
        claims=("adult", "cora", "imdb", "mnist", "mnist_features"),
        fold="What is run, and the three ways to choose the noise",
    ),
    Section("further", "Further results", "Further"),
    Section("limits", "What this study cannot say", "Judgement"),
    Section("claims", "Claims, one by one", "Judgement", builtin="dashboard"),
    Section(
        "price_of_privacy",
        "The price of privacy: epsilon at half recovery",
        "Judgement",
        show=("figures/price",),
    ),
    Section(
        "audit",
        "Privacy audit",
        "Judgement",
        show=("tables/audit",),
        fold="What is tested, how, and with what power",
    ),
    Section("readings", "Other readings of the papers", "Judgement", show=("figures/readings",)),
    Section("errata", "Errata", "Judgement", show=("tables/errata",)),
    Section(
        "methods",
        "Methods",
        "How it was done",
        fold=(
            "Trials, guarantees, constants, verdicts, and what was chosen where the papers are "
            "silent"
        ),
    ),
    Section("gaps", "What was not run", "How it was done", builtin="gaps"),
    Section("provenance", "Provenance", "How it was done", builtin="provenance"),
    Section(
        "rerun",
        "How to rerun it",
        "How it was done",
        fold="Commands for everything, one result, this page",
    ),
    Section(
        "glossary", "Glossary", "How it was done", builtin="glossary", fold="The words of this page"
    ),
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
