"""Judge the papers' claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reproduction.report.claims.definitions import Vocabulary


def run(files: Sequence[str], *, out: str, comparisons: str) -> None:
    """Run the verb.

    Args:
        files: what is judged, settings.yaml of the run among them
        out: the verdicts, CSV
        comparisons: the comparisons behind them, CSV
    """
    from reproduction.report import inputs
    from reproduction.report.claims import definitions, judge

    by_name = inputs.files_by_name(files)
    claims = definitions.read_definitions(names(inputs.read_input("settings", by_name)))
    judge.write_verdicts(claims, by_name, out, comparisons)


def names(settings: Mapping[str, Any]) -> Vocabulary:
    """Return the names that claims may use: whatever exists, in this run or not."""
    from reproduction import catalogue, discovery
    from reproduction.report import recipes
    from reproduction.report.claims.definitions import Vocabulary
    from reproduction.theory import exact

    trainings = {*discovery.trainings(), *settings["training"]}
    releases = {*settings["experiments"], *discovery.tasks()}
    releases |= {about.id for about in catalogue.experiments().values() if not about.needs}
    releases -= trainings
    # A part of another experiment stands in exhibits of its own.
    abouts = [catalogue.experiment(name) for name in releases]
    abouts = [about for about in abouts if not about.part_of]

    drawn = {*recipes.standalone("figures")}
    drawn |= {f"curves_{about.id}" for about in abouts}
    drawn |= {name for about in abouts for name in about.figures}
    exhibits = {*recipes.standalone("tables")} | {about.results for about in abouts}
    exhibits |= {f"imgm_{name}" for name in trainings}
    return Vocabulary(
        mechanisms={
            *discovery.mechanisms(),
            *(name for training in discovery.trainings() for name in discovery.schemes(training)),
        },
        experiments=releases | trainings,
        checks={*exact.CHECKS},
        exhibits={
            *(f"theory/{name}" for name in discovery.theory()),
            *(f"tables/{name}" for name in exhibits),
            *(f"figures/{name}" for name in drawn),
        },
    )
