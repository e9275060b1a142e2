"""One job of a neural experiment: training under one scheme, all epsilons and trials.

Trial t has the same initial weights, and the same training examples in every step, for all schemes
and epsilons. Differences between schemes are therefore paired. At one epsilon all schemes scale the
same normal draws: the same noise distribution under two names gives the same accuracies.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.mechanisms.mechanism import NoGuarantee
from reproduction.data.prepared import Arrays, LearningSet
from reproduction.experiments import schemes, training
from reproduction.experiments.progress import progress
from reproduction.experiments.schemes.base import Plan, Scheme, SchemeNoise
from reproduction.experiments.training.examples import classes, limit_rows, load
from reproduction.job_settings import Settings
from reproduction.seeds import streams
from reproduction.trials import (
    DEFAULT,
    MAJORITY,
    NO_GUARANTEE,
    NONPRIVATE,
    OF_TRAINING,
    RANDOM,
    SKIPPED,
    Block,
    Rows,
    assign_columns,
)

#: Function that trains once under each noise of a scheme (None: no privacy), and returns the test
#: accuracies by reading of the paper. Its arguments are the noises, and a stream for each.
Score = Callable[
    [Sequence[SchemeNoise | None], Sequence[np.random.Generator]], Sequence[Mapping[str, float]]
]


@dataclass(frozen=True, eq=False)
class Trainer:
    """A network and its records, ready for training.

    Attributes:
        plan: plan of the releases, for a scheme to calibrate its noise.
        labels, test_labels: classes from 0, one per record.
        trial: function from a trial's stream to its :data:`Score`. The stream decides the initial
            weights and the examples of every step.
    """

    plan: Plan
    labels: NDArray
    test_labels: NDArray
    trial: Callable[[np.random.Generator], Score]


@dataclass(frozen=True, kw_only=True)
class Training(abc.ABC):
    """The training of a neural experiment.

    Attributes:
        perturbation: what its schemes add noise to, ``gradients`` or ``features``.
        lot: expected (gradients) or exact (features) number of records of a step.
        epochs: passes over the training records.
        records: largest number of training records, a random sample; None for all.
    """

    perturbation: ClassVar[str]
    lot: int
    epochs: int
    records: int | None = None

    @abc.abstractmethod
    def trainer(self, arrays: Arrays) -> Trainer:
        """Return a trainer for the arrays of a prepared data set."""


def trials(job: Mapping[str, Any], name: str, path: str | os.PathLike) -> Rows:
    """Return the trial rows of a scheme or a baseline.

    Args:
        job: settings of the job. These are ``experiment``,
            ``dataset``, ``seed`` and ``trials``; for schemes also ``epsilons``, ``delta`` and
            ``batch``. ``lot``, ``epochs``, ``clip`` and ``records`` override ``TRAININGS``.
        name: the scheme or the baseline.
        path: folder of the prepared data set, or file of its features.
    """
    setup: Training = training.find_training(job["experiment"])
    overrides = {
        key: job[key] for key in ("lot", "epochs", "clip", "batch", "records") if job.get(key)
    }
    data = load(path, job["dataset"], features=setup.perturbation == "features")
    return run(replace(setup, **overrides), name, data, Settings.of(job))


def run(chosen: Training, name: str, data: LearningSet, settings: Settings) -> Rows:
    """Return the trial rows of one scheme, or of a baseline.

    ``nonprivate`` trains in the same way, on the same examples, without clipping and noise.
    ``random`` guesses each test label. ``majority`` predicts the most frequent class of the
    training records, the first in a tie. A budget without a guarantee, or with noise that overflows
    float32, gives one row with a ``note``.

    Raises:
        InputError: a setting or the scheme's name is not valid, the lot is larger than the data,
            all labels are of one class, or training without privacy diverges.
    """
    checks.count(trials=settings.trials)
    available = schemes.registry(chosen.perturbation)
    checks.choice([*OF_TRAINING, *available], scheme=name)
    (stream,) = streams(settings.seed, "split", settings.experiment, "records", trials=[0])
    trainer = chosen.trainer(limit_rows(data.arrays, chosen.records, stream, "train"))
    count = classes(trainer.labels, data.name)
    rows: Rows
    if name == RANDOM:
        guessers = _noise_streams(name, settings, range(settings.trials))
        guesses = (g.integers(count, size=len(trainer.test_labels)) for g in guessers)
        rows = _rows({}, [{DEFAULT: float(np.mean(g == trainer.test_labels))} for g in guesses])
    elif name == MAJORITY:
        largest = np.bincount(trainer.labels).argmax()
        share = float(np.mean(trainer.test_labels == largest))
        rows = _rows({}, [{DEFAULT: share}] * settings.trials)
    elif name == NONPRIVATE:
        scores = _scores(trainer, name, {"": None}, settings)[""]
        if not _finite(scores):
            raise InputError(
                f"{settings.experiment} without privacy has no finite outputs, as its training "
                f"diverges; check the data in {data.name}"
            )
        rows = _rows({}, scores)
    else:
        # Only a single release has a mu; many sampled steps do not.
        single_release = chosen.perturbation == "features"
        rows = list(_scheme_rows(trainer, available[name], name, settings, single_release))
    return assign_columns(
        rows,
        experiment=settings.experiment,
        dataset=data.name,
        data_status=data.status,
        mechanism=name,
        phase="report",
        metric="accuracy",
    )


def _rows(columns: Block, scores: Sequence[Mapping[str, float]]) -> list[Block]:
    """Return one row per trial and reading."""
    return [
        {
            "reading": reading,
            "trial": np.arange(len(scores)),
            "value": [score[reading] for score in scores],
            **columns,
        }
        for reading in scores[0]
    ]


def _finite(scores: Sequence[Mapping[str, float]]) -> bool:
    return all(np.isfinite(value) for score in scores for value in score.values())


def _scheme_rows(
    trainer: Trainer, scheme: Scheme, name: str, settings: Settings, single_release: bool
) -> Iterator[Block]:
    noises, absences = _calibrated(trainer, scheme, settings)
    scores = _scores(trainer, name, noises, settings)
    for token, values in scores.items():
        if not _finite(values):
            words = f"noise of {noises[token].noise_std:.2g} overflows float32"
            absences[token] = {"outcome": SKIPPED, "note": words}
    for token in settings.epsilons:
        columns: dict[str, Any] = {"epsilon": token, "delta": settings.delta}
        if token in absences:
            yield {**columns, "reading": DEFAULT, **absences[token]}
            continue
        noise = noises[token]
        columns |= {
            "epsilon_delivered": noise.epsilon_delivered,
            "epsilon_exact": noise.epsilon_exact,
            "noise_std": noise.noise_std,
        }
        if single_release and np.isfinite(noise.mu):
            columns |= {"mu": noise.mu}
        yield from _rows(columns, scores[token])


def _calibrated(
    trainer: Trainer, scheme: Scheme, settings: Settings
) -> tuple[dict[str, SchemeNoise], dict[str, Block]]:
    """Return by epsilon the noise of a scheme, or the cells that say why there is none."""
    noises: dict[str, SchemeNoise] = {}
    absences: dict[str, Block] = {}
    delta = checks.open_unit(delta=settings.delta)
    for token in settings.epsilons:
        try:
            noises[token] = scheme.calibrate(trainer.plan, epsilon=float(token), delta=delta)
        except NoGuarantee as reason:
            absences[token] = {"outcome": NO_GUARANTEE, "note": str(reason)}
    return noises, absences


def _scores(
    trainer: Trainer, name: str, noises: Mapping[str, SchemeNoise | None], settings: Settings
) -> dict[str, list[Mapping[str, float]]]:
    """Return a list of accuracies by reading, one per trial, for each epsilon in ``noises``."""
    scores: dict[str, list[Mapping[str, float]]] = {token: [] for token in noises}
    trials = range(settings.trials)
    splits = streams(settings.seed, "split", settings.experiment, "report", trials=trials)
    with progress(len(trials), name) as advance:
        for trial, split in zip(trials, splits, strict=True):
            of_noise = [_noise_streams(token, settings, [trial])[0] for token in noises]
            each = trainer.trial(split)([*noises.values()], of_noise) if noises else []
            for token, accuracies in zip(noises, each, strict=True):
                scores[token].append(accuracies)
            advance()
    return scores


def _noise_streams(
    what: str, settings: Settings, trials: Iterable[int]
) -> list[np.random.Generator]:
    """Return the streams of an epsilon's noise, or of the random guesses."""
    return streams(settings.seed, "noise", settings.experiment, what, "report", trials=trials)


def round_up(deviation: ArrayLike) -> NDArray:
    """Return standard deviations in float32, rounded up, which is the private side."""
    exact = np.asarray(deviation, np.float64)
    with np.errstate(over="ignore"):
        near = exact.astype(np.float32)
    return np.where(near < exact, np.nextafter(near, np.float32(np.inf)), near)


def key(stream: np.random.Generator) -> jax.Array:
    """Return a jax key of 64 bits from the stream."""
    return jax.random.wrap_key_data(jnp.asarray(stream.integers(2**32, size=2, dtype=np.uint32)))
