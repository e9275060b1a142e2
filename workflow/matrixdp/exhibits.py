"""Tables and figures of a run: their names, and the files that they are made from.

A table or figure says in its own file what it is made from (see :mod:`matrixdp.report.entries`).
Entries and inputs may hold ``{experiment}``, ``{results}``, ``{figure}`` and ``{title}``, see
:class:`matrixdp.catalogue.Experiment`. Nothing heavy is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from matrixdp import catalogue, discovery, parts
from matrixdp.experiments.readings import DEFAULT
from matrixdp.places import place

RELEASES, TRAINING = "releases", "training"


class Exhibit(NamedTuple):
    """A table or figure of a run: name, inputs, and the words put into its template."""

    name: str
    inputs: tuple[str, ...]
    words: dict[str, str]

    def fill(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return further names with the words put in."""
        return tuple(name.format(**self.words) for name in names)


def kinds(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the experiments that settings name, and of which kind they are."""
    return {
        **dict.fromkeys(settings.get("experiments", ()), RELEASES),
        **dict.fromkeys(settings.get("training", ()), TRAINING),
    }


def datasets(settings: Mapping[str, Any]) -> set[str]:
    """Return the names of the data sets of a run."""
    return {parts.dataset(settings, name) for name in kinds(settings)}


def fill(
    name: str, each: str, inputs: Iterable[str], experiments: Mapping[str, str]
) -> Iterator[Exhibit]:
    """Yield what a template makes; one that is no template makes itself.

    Args:
        name: of the template.
        each: ``releases`` or ``training``: the kind of experiment that it is made for; empty for no
            template, of which an input that holds ``{experiment}`` stands for those of all
            experiments on releases, and one that holds ``{training}`` for those of all trainings.
        inputs: their names.
        experiments: those of a run: name -> ``releases`` or ``training``. Those that are part of
            another one get nothing from a template, and those without a figure in the paper
            nothing from one whose name holds ``{figure}``.
    """
    if not each:
        kinds_of = {"{experiment}": RELEASES, "{training}": TRAINING}
        names = (
            template.format(experiment=experiment, training=experiment)
            for template in inputs
            for experiment, kind in [*experiments.items(), ("", "")]
            if kind == next((kinds_of[word] for word in kinds_of if word in template), "")
        )
        yield Exhibit(name, tuple(names), {})
    for experiment in (key for key, kind in experiments.items() if kind == each):
        about = catalogue.experiment(experiment)
        if not (about.part_of or ("{figure" in name and not about.figures)):
            words = {"experiment": experiment, "results": about.results, "title": about.title}
            words["figure"] = next(iter(about.figures), "")
            words["table"] = f"Table {about.table}" if about.table else about.title
            exhibit = Exhibit(name.format(**words), (), words)
            yield exhibit._replace(inputs=exhibit.fill(inputs))


class Made(NamedTuple):
    """What a run makes one table or figure from: the file of its entry, and inputs by name."""

    source: Path
    inputs: tuple[str, ...]

    def files(self, reading: str = DEFAULT, results: str = "results") -> list[str]:
        """Return the files of the inputs under a reading."""
        return [str(place(name, results, reading)) for name in self.inputs]


def plan(settings: Mapping[str, Any]) -> tuple[dict[str, Made], dict[str, Made]]:
    """Return the tables and the figures of a run by name.

    Those that need what a run does not make are left out.

    Args:
        settings: a resolved configuration.
    """
    experiments = kinds(settings)
    tables, figures = (
        {
            exhibit.name: (
                Made(entry.file, exhibit.inputs),
                exhibit.fill(entry.words.get("optional", ())),
            )
            for name, entry in entries.items()
            for exhibit in fill(
                name, entry.words.get("each", ""), entry.words.get("inputs", ()), experiments
            )
        }
        for entries in (discovery.tables(), discovery.figures())
    )
    names = _names(settings)

    def available(name: str) -> bool:
        folder, _, stem = name.partition("/")
        return stem in names.get(folder, [stem])

    def complete(exhibits: Mapping[str, tuple[Made, tuple[str, ...]]]) -> dict[str, Made]:
        found = {
            name: Made(made.source, (*made.inputs, *filter(available, optional)))
            for name, (made, optional) in exhibits.items()
            if all(map(available, made.inputs))
        }
        # What a paper prints makes nothing alone.
        return {
            name: made
            for name, made in found.items()
            if not all(source.startswith("published/") for source in made.inputs)
        }

    # Tables may be made from tables, and are looked at once more for those that are left out.
    names["tables"] = {*tables}
    names["tables"] = {*complete(tables)}
    return complete(tables), complete(figures)


def _names(settings: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the names of what a run makes beside tables and figures, by folder."""
    releases, runs = {*settings["experiments"]}, {*kinds(settings)}
    names = {
        "summary": runs,
        "comparisons": runs,
        "readings": {part for name in swept(settings) for part in (name, f"{name}_trials")},
        "audit": {"canaries", *releases, *(f"{name}_sensitivities" for name in releases)},
        "data": datasets(settings),
        "theory": {*discovery.theory()},
    }
    if isinstance(settings.get("matrix"), dict):
        # A matrix of one's own says nothing on the papers.
        names |= {
            folder: set() for folder in ("claims", "errata", "held_out", "readings", "theory")
        }
        names |= {"audit": names["audit"] - {"canaries"}, "published": releases}
    return names


def swept(settings: Mapping[str, Any]) -> list[str]:
    """Return the experiments that are run under all readings."""
    return [name for name in settings["experiments"] if not catalogue.experiment(name).part_of]
