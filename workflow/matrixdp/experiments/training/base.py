"""One job of a neural experiment: training under one scheme, all epsilons and trials.

Trial t has the same training examples in every step and the same initial weights whatever the
scheme and epsilon, so that differences are paired; its noise has a stream of its own.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.experiments import schemes
from matrixdp.experiments.readings import DEFAULT
from matrixdp.experiments.schemes.base import Noise, Plan, Scheme
from matrixdp.experiments.training.examples import Arrays, Data, classes, limited
from matrixdp.mechanisms.base import NoGuarantee
from matrixdp.seeds import streams
from matrixdp.trials import COLUMNS

REFERENCES = ("nonprivate", "random")


@dataclass(frozen=True)
class Settings:
    """What config.yaml says of one experiment, beside its :class:`Training`.

    Attributes:
        experiment: its name.
        seed: root seed.
        trials: trials per row; trial numbers start at 0.
        epsilons: canonical tokens, e.g. ``"0.1"``; they name the noise streams.
        delta: the nominal delta.
    """

    experiment: str
    seed: int
    trials: int
    epsilons: tuple[str, ...]
    delta: float


#: Trains once and returns the test accuracy by reading of the paper. It takes the noise, None for
#: training without privacy, and the key of the noise.
Score = Callable[[Noise | None, jax.Array], Mapping[str, float]]


class Instance(abc.ABC):
    """A training set up for its records.

    Attributes:
        plan: what is released, for a scheme to calibrate its noise.
        labels, test_labels: classes from 0.
        released_once: whether ``plan.mu`` is that of the whole training.
    """

    plan: Plan
    released_once: ClassVar[bool]
    labels: NDArray
    test_labels: NDArray

    @abc.abstractmethod
    def trial(self, stream: np.random.Generator) -> Score:
        """Return a trial, whose examples and initial weights come from ``stream``."""


@dataclass(frozen=True, kw_only=True)
class Training(abc.ABC):
    """How a neural experiment trains.

    Attributes:
        kind: which schemes serve it, ``gradients`` or ``features``.
        lot: records that a step expects (gradients) or takes (features).
        epochs: passes over the training records.
        records: at most so many training records, drawn at random; None for all.

    Raises:
        InputError: a number is not a whole number of at least 1.
    """

    kind: ClassVar[str]
    lot: int
    epochs: int
    records: int | None = None

    def __post_init__(self) -> None:
        checks.count(lot=self.lot)
        checks.count(epochs=self.epochs)
        if self.records is not None:
            checks.count(records=self.records)

    @abc.abstractmethod
    def instance(self, arrays: Arrays) -> Instance:
        """Return the training set up for these arrays."""


def run(training: Training, scheme: str, data: Data, settings: Settings) -> pd.DataFrame:
    """Return the tidy trial rows of one scheme, or of a reference row.

    ``nonprivate`` trains in the same way, on the same examples, without clipping and noise;
    ``random`` guesses each test label. A budget without a guarantee, or with noise that float32
    cannot hold, is one row whose ``note`` says so.

    Raises:
        InputError: a setting or the scheme's name is not valid, the lot is larger than the data,
            all labels are of one class, or training without privacy diverges.
    """
    checks.count(trials=settings.trials)
    known = schemes.registry(training.kind)
    checks.choice([*REFERENCES, *known], scheme=scheme)
    words = settings.seed, "split", settings.experiment
    (choosing,) = streams(*words, "records", trials=[0])
    instance = training.instance(limited(data.arrays, training.records, choosing, "train"))
    count = classes(instance.labels, data.name)
    if scheme == "random":
        guessers = streams(*_noise_words(scheme, "", settings), trials=range(settings.trials))
        guesses = (g.integers(count, size=len(instance.test_labels)) for g in guessers)
        values = [np.mean(guess == instance.test_labels) for guess in guesses]
        parts = [_rows({}, [{DEFAULT: value} for value in values])]
    elif scheme == "nonprivate":
        scores = _scores(instance, scheme, {"": None}, settings)[""]
        if not _finite(scores):
            raise InputError(
                f"{settings.experiment} without privacy has no finite outputs, as its training "
                f"diverges; check the data in {data.name}"
            )
        parts = [_rows({}, scores)]
    else:
        parts = list(_scheme_rows(instance, known[scheme], scheme, settings))
    table = pd.concat(parts, ignore_index=True).assign(
        experiment=settings.experiment,
        dataset=data.name,
        data_status=data.status,
        mechanism=scheme,
        phase="report",
        metric="accuracy",
    )
    return table.reindex(columns=list(COLUMNS))


def _rows(columns: Mapping[str, Any], scores: Sequence[Mapping[str, float]]) -> pd.DataFrame:
    """Return one row per trial and reading."""
    rows = pd.DataFrame(scores).rename_axis("trial").reset_index()
    return rows.melt("trial", var_name="reading", value_name="value").assign(**columns)


def _finite(scores: Sequence[Mapping[str, float]]) -> bool:
    return all(np.isfinite(value) for score in scores for value in score.values())


def _scheme_rows(
    instance: Instance, scheme: Scheme, name: str, settings: Settings
) -> Iterator[pd.DataFrame]:
    noises, notes = {}, {}
    for token in settings.epsilons:
        try:
            noises[token] = scheme.calibrate(
                instance.plan, epsilon=float(token), delta=settings.delta
            )
        except NoGuarantee as reason:
            notes[token] = f"no guarantee: {reason}"
    scores = _scores(instance, name, noises, settings)
    for token, found in scores.items():
        if not _finite(found):
            notes[token] = f"skipped: noise of {noises[token].noise_std:.2g} overflows float32"
    for token in settings.epsilons:
        columns = {"epsilon": token, "delta": settings.delta}
        if token in notes:
            yield pd.DataFrame([{**columns, "reading": DEFAULT, "note": notes[token]}])
            continue
        noise = noises[token]
        columns |= {"epsilon_actual": noise.epsilon_actual, "noise_std": noise.noise_std}
        if instance.released_once:
            columns |= {"mu_actual": noise.mu, "mu_exact": True}
        yield _rows(columns, scores[token])


def _scores(
    instance: Instance, name: str, noises: Mapping[str, Noise | None], settings: Settings
) -> dict[str, list[Mapping[str, float]]]:
    """Return the accuracies of all trials, each by reading, by the token of epsilon."""
    scores: dict[str, list[Mapping[str, float]]] = {token: [] for token in noises}
    trials = range(settings.trials)
    splits = streams(settings.seed, "split", settings.experiment, "report", trials=trials)
    with tqdm(total=len(trials) * len(noises), desc=name, leave=False, disable=None) as bar:
        for trial, split in zip(trials, splits, strict=True):
            score = instance.trial(split)
            for token, noise in noises.items():
                (stream,) = streams(*_noise_words(name, token, settings), trials=[trial])
                scores[token].append(score(noise, key(stream)))
                bar.update()
    return scores


def _noise_words(name: str, token: str, settings: Settings) -> tuple:
    return settings.seed, "noise", settings.experiment, name, token, "report"


def at_least(deviation: ArrayLike) -> NDArray:
    """Return standard deviations in float32, rounded up: less noise would be less private."""
    exact = np.asarray(deviation, np.float64)
    with np.errstate(over="ignore"):
        near = exact.astype(np.float32)
    return np.where(near < exact, np.nextafter(near, np.float32(np.inf)), near)


def key(stream: np.random.Generator) -> jax.Array:
    """Return a jax key of 64 bits from the stream."""
    return jax.random.wrap_key_data(jnp.asarray(stream.integers(2**32, size=2, dtype=np.uint32)))
