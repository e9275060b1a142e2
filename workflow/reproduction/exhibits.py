"""Tables and figures of a run: their names and the files of their inputs.

The file of a table or figure declares its inputs (see :mod:`reproduction.report.entries`). Entries
and inputs may contain ``{experiment}``, ``{results}``, ``{figure}`` and ``{title}``, see
:class:`reproduction.catalogue.Experiment`. Imports here are fast, as every workflow start needs
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from reproduction import catalogue, discovery, parts

RELEASES, TRAINING = "releases", "training"


class Exhibit(NamedTuple):
    """A table or figure of a run: its name, its inputs, and the words for its templates."""

    name: str
    inputs: tuple[str, ...]
    words: dict[str, str]

    def fill(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return templates of names, filled with the words."""
        return tuple(name.format(**self.words) for name in names)


def kinds(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the kind of each experiment in the settings, ``releases`` or ``training``."""
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
    """Yield the exhibits of an entry: one, or one for each experiment of a kind.

    Args:
        name: name of the entry, a template if ``each`` is not empty.
        each: kind of experiments, ``releases`` or ``training``, that each give an exhibit. If
            empty, there is one exhibit. Its inputs with ``{experiment}`` are repeated for all
            experiments on releases, those with ``{training}`` for all trainings.
        inputs: names of the inputs, or templates.
        experiments: kind of each experiment of the run. An experiment that is part of another one
            gives no exhibit. Neither does one without a figure in the paper if the name contains
            ``{figure}``.
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


#: From the name of a table or figure to the names of its inputs.
Plan = dict[str, tuple[str, ...]]


def plan(settings: Mapping[str, Any]) -> tuple[Plan, Plan]:
    """Return the tables and the figures of a run.

    An exhibit with an input that the run does not make is left out.

    Args:
        settings: a resolved configuration.
    """
    experiments, names = kinds(settings), _names(settings)

    def available(name: str) -> bool:
        folder, _, stem = name.partition("/")
        return stem in names.get(folder, [stem])

    def complete(entries: Mapping[str, discovery.Entry]) -> Plan:
        exhibits: Plan = {}
        for name, entry in entries.items():
            each, inputs = entry.words.get("each", ""), entry.words.get("inputs", ())
            for exhibit in fill(name, each, inputs, experiments):
                optional = exhibit.fill(entry.words.get("optional", ()))
                sources = (*exhibit.inputs, *filter(available, optional))
                # An exhibit of published values alone says nothing about the run.
                printed = all(source.startswith("published/") for source in sources)
                if all(map(available, exhibit.inputs)) and not printed:
                    exhibits[exhibit.name] = sources
        return exhibits

    # Tables may depend on tables, so that the second pass drops those whose tables are missing.
    names["tables"] = {*complete(discovery.tables())}
    return complete(discovery.tables()), complete(discovery.figures())


def _names(settings: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the names of a run's results other than tables and figures, by folder."""
    releases, runs = {*settings["experiments"]}, {*kinds(settings)}
    names = {
        "summary": runs,
        "comparisons": runs,
        "readings": {part for name in swept(settings) for part in (name, f"{name}_trials")},
        "audit": {"known_bugs", *releases, *(f"{name}_sensitivities" for name in releases)},
        "data": datasets(settings),
        "theory": {*discovery.theory()},
    }
    if isinstance(settings.get("matrix"), dict):
        # Results on a person's own matrix say nothing about the papers.
        names |= {
            folder: set() for folder in ("claims", "errata", "held_out", "readings", "theory")
        }
        names |= {"audit": names["audit"] - {"known_bugs"}, "published": releases}
    return names


def swept(settings: Mapping[str, Any]) -> list[str]:
    """Return the experiments that are run under all readings."""
    return [name for name in settings["experiments"] if not catalogue.experiment(name).part_of]
