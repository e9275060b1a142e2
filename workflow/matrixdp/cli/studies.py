"""Verbs that run mechanisms: trials, readings, the audit, and what theory says."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.cli.options import (
    Verb,
    comma_separated,
    delta_number,
    seed_number,
    tokens,
    write_rows,
)

if TYPE_CHECKING:
    from matrixdp.data import Dataset
    from matrixdp.experiments.study import Data, Settings
    from matrixdp.experiments.tasks.base import Task
    from matrixdp.privacy.sensitivity import Query


def add(verb: Verb) -> None:
    """Add this file's verbs to the command line."""
    trials = verb("trials", _trials, "run one mechanism of an experiment, all epsilons and trials")
    _add_study(trials, "a mechanism, or nonprivate, random or zero", "tidy rows, gzipped CSV")

    sweep = verb("sweep", _sweep, "run one mechanism of an experiment under all its readings")
    _add_study(sweep, "a mechanism, or nonprivate, random or zero", "tidy rows, gzipped CSV")
    sweep.add_argument(
        "--scaled",
        action="append",
        default=[],
        metavar="FOLDER",
        help="the data in another scaling; may be repeated",
    )

    audit = verb("audit", _audit, "judge the privacy of a mechanism, or the sensitivities")
    _add_study(audit, "a mechanism, or sensitivities", "one row per variant, CSV")
    audit.add_argument(
        "--runs", type=int, help="at most so many black-box runs per neighbour (else its power's)"
    )

    canaries = verb("canaries", _canaries, "try known ways to get privacy wrong")
    canaries.add_argument("--seed", type=seed_number, default=0)
    canaries.add_argument("--out", required=True)

    theory = verb("theory", _theory, "compute what a figure without a data set shows")
    theory.add_argument("name")
    theory.add_argument("--seed", type=seed_number, default=0)
    theory.add_argument("--out", required=True, help="tidy CSV")


def _add_study(added: argparse.ArgumentParser, what: str, out: str) -> None:
    """Add the options that describe an experiment."""
    added.add_argument("experiment")
    added.add_argument("mechanism", help=what)
    added.add_argument("--data", required=True, help="folder that the verb data has written")
    added.add_argument("--seed", type=seed_number, default=0)
    added.add_argument("--trials", type=int, default=100)
    added.add_argument("--epsilons", type=comma_separated, default=["1"], help="comma-separated")
    added.add_argument("--delta", default="1/n", help="a number, or 1/n")
    added.add_argument(
        "--direction",
        action="append",
        default=[],
        metavar="NAME=FEATURE+FEATURE",
        help="a noise direction; no feature stands for i.i.d. noise; may be repeated",
    )
    added.add_argument("--taus", type=comma_separated, default=[], help="comma-separated")
    added.add_argument(
        "--rows", type=comma_separated, default=[], help="comma-separated, multiples of m"
    )
    added.add_argument("--adjacency", default="replace", help="replace or add_remove")
    added.add_argument(
        "--features", type=comma_separated, help="comma-separated; leave out all others"
    )
    added.add_argument("--target", help="the feature that a regression predicts")
    added.add_argument("--train", type=int, help="private training records of a regression")
    added.add_argument("--reading", default="default", help="its name, or knob=value+...")
    added.add_argument("--out", required=True, help=out)


def _study(options: argparse.Namespace) -> tuple[Task, Data, Settings]:
    """Return the task, the private data and the settings that the options describe."""
    from matrixdp import data
    from matrixdp.experiments import readings, study, tasks

    dataset = data.load(options.data)
    registry = tasks.registry()
    kind = registry[checks.choice(registry, experiment=options.experiment)]
    features = options.features or list(dataset.features)
    private = _private(dataset, features)
    reading = readings.find(options.reading)
    scaling = dataset.provenance["scaling"]["name"]
    if scaling != reading.scaling(dataset.name):
        raise InputError(
            f"{options.data} has the scaling {scaling!r}; the reading {reading.name} needs "
            f"{reading.scaling(dataset.name)!r}, which `matrixdp data --scaling` makes"
        )
    given = {} if options.train is None else {"train": options.train}
    if options.target is not None:
        given["target"] = features.index(checks.choice(features, target=options.target))
    wanted = dataclasses.fields(kind)  # type: ignore[arg-type]
    for field in wanted:
        if field.default is dataclasses.MISSING and field.name not in given:
            raise InputError(f"{options.experiment} lacks --{field.name}; give it")
    task = kind(**{field.name: given[field.name] for field in wanted if field.name in given})
    settings = study.Settings(
        experiment=options.experiment,
        seed=options.seed,
        trials=options.trials,
        epsilons=tokens(options.epsilons, "epsilons"),
        delta=None if options.delta == "1/n" else delta_number(options.delta),
        directions=dict(_direction(text, features) for text in options.direction),
        taus=tokens(options.taus, "taus"),
        rows=tokens(options.rows, "rows"),
        adjacency=reading.adjacency(options.adjacency),
        reading=reading.name,
        changes=reading.parameters,
    )
    return readings.adjusted(task, reading.parameters), private, settings


def _private(dataset: Dataset, features: Sequence[str]) -> Data:
    """Return what a study needs to know of a data set, with these features alone."""
    from matrixdp.experiments import study
    from matrixdp.privacy.sensitivity import Box

    available = list(dataset.features)
    kept = [available.index(checks.choice(available, features=name)) for name in features]
    return study.Data(
        name=dataset.name,
        status=dataset.status,
        matrix=dataset.matrix[kept],
        domain=Box(tuple(dataset.lower[i] for i in kept), tuple(dataset.upper[i] for i in kept)),
    )


def _trials(options: argparse.Namespace) -> None:
    from matrixdp.experiments import study

    task, private, settings = _study(options)
    write_rows(study.run(task, options.mechanism, private, settings), options.out)


def _sweep(options: argparse.Namespace) -> None:
    from matrixdp import data
    from matrixdp.experiments import study

    task, private, settings = _study(options)
    scaled = {"default": private}
    for folder in options.scaled:
        dataset = data.load(folder)
        features = options.features or list(dataset.features)
        scaled[dataset.provenance["scaling"]["name"]] = _private(dataset, features)
    write_rows(study.sweep(task, options.mechanism, scaled, settings), options.out)


def _audit(options: argparse.Namespace) -> None:
    from matrixdp import files
    from matrixdp.audit import releases, sensitivities
    from matrixdp.experiments import study

    task, private, settings = _study(options)
    records = task.records(private.matrix)
    queries: dict[str, Query] = {
        name: study.QUERIES[name](private.domain, records, settings.adjacency)
        for name in task.queries
    }
    if options.mechanism == "sensitivities":
        table = sensitivities.run(settings.experiment, queries, settings.seed)
    else:
        most = None if options.runs is None else checks.count(runs=options.runs)
        table = releases.run(options.mechanism, queries, settings, most)
    files.write_text(options.out, table.to_csv(index=False, lineterminator="\n"))


def _canaries(options: argparse.Namespace) -> None:
    from matrixdp import files
    from matrixdp.audit import canaries

    table = canaries.run(options.seed)
    files.write_text(options.out, table.to_csv(index=False, lineterminator="\n"))


def _theory(options: argparse.Namespace) -> None:
    from matrixdp import theory

    theory.write(options.name, seed=options.seed, out=options.out)


def _direction(text: str, features: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    name, equals, joined = text.partition("=")
    if not (name and equals):
        raise InputError(f"direction is {text!r}; it must have the form NAME=FEATURE+FEATURE")
    chosen = [feature for feature in joined.split("+") if feature]
    valid = [checks.choice(features, **{f"direction {name!r}": feature}) for feature in chosen]
    return name, tuple(list(features).index(feature) for feature in valid)
