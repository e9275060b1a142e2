"""One job of the comparison: an experiment under one mechanism, all epsilons and trials.

Every mechanism sees the same splits (trial t has the same stream whatever the mechanism), so that
differences are paired; its noise has streams of its own.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from tqdm import tqdm

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.experiments.readings import FROM_DATA, Parameters, adjusted, cross, parameters
from matrixdp.experiments.tasks.base import Task, second_moments
from matrixdp.mechanisms import registry
from matrixdp.mechanisms.base import Entry, Mechanism, NoGuarantee, Release
from matrixdp.privacy.sensitivity import Box, Covariance, Identity, Query
from matrixdp.seeds import streams
from matrixdp.trials import COLUMNS

QUERIES: dict[str, type[Identity] | type[Covariance]] = {
    "identity": Identity,
    "covariance": Covariance,
}

#: Numbers held at once by a stack of released values.
STACK = 2**23

#: Splits on which a task may choose its options, none of them of a reported trial.
TUNING = 20


@dataclass(frozen=True)
class Data:
    """What a study needs to know of a data set.

    Attributes:
        name, status: which data set, and whether it is ``original`` or ``simulated``.
        matrix: m x n, records as columns.
        domain: public bounds of a record.
    """

    name: str
    status: str
    matrix: Array
    domain: Box


@dataclass(frozen=True)
class Settings:
    """What config.yaml says of one experiment.

    Attributes:
        experiment: its name.
        seed: root seed.
        trials: trials per row; trial numbers start at 0.
        epsilons: canonical tokens, e.g. ``"0.1"``; they name the noise streams.
        delta: the nominal delta; None stands for 1 / n, n the number of private records.
        directions: name of a noise direction -> indices of its features, none for i.i.d. noise.
        taus: canonical tokens of the shares tried for the important directions.
        rows: numbers of sketch rows tried, as multiples of m.
        adjacency: what neighbours are (see :mod:`matrixdp.privacy.sensitivity`).
        reading: name of the choices made where the papers leave something open.
        changes: the parameters of mechanisms that it changes.
    """

    experiment: str
    seed: int
    trials: int
    epsilons: tuple[str, ...]
    delta: float | None = None
    directions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    taus: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    adjacency: str = "replace"
    reading: str = "default"
    changes: Parameters = field(default_factory=dict)


@dataclass(frozen=True)
class Variant:
    """One mechanism of a family: where it stands on each axis, and the mechanism itself."""

    name: str
    direction: str
    mechanism: Mechanism


def variants(entry: Entry, settings: Settings) -> list[Variant]:
    """Return a mechanism's variants over its axes, in the order of the settings.

    Raises:
        InputError: an axis of the mechanism has no values in the settings.
    """
    found = []
    given = {"direction": settings.directions, "tau": settings.taus, "rows": settings.rows}
    for axis in entry.axes:
        if not given[axis]:
            raise InputError(f"{axis} has no values; name at least one in config.yaml")
    directions = settings.directions if "direction" in entry.axes else {"": ()}
    for (direction, important), rows in itertools.product(
        directions.items(), settings.rows if "rows" in entry.axes else ("",)
    ):
        # Without important features there is nothing for tau to share out.
        shared = "tau" in entry.axes and important
        for tau in settings.taus if shared else ("",):
            chosen: dict[str, object] = {}
            if "direction" in entry.axes:
                chosen |= {"important": important, "tau": float(tau) if tau else 0.5}
            if rows:
                chosen["rows"] = float(rows)
            name = f"tau={tau}" if tau else f"rows={rows}" if rows else ""
            found.append(Variant(name, direction, entry.build(**chosen)))
    return found


def run(task: Task, mechanism: str, data: Data, settings: Settings) -> pd.DataFrame:
    """Return the tidy trial rows of one mechanism, or of one of the task's reference rows.

    A budget without a guarantee, or a mechanism that cannot serve the task, is one row whose
    ``note`` says why. Where a direction has several variants, ``select`` trials on streams of
    their own come with the ``report`` trials, to choose between the variants.

    Raises:
        InputError: a setting or the mechanism's name is not valid.
    """
    return _run({settings.reading: task}, mechanism, data, settings)


def sweep(
    task: Task, mechanism: str, scaled: Mapping[str, Data], settings: Settings
) -> pd.DataFrame:
    """Return the trial rows of one mechanism under all its readings (see :func:`run`).

    All readings share their base draws, and those that differ in the task alone the releases.

    Args:
        task: as in the default reading.
        mechanism: a mechanism or a reference row.
        scaled: the data by the name of the scaling.
        settings: ``reading`` and ``changes`` are not used.

    Raises:
        InputError: as for :func:`run`; or a scaling is missing.
    """
    things: list[object] = [task]
    if mechanism in registry():
        things.append(variants(registry()[mechanism], settings)[0].mechanism)
    name = next(iter(scaled.values())).name
    own = parameters(task)
    groups: dict[tuple, dict[str, Task]] = {}
    for reading in cross(
        settings.experiment, mechanism, dataset=name, things=things, adjacent=len(things) > 1
    ):
        changes = {k: v for k, v in reading.parameters.items() if k not in own}
        place = checks.choice(scaled, scaling=reading.scaling(name))
        group = place, reading.adjacency(settings.adjacency), tuple(changes.items())
        groups.setdefault(group, {})[reading.name] = adjusted(task, reading.parameters)
    parts = [
        _run(
            tasks,
            mechanism,
            scaled[place],
            replace(settings, adjacency=near, changes=dict(changes)),
        )
        for (place, near, changes), tasks in groups.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _run(tasks: Mapping[str, Task], mechanism: str, data: Data, settings: Settings) -> pd.DataFrame:
    """Return the trial rows of one mechanism under readings, each with its own task."""
    checks.count(trials=settings.trials)
    tuning = ("split", settings.experiment, "tune")
    tuned = {
        reading: task.tuned(data.matrix, streams(settings.seed, *tuning, trials=range(TUNING)))
        for reading, task in tasks.items()
    }
    task = next(iter(tuned.values()))
    if mechanism in task.references:
        parts = [
            _reference_rows(one, mechanism, data, settings).assign(reading=reading)
            for reading, one in tuned.items()
        ]
    else:
        checks.choice([*task.references, *registry()], mechanism=mechanism)
        parts = list(_mechanism_rows(tuned, mechanism, data, settings))
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(
        experiment=settings.experiment,
        dataset=data.name,
        data_status=data.status,
        mechanism=mechanism,
        metric=task.metric,
    )
    return table.reindex(columns=list(COLUMNS))


def _reference_rows(task: Task, name: str, data: Data, settings: Settings) -> pd.DataFrame:
    values = np.empty(settings.trials)
    for trials in _blocks(settings.trials, data.matrix.size):
        instance = task.instance(data.matrix, _split_streams(settings, "report", trials))
        own = streams(settings.seed, "noise", settings.experiment, name, "report", trials=trials)
        values[trials.start : trials.stop] = instance.reference(name, own)
    return pd.DataFrame({"phase": "report", "trial": np.arange(settings.trials), "value": values})


@dataclass(frozen=True, eq=False)
class _Cell:
    """A variant at one epsilon: its release, or the reason why there is none."""

    variant: Variant
    epsilon: str
    release: Release | None
    note: str = ""

    @property
    def where(self) -> dict[str, str]:
        """Return the columns that tell the cell from the others of its mechanism."""
        name, direction = self.variant.name, self.variant.direction
        return {"variant": name, "direction": direction, "epsilon": self.epsilon}


def _mechanism_rows(
    tasks: Mapping[str, Task], mechanism: str, data: Data, settings: Settings
) -> Iterator[pd.DataFrame]:
    found = variants(registry()[mechanism], settings)
    query, reason = _query(next(iter(tasks.values())), found[0].mechanism, data, settings)
    if query is None:
        yield from (_note(reason, reading) for reading in tasks)
        return
    delta = 1 / query.records if settings.delta is None else settings.delta
    changes = _resolved(settings.changes, query, data)
    cells = [
        _cell(replace(variant, mechanism=adjusted(variant.mechanism, changes)), token, query, delta)
        for variant in found
        for token in settings.epsilons
    ]
    released_as = {cell.release.yields for cell in cells if cell.release}
    serving = {}
    for reading, task in tasks.items():
        if unusable := released_as - task.accepts:
            needed = " or a ".join(sorted(task.accepts))
            yield _note(
                f"skipped: it releases a {unusable.pop()}, the task needs a {needed}", reading
            )
        else:
            serving[reading] = task
    rivals = Counter(variant.direction for variant in found)
    compared = [cell for cell in cells if rivals[cell.variant.direction] > 1]
    reported = _scores(serving, mechanism, "report", cells, data, settings)
    selected = _scores(serving, mechanism, "select", compared, data, settings)
    for reading, cell in itertools.product(serving, cells):
        if cell.release is None:
            yield _note(cell.note, reading).assign(**cell.where, delta=delta)
            continue
        for phase, scores in (("report", reported), ("select", selected)):
            if (reading, cell) in scores:
                yield pd.DataFrame(
                    cell.where
                    | {
                        "reading": reading,
                        "delta": cell.release.delta,
                        "epsilon_actual": cell.release.epsilon_actual,
                        "mu_actual": cell.release.mu,
                        "mu_exact": None if cell.release.mu is None else cell.release.mu_exact,
                        "noise_std": cell.release.noise_std,
                        "phase": phase,
                        "trial": np.arange(settings.trials),
                        "value": scores[reading, cell],
                    }
                )


def _scores(
    tasks: Mapping[str, Task],
    mechanism: str,
    phase: str,
    cells: Sequence[_Cell],
    data: Data,
    settings: Settings,
) -> dict[tuple[str, _Cell], Array]:
    """Return the metric of all trials by reading and cell that has a release, shape (trials,).

    Each release is drawn once, and scored by the tasks of all readings.
    """
    releases = {cell: cell.release for cell in cells if cell.release}
    scores = {pair: np.empty(settings.trials) for pair in itertools.product(tasks, releases)}
    blocks = list(_blocks(settings.trials, data.matrix.size)) if scores else []
    total = len(blocks) * len(releases)
    with tqdm(total=total, desc=f"{mechanism}, {phase}", leave=False, disable=None) as bar:
        for trials in blocks:
            instances = {
                reading: task.instance(data.matrix, _split_streams(settings, phase, trials))
                for reading, task in tasks.items()
            }
            query = next(iter(releases.values())).query
            value = next(iter(instances.values())).value(query.name)
            buffer = np.empty((len(trials), *query.shape))
            for cell, release in releases.items():
                names = (mechanism, cell.variant.direction, cell.variant.name, cell.epsilon, phase)
                own = streams(settings.seed, "noise", settings.experiment, *names, trials=trials)
                fits = release.yields in ("matrix", "second_moments")
                released = release.sample(value, own, out=buffer if fits else None)
                for reading, instance in instances.items():
                    scores[reading, cell][trials.start : trials.stop] = instance.score(
                        released, yields=release.yields, ridge=release.ridge
                    )
                bar.update()
    return scores


def _resolved(changes: Parameters, query: Query, data: Data) -> Parameters:
    """Return the changes with the norm of the private data in place of ``FROM_DATA``."""
    if isinstance(query, Identity):
        # Where trials split the data, the root mean square over splits.
        norm = np.sqrt(query.records * (data.matrix**2).sum(axis=0).mean())
    else:
        norm = np.linalg.norm(second_moments(data.matrix))
    return {place: float(norm) if to == FROM_DATA else to for place, to in changes.items()}


def _query(
    task: Task, mechanism: Mechanism, data: Data, settings: Settings
) -> tuple[Query | None, str]:
    """Return the first of the task's queries that the mechanism can answer, or a reason."""
    for name in task.queries:
        if name in mechanism.queries:
            records = task.records(data.matrix)
            return QUERIES[name](data.domain, records, settings.adjacency), ""
    answers = " and ".join(sorted(mechanism.queries))
    return None, f"skipped: it answers {answers} queries, the task needs {task.queries[0]}"


def _cell(variant: Variant, epsilon: str, query: Query, delta: float) -> _Cell:
    try:
        release = variant.mechanism.calibrate(query, epsilon=float(epsilon), delta=delta)
    except NoGuarantee as reason:
        return _Cell(variant, epsilon, None, f"no guarantee: {reason}")
    return _Cell(variant, epsilon, release)


def _note(reason: str, reading: str) -> pd.DataFrame:
    return pd.DataFrame({"reading": [reading], "phase": ["report"], "note": [reason]})


def _split_streams(settings: Settings, phase: str, trials: range) -> list[np.random.Generator]:
    return streams(settings.seed, "split", settings.experiment, phase, trials=trials)


def _blocks(trials: int, size: int) -> Iterator[range]:
    """Cut the trials so that a stack of values of ``size`` numbers stays within ``STACK``."""
    step = max(1, STACK // size)
    for start in range(0, trials, step):
        yield range(start, min(start + step, trials))
