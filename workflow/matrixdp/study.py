"""One job of the comparison: an experiment under one mechanism, all epsilons and trials.

Every mechanism sees the same splits (trial t has the same stream whatever the mechanism), so that
differences are paired; its noise has streams of its own.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from tqdm import tqdm

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms import registry
from matrixdp.mechanisms.base import Entry, Mechanism, NoGuarantee, Release
from matrixdp.privacy.sensitivity import Box, Covariance, Identity, Query
from matrixdp.seeds import streams
from matrixdp.tasks.base import Task

QUERIES = {"identity": Identity, "covariance": Covariance}

#: Numbers held at once by a stack of released values.
STACK = 2**23

COLUMNS = (
    ["experiment", "dataset", "data_status", "mechanism", "variant", "direction", "reading"]
    + ["epsilon", "delta", "epsilon_actual", "mu_actual", "mu_exact", "noise_std"]
    + ["phase", "trial", "metric", "value", "note"]
)


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
    checks.count(trials=settings.trials)
    if mechanism in task.references:
        parts = [_reference_rows(task, mechanism, data, settings)]
    else:
        checks.choice([*task.references, *registry()], mechanism=mechanism)
        parts = list(_mechanism_rows(task, mechanism, data, settings))
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(
        experiment=settings.experiment,
        dataset=data.name,
        data_status=data.status,
        mechanism=mechanism,
        reading=settings.reading,
        metric=task.metric,
    )
    return table.reindex(columns=COLUMNS)


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
    task: Task, mechanism: str, data: Data, settings: Settings
) -> Iterator[pd.DataFrame]:
    found = variants(registry()[mechanism], settings)
    query, reason = _query(task, found[0].mechanism, data, settings)
    if query is None:
        yield _note(reason)
        return
    delta = 1 / query.records if settings.delta is None else settings.delta
    cells = [
        _cell(variant, token, query, delta) for variant in found for token in settings.epsilons
    ]
    released_as = {cell.release.yields for cell in cells if cell.release}
    if unusable := released_as - task.accepts:
        yield _note(
            f"skipped: it releases a {unusable.pop()}, "
            f"the task needs a {' or a '.join(sorted(task.accepts))}"
        )
        return
    rivals = Counter(variant.direction for variant in found)
    compared = [cell for cell in cells if rivals[cell.variant.direction] > 1]
    reported = _scores(task, mechanism, "report", cells, data, settings)
    selected = _scores(task, mechanism, "select", compared, data, settings)
    for cell in cells:
        if cell.release is None:
            yield _note(cell.note).assign(**cell.where, delta=delta)
            continue
        for phase, scores in (("report", reported), ("select", selected)):
            if cell in scores:
                yield pd.DataFrame(
                    cell.where
                    | {
                        "delta": cell.release.delta,
                        "epsilon_actual": cell.release.epsilon_actual,
                        "mu_actual": cell.release.mu,
                        "mu_exact": None if cell.release.mu is None else cell.release.mu_exact,
                        "noise_std": cell.release.noise_std,
                        "phase": phase,
                        "trial": np.arange(settings.trials),
                        "value": scores[cell],
                    }
                )


def _scores(
    task: Task,
    mechanism: str,
    phase: str,
    cells: Sequence[_Cell],
    data: Data,
    settings: Settings,
) -> dict[_Cell, Array]:
    """Return the metric of every trial of each cell that has a release, shape (trials,)."""
    releases = {cell: cell.release for cell in cells if cell.release}
    scores = {cell: np.empty(settings.trials) for cell in releases}
    blocks = list(_blocks(settings.trials, data.matrix.size)) if releases else []
    total = len(blocks) * len(releases)
    with tqdm(total=total, desc=f"{mechanism}, {phase}", leave=False, disable=None) as bar:
        for trials in blocks:
            instance = task.instance(data.matrix, _split_streams(settings, phase, trials))
            query = next(iter(releases.values())).query
            value = instance.value(query.name)
            buffer = np.empty((len(trials), *query.shape))
            for cell, release in releases.items():
                names = (mechanism, cell.variant.direction, cell.variant.name, cell.epsilon, phase)
                own = streams(settings.seed, "noise", settings.experiment, *names, trials=trials)
                fits = release.yields in ("matrix", "second_moments")
                released = release.sample(value, own, out=buffer if fits else None)
                scores[cell][trials.start : trials.stop] = instance.score(
                    released, yields=release.yields, ridge=release.ridge
                )
                bar.update()
    return scores


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


def _note(reason: str) -> pd.DataFrame:
    return pd.DataFrame({"phase": ["report"], "note": [reason]})


def _split_streams(settings: Settings, phase: str, trials: range) -> list[np.random.Generator]:
    return streams(settings.seed, "split", settings.experiment, phase, trials=trials)


def _blocks(trials: int, size: int) -> Iterator[range]:
    """Cut the trials so that a stack of values of ``size`` numbers stays within ``STACK``."""
    step = max(1, STACK // size)
    for start in range(0, trials, step):
        yield range(start, min(start + step, trials))
