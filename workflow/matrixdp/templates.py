"""Tables and figures that are made for several experiments: one template, filled for each of them.

Templates and inputs may hold ``{experiment}``, ``{results}``, ``{figure}`` and ``{title}`` (see
:class:`matrixdp.catalogue.Experiment`); nothing heavy is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from matrixdp import catalogue

RELEASES, TRAINING = "releases", "training"


class Filled(NamedTuple):
    """A template's name and inputs for one experiment, and the words put in; none without one."""

    name: str
    inputs: tuple[str, ...]
    words: dict[str, str]

    def put_in(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return further names with the words put in."""
        return tuple(name.format(**self.words) for name in names)


def kinds(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the experiments that settings name, and of which kind they are."""
    return {
        **dict.fromkeys(settings.get("experiments", ()), RELEASES),
        **dict.fromkeys(settings.get("training", ()), TRAINING),
    }


def fill(
    name: str, each: str, inputs: Iterable[str], experiments: Mapping[str, str]
) -> Iterator[Filled]:
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
        given = (
            one.format(experiment=experiment, training=experiment)
            for one in inputs
            for experiment, kind in [*experiments.items(), ("", "")]
            if kind == next((kinds_of[place] for place in kinds_of if place in one), "")
        )
        yield Filled(name, tuple(given), {})
    for experiment in (one for one, kind in experiments.items() if kind == each):
        about = catalogue.experiment(experiment)
        if not (about.part_of or ("{figure" in name and not about.figures)):
            words = {"experiment": experiment, "results": about.results, "title": about.title}
            words["figure"] = next(iter(about.figures), "")
            words["table"] = f"Table {about.table}" if about.table else about.title
            given = (one.format(**words) for one in inputs)
            yield Filled(name.format(**words), tuple(given), words)
