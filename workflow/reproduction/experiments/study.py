"""One job of the comparison: an experiment under one mechanism, all epsilons and trials.

Every mechanism gets the same splits: trial t has the same stream for all mechanisms, and for all
experiments on a data set. Differences between mechanisms are therefore paired. Within an
experiment, a direction and an epsilon, releases with the same kind of noise also share their base
draws: the same noise distribution under two names gives the same values.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.mechanism import BrokenPromise, CalibratedMechanism, Mechanism, NoGuarantee
from matrixdp.mechanisms.programs import Program
from matrixdp.mechanisms.promise import promised
from matrixdp.privacy.sensitivity import Box, Query, RecordsQuery, second_moments
from reproduction.data.prepared import Dataset, load
from reproduction.experiments import draws, grams, readings, tasks
from reproduction.experiments.progress import progress
from reproduction.experiments.readings import (
    FROM_DATA,
    Parameters,
    acting_questions,
    adjust_mechanism,
    parameters,
    variations,
)
from reproduction.experiments.tasks.base import NoBaseline, Shared, Task
from reproduction.job_settings import Settings
from reproduction.mechanisms import find_mechanism
from reproduction.mechanisms.base import MechanismEntry
from reproduction.seeds import shared_streams, streams
from reproduction.trials import CONTROL, NO_GUARANTEE, SKIPPED, Block, Rows, assign_columns

#: Largest number of entries in a stack of released values.
STACK = 2**20

#: Trials beside each other that share a stream, where their values have no more than ``SHARED``
#: entries together; larger values have a stream a trial.
BLOCK, SHARED = 20, 2**22

#: Relative difference of means that the order of adding may cause.
ROUNDING = 1e-12

#: Number of splits on which a task may choose its options; no reported trial uses them.
TUNING = 20


@dataclass(frozen=True)
class Configuration:
    """A mechanism with fixed parameters.

    Attributes:
        name: the parameters in tables.
        stream: the parameters in keys of random streams.
        direction: name of the direction.
        mechanism: the mechanism.
        directed: whether the direction favours some features.
    """

    name: str
    stream: str
    direction: str
    mechanism: Mechanism
    directed: bool = False


def configurations(entry: MechanismEntry, settings: Settings) -> list[Configuration]:
    """Return a mechanism's configurations over directions and its grid, in the settings' order.

    Raises:
        InputError: the mechanism has a grid without values, or needs a direction, in the settings.
    """
    results = []
    grid = settings.grids.get(entry.values, ())
    directions = settings.directions if entry.directed else {"": ()}
    needed = {"direction": directions, entry.parameter: grid if entry.parameter else True}
    for name, values in needed.items():
        if not values:
            raise InputError(f"{name} has no values; name at least one in config.yaml")
    for direction, features in directions.items():
        varied = entry.parameter and (features or not entry.directed)
        for value in grid if varied else ("",):
            options: dict[str, object] = {"direction": features} if entry.directed else {}
            name = stream = ""
            if value:
                options[entry.parameter] = float(value)
                name = f"{entry.parameter}={value}"
                stream = f"{entry.stream or entry.parameter}={value}"
            mechanism = entry.build(**options)
            results.append(Configuration(name, stream, direction, mechanism, bool(features)))
    return results


def trials(job: Mapping[str, Any], mechanism: str, folder: str | os.PathLike) -> Rows:
    """Return the trial rows of a mechanism or a baseline.

    Args:
        job: settings of the job, see :func:`prepare_job`.
        mechanism: its name.
        folder: folder of the prepared data.
    """
    scaling = readings.find_reading(job["reading"]).scaling(job["dataset"])
    task, data, settings = prepare_job(job, load(folder, scaling))
    return run(task, mechanism, data, settings)


def sweep_readings(job: Mapping[str, Any], names: Sequence[str], folder: str | os.PathLike) -> Rows:
    """Return the trial rows of mechanisms and baselines under all variations of the reading.

    Args:
        job: settings of the job under the default reading, see :func:`prepare_job`.
        names: mechanisms and baselines.
        folder: folder of the prepared data, in all scalings.
    """

    @functools.cache
    def scaled(scaling: str) -> Dataset:
        data = load(folder, scaling)
        return data.of(job.get("features") or data.features)

    task, _, settings = prepare_job(job, scaled(readings.DEFAULT))
    return [row for name in names for row in sweep(task, name, scaled, settings)]


def prepare_job(job: Mapping[str, Any], data: Dataset) -> tuple[Task, Dataset, Settings]:
    """Return the task, the private data and the settings of an experiment.

    Args:
        job: the experiment's settings in the resolved configuration: the fields of
            :class:`Settings`, with names of features in place of indices. By default the task has
            the name of the experiment, and ``features`` are all features.
        data: the data in the scaling of the reading.

    Raises:
        InputError: the task or a feature is unknown, or the data are not those of the experiment.
    """
    name, reading = job["experiment"], readings.find_reading(job["reading"])
    if data.name != job["dataset"]:
        raise InputError(f"{name} needs the data set {job['dataset']}, but was given {data.name}")
    features = tuple(job.get("features") or data.features)
    entry = tasks.find_task(job.get("task", name))
    options = {need: job[need] for need in entry.needs}
    if "target" in options:
        options["target"] = features.index(checks.choice(features, target=options["target"]))
    task = adjust_mechanism(entry.build(**options), reading.parameters)
    directions = {
        direction: tuple(features.index(member) for member in members)
        for direction, members in job.get("directions", {}).items()
    }
    resolved = {"reading": reading.name, "changes": reading.parameters, "directions": directions}
    adjacency = reading.adjacency(job["adjacency"])
    settings = Settings.of(job, adjacency=adjacency, **resolved)
    return task, data.of(features), settings


def queries(task: Task, data: Dataset, settings: Settings) -> dict[str, Query]:
    """Return the queries that a task can use, by name, the paper's query first."""
    box, records = Box(data.lower, data.upper), task.records(data.matrix)
    return {name: task.query(name, box, records, settings.adjacency) for name in task.queries}


def run(
    task: Task, mechanism: str, data: Dataset, settings: Settings, control: bool = True
) -> Rows:
    """Return the trial rows of one mechanism, or of one of the task's baselines.

    A budget without a guarantee, or a mechanism that cannot serve the task, gives one row with the
    reason in ``note``. The phases of trials are:

    - ``select``: trials on separate streams, which choose between several configurations of a
      direction;
    - ``report``: the reported trials, at all epsilons. What is shown has ``trials_at``: chosen
      configurations, and the one fixed without a look at results; all others have ``trials``;
    - ``control``: the noise of the ``report`` trials on records of zeros; only with ``control``.
    """
    return _run({settings.reading: task}, mechanism, data, settings, control)


def sweep(task: Task, mechanism: str, scaled: Callable[[str], Dataset], settings: Settings) -> Rows:
    """Return the trial rows of one mechanism under all variations of its reading.

    See :func:`run` for the rows, and :func:`~reproduction.experiments.readings.variations`.

    All readings share their base draws; readings that differ only in the task share the releases.

    Args:
        task: the task under the default reading.
        mechanism: name of a mechanism or baseline.
        scaled: function that returns the data by the name of a scaling.
        settings: settings; ``reading`` and ``changes`` are ignored.
    """
    things: list[object] = [task]
    if mechanism not in task.baselines:
        things.append(configurations(find_mechanism(mechanism), settings)[0].mechanism)
    name = scaled(readings.DEFAULT).name
    of_task = parameters(task)
    groups: dict[tuple, dict[str, Task]] = {}
    asked = acting_questions(
        settings.experiment, mechanism, dataset=name, things=things, adjacent=len(things) > 1
    )
    for reading in variations(asked):
        changes = {k: v for k, v in reading.parameters.items() if k not in of_task}
        near = reading.adjacency(settings.adjacency)
        group = reading.scaling(name), near, tuple(changes.items())
        groups.setdefault(group, {})[reading.name] = adjust_mechanism(task, reading.parameters)
    rows: list[Block] = []
    for (scaling, near, changes), tasks_by_reading in groups.items():
        changed = replace(settings, adjacency=near, changes=dict(changes))
        rows += _run(tasks_by_reading, mechanism, scaled(scaling), changed)
    return rows


def _run(
    tasks_by_reading: Mapping[str, Task],
    mechanism: str,
    data: Dataset,
    settings: Settings,
    control: bool = False,
) -> Rows:
    """Return the trial rows of one mechanism, with a task for each reading."""
    checks.count(trials=settings.trials)
    tuned = {
        reading: _tuned(task, data, settings.seed) for reading, task in tasks_by_reading.items()
    }
    task = next(iter(tuned.values()))
    if mechanism in task.baselines:
        rows: Rows = [
            {**_baseline_rows(task, mechanism, data, settings), "reading": reading}
            for reading, task in tuned.items()
        ]
    else:
        # Imports only the family of the mechanism; raises InputError for an unknown name.
        find_mechanism(mechanism)
        rows = list(_mechanism_rows(tuned, mechanism, data, settings, control))
    of = {"experiment": settings.experiment, "dataset": data.name, "data_status": data.status}
    return assign_columns(rows, **of, mechanism=mechanism, metric=task.metric)


@functools.cache
def _tuned(task: Task, data: Dataset, seed: int) -> Task:
    return task.tuned(data.matrix, splits(seed, data, "tune", range(TUNING)))


def _baseline_rows(task: Task, name: str, data: Dataset, settings: Settings) -> Block:
    values = np.empty(settings.trials)
    domain = Box(data.lower, data.upper)
    for trials in _blocks(settings.trials, data.matrix.size):
        instance = task.instance(data.matrix, splits(settings.seed, data, "report", trials))
        noise = streams(settings.seed, "noise", settings.experiment, name, "report", trials=trials)
        try:
            values[trials.start : trials.stop] = instance.baseline(name, noise, domain)
        except NoBaseline as reason:
            return _absence(SKIPPED, str(reason), "")
    return {"phase": "report", "trial": np.arange(settings.trials), "value": values}


@dataclass(frozen=True, eq=False)
class Calibration:
    """A configuration at one epsilon, with its release or the reason why there is none (``note``).

    ``broken``: whether the reason is that the release promises less than what is asked.
    """

    configuration: Configuration
    epsilon: str
    query: Query
    delta: float
    release: CalibratedMechanism | None = None
    note: str = ""
    broken: bool = False

    @property
    def where(self) -> dict[str, str]:
        """Columns that identify the case among those of its mechanism."""
        name, direction = self.configuration.name, self.configuration.direction
        return {"configuration": name, "direction": direction, "epsilon": self.epsilon}

    @property
    def guarantee(self) -> dict[str, Any]:
        """Columns with the privacy and the size of the case's noise."""
        assert self.release is not None
        return {
            "delta": self.release.delta,
            "epsilon_delivered": self.release.epsilon_delivered,
            "mu": self.release.mu,
            "epsilon_exact": self.release.tight,
            "noise_std": self.release.noise_std,
        }

    def noise(self, settings: Settings, phase: str, trials: range) -> list[np.random.Generator]:
        """Return one stream per trial, the same for releases with the same kind of noise.

        The trials of a :func:`_block` share one, and are whole blocks.
        """
        assert self.release is not None
        direction = self.configuration.direction if self.configuration.directed else ""
        kind = draws.noise_name(self.release)
        key = (kind, direction, self.configuration.stream, self.epsilon, phase)
        words = ("noise", settings.experiment, *key)
        return shared_streams(settings.seed, *words, trials=trials, block=_block(self.release))


def _block(release: CalibratedMechanism) -> int:
    """Return how many trials share a stream, which no number of trials changes.

    Trials of a program ask their questions side by side, so that each has a stream of its own.
    """
    small = BLOCK * math.prod(release.query.shape) <= SHARED
    return BLOCK if small and not isinstance(release, Program) else 1


def calibrate_all(
    mechanism: str, posed: Mapping[str, Query], settings: Settings, data: Dataset | None = None
) -> list[Calibration]:
    """Return a mechanism's configurations at all epsilons, for the first possible query.

    The list is empty where the mechanism answers none of the queries ``posed``. A reading may set a
    parameter from ``data``.
    """
    cases = []
    for configuration, epsilon in itertools.product(
        configurations(find_mechanism(mechanism), settings), settings.epsilons
    ):
        kinds = configuration.mechanism.queries
        query = next((posed[name] for name in posed if type(posed[name]) in kinds), None)
        if query is None:
            continue
        delta = 1 / query.n_records if settings.delta is None else settings.delta
        if data:
            changes = _resolved(settings.changes, query, data)
            configuration = replace(
                configuration, mechanism=adjust_mechanism(configuration.mechanism, changes)
            )
        case = Calibration(configuration, epsilon, query, delta)
        try:
            release = promised(configuration.mechanism, query, epsilon=float(epsilon), delta=delta)
            cases.append(replace(case, release=release))
        except NoGuarantee as reason:
            broken = isinstance(reason, BrokenPromise)
            cases.append(replace(case, note=str(reason), broken=broken))
    return cases


def _mechanism_rows(
    tasks: Mapping[str, Task], mechanism: str, data: Dataset, settings: Settings, control: bool
) -> Iterator[Block]:
    task = next(iter(tasks.values()))
    cases = calibrate_all(mechanism, queries(task, data, settings), settings, data)
    if not cases:
        kinds = configurations(find_mechanism(mechanism), settings)[0].mechanism.queries
        answers = " and ".join(sorted(query_type.name for query_type in kinds))
        reason = f"it answers {answers} queries, the task needs {task.queries[0]}"
        yield from (_absence(SKIPPED, reason, reading) for reading in tasks)
        return
    released_as = {case.release.output_type for case in cases if case.release}
    serving = {}
    for reading, task in tasks.items():
        if unusable := released_as - task.accepts:
            needed = " or a ".join(sorted(task.accepts))
            reason = f"it releases a {unusable.pop()}, the task needs a {needed}"
            yield _absence(SKIPPED, reason, reading)
        else:
            serving[reading] = task
    simulated = _simulated(serving, mechanism, cases, data, settings, control)
    for reading, case in itertools.product(serving, cases):
        if case.release is None:
            absence = _absence(NO_GUARANTEE, case.note, reading)
            yield {**absence, **case.where, "delta": case.delta}
            continue
        for phase, scores in simulated:
            if (reading, case) in scores:
                values = scores[reading, case]
                rows = {"phase": phase, "trial": np.arange(len(values)), "value": values}
                yield {"reading": reading, **case.where, **case.guarantee, **rows}


def _simulated(
    tasks: Mapping[str, Task],
    mechanism: str,
    cases: Sequence[Calibration],
    data: Dataset,
    settings: Settings,
    control: bool,
) -> list[tuple[str, Scores]]:
    """Return phases with their scores, those of controls last (see :func:`run`)."""
    rivals = Counter(case.configuration.direction for case in cases)
    alone = len(settings.epsilons)
    compared = [case for case in cases if rivals[case.configuration.direction] > alone]
    few = settings.trials
    (selected,) = _scores(tasks, mechanism, "select", compared, data, settings, few, False)
    shown = _shown(cases, compared, selected, settings.fixed)
    by_count: dict[int, list[Calibration]] = {}
    for case in cases:
        # Of a configuration that nobody reads beyond its mean, few trials are enough.
        more = settings.trials_at.get(case.epsilon, 0) if case in shown else 0
        by_count.setdefault(more or settings.trials, []).append(case)
    scored, controls = [], []
    for count, some in by_count.items():
        scores, *of_zeros = _scores(
            tasks, mechanism, "report", some, data, settings, count, control
        )
        scored.append(("report", scores))
        controls += [(CONTROL, each) for each in of_zeros]
    return [*scored, ("select", selected), *controls]


def _shown(
    cases: Sequence[Calibration],
    compared: Sequence[Calibration],
    selected: Scores,
    fixed: str,
) -> set[Calibration]:
    """Return the cases without a rival, those of the fixed configuration, and the chosen ones.

    Chosen is what has the smallest mean of the select trials at its epsilon and direction, in any
    reading. The summary adds in another order, so what is equal up to rounding is chosen, too.
    """
    means = {pair: float(values.mean()) for pair, values in selected.items()}
    best: dict[tuple[str, str, str], float] = {}
    for (reading, case), mean in means.items():
        family = (reading, case.configuration.direction, case.epsilon)
        best[family] = min(mean, best.get(family, mean))
    chosen = {
        case
        for (reading, case), mean in means.items()
        if mean <= best[reading, case.configuration.direction, case.epsilon] * (1 + ROUNDING)
    }
    return {*cases} - {*compared} | chosen | {c for c in cases if c.configuration.name == fixed}


#: The metric of trials, shape (trials,), by reading and cell.
Scores = dict[tuple[str, Calibration], Array]


def _scores(
    tasks: Mapping[str, Task],
    mechanism: str,
    phase: str,
    cases: Sequence[Calibration],
    data: Dataset,
    settings: Settings,
    count: int,
    with_zeros: bool,
) -> list[Scores]:
    """Return the scores of cells with a release, and of the same noise on zeros if asked.

    Each release is simulated once and scored by the tasks of all readings. Whole blocks of trials
    that share a stream are run, and the first ``count`` returned: no number of trials changes one.
    """
    releases = {case: case.release for case in cases if case.release}
    block = max(map(_block, releases.values()), default=1)
    whole = -(-count // block) * block
    results: list[Scores] = [
        {pair: np.empty(whole) for pair in itertools.product(tasks, releases)}
        for _ in range(1 + with_zeros)
    ]
    reduced = all(task.reads_gram for task in tasks.values())
    size = _stacked(tasks, releases.values(), data, reduced)
    blocks = list(_blocks(whole, size, block)) if results[0] else []
    with progress(len(blocks) * len(releases), f"{mechanism}, {phase}") as advance:
        for trials in blocks:
            instances = {
                reading: task.instance(data.matrix, splits(settings.seed, data, phase, trials))
                for reading, task in tasks.items()
            }
            matrix = next(iter(instances.values())).matrix
            matrices = [matrix, np.zeros(matrix.shape[-2:])][: len(results)]
            # Many cases have one query: what they start from is made once.
            exact: dict[Query, list[Array]] = {}
            triangles: dict[Query, list[Array]] = {}
            for case, release in releases.items():
                query = release.query
                if query not in exact:
                    exact[query] = [query.value(each) for each in matrices]
                noise = functools.partial(case.noise, settings, phase, trials)
                facts = {"output_type": release.output_type, "noise_std": release.noise_std}
                # Sketches alone have one.
                facts["ridge"] = getattr(release, "ridge", 0.0)
                if reduced and grams.is_reducible(release):
                    if query not in triangles:
                        triangles[query] = [grams.triangle(query, each) for each in exact[query]]
                    samples = grams.simulate_all(release, triangles[query], noise)
                else:
                    samples = draws.simulate_all(release, exact[query], noise)
                for scores, released in zip(results, samples, strict=True):
                    shared: Shared = {}
                    for reading, instance in instances.items():
                        score = instance.score(released, shared=shared, **facts)
                        scores[reading, case][trials.start : trials.stop] = score
                advance()
    return [{pair: values[:count] for pair, values in scores.items()} for scores in results]


def _resolved(changes: Parameters, query: Query, data: Dataset) -> Parameters:
    """Return parameters in which the norm of the query's value replaces ``FROM_DATA``."""
    if isinstance(query, RecordsQuery):
        # Where trials split the data, this is the root mean square over splits.
        norm = np.sqrt(query.n_records * (data.matrix**2).sum(axis=0).mean())
    else:
        norm = np.linalg.norm(second_moments(data.matrix))
    return {place: float(norm) if to == FROM_DATA else to for place, to in changes.items()}


def serves(task: Task, mechanism: str, posed: Mapping[str, Query], settings: Settings) -> bool:
    """Return whether a task can use the releases of a mechanism.

    It is true of a mechanism that fails to be calibrated, whose own row then says why.
    """
    largest = replace(settings, epsilons=settings.epsilons[-1:])
    try:
        cases = calibrate_all(mechanism, posed, largest)
    except Exception:
        # A mechanism of another author may raise anything, and ends none of the others.
        return True
    return bool(cases) and {c.release.output_type for c in cases if c.release} <= task.accepts


def _absence(outcome: str, reason: str, reading: str) -> Block:
    return {"reading": reading, "phase": "report", "outcome": outcome, "note": reason}


def splits(seed: int, data: Dataset, phase: str, trials: range) -> list[np.random.Generator]:
    """Return one stream per trial that splits the data, the same for all mechanisms."""
    return streams(seed, "split", data.name, phase, trials=trials)


def _stacked(
    tasks: Mapping[str, Task],
    releases: Iterable[CalibratedMechanism],
    data: Dataset,
    reduced: bool,
) -> int:
    """Return how many numbers a trial adds to a stack of values."""
    if any(task.splits for task in tasks.values()):
        return data.matrix.size
    # All trials have the same records, and stack what is released alone.
    shapes = [grams.shape(each) if reduced else each.query.shape for each in releases]
    return max(map(math.prod, shapes), default=1)


def _blocks(count: int, size: int, block: int = 1) -> Iterator[range]:
    """Cut the trials into stacks of whole blocks.

    A stack of values of ``size`` numbers stays within ``STACK``, or has one block.
    """
    step = max(1, STACK // size // block) * block
    for start in range(0, count, step):
        yield range(start, min(start + step, count))
