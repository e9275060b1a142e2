"""Statistics of a function's answers, by which runs on two neighbours are told apart.

They are fitted to pilot runs. Bets on thresholds of a statistic then hold whatever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import Array

#: Most entries of an answer for a linear discriminant; runs per entry for a quadratic one.
ENTRIES, RUNS_EACH = 300, 5

#: Entries of an answer that get statistics of their own.
SINGLE = 8
#: Entries whose repeats are counted.
REPEATED = 50
#: Entries of a joint likelihood, from the first on.
JOINT = 50

#: Least share of repeats among pilot runs that counts.
REPEATS = 0.01

#: Bins of the likelihood ratio of a number, and the value of an answer that failed.
BINS, FAILED = 40, -1e300

#: Values closer than this share of their range are one: their last bits are of rounding errors,
#: which tell centres apart.
ROUNDED = 1e-9


class Sample(NamedTuple):
    """Runs of a function on one data set.

    Attributes:
        answers: (runs, r, c); zeros where there is none.
        failures: why there is none (runs,), in words; empty where there is one.
    """

    answers: Array
    failures: NDArray[np.str_]

    @property
    def flat(self) -> Array:
        """The answers (runs, d)."""
        return self.answers.reshape(len(self.answers), -1)


#: Name of the likelihood ratio of Gaussian noise.
PROJECTION = "the projection on the change"

#: Statistic of runs: (runs,).
Statistic = Callable[[Sample], Array]

#: Statistic of flat answers (k, d): (k,).
Number = Callable[[Array], Array]


def statistics(
    samples: Sequence[Sample], centres: Sequence[Array] | None = None
) -> dict[str, Statistic]:
    """Return statistics by name, fitted to runs on two neighbours.

    Args:
        samples: the runs on both.
        centres: answers without noise (d,), where they are computed; else medians.
    """
    result: dict[str, Statistic] = {}
    failures = sorted({words for sample in samples for words in sample.failures} - {""})
    for words in failures[:SINGLE]:
        result[f"an event: {words}"] = partial(_fails, words)
    if failures:
        result["whether an answer fails"] = lambda sample: (sample.failures != "").astype(float)
    sides = [sample.flat[sample.failures == ""] for sample in samples]
    if min(map(len, sides)) < 2:
        return result
    centres = centres or [np.median(side, axis=0) for side in sides]
    numbers = of_centres(centres, samples[0].answers.shape[1:])
    for number, centre in enumerate(centres, 1):
        name = f"the least distance of an entry from answer {number}"
        numbers[name] = partial(_distance, centre, -np.inf)
    for order in (1, 2):
        # Likelihood ratios of noise whose density depends on such a norm.
        numbers[f"the difference of l{order} distances"] = partial(_nearer, centres, order)
    numbers |= _of_entries(sides, centres)
    both = np.concatenate(sides)
    for name, statistic in numbers.items():
        result[name] = _statistic_of_answers(statistic, both)
    return result


def _fails(words: str, sample: Sample) -> Array:
    return (sample.failures == words).astype(float)


def _statistic_of_answers(statistic: Number, pilots: Array) -> Statistic:
    values = statistic(pilots)
    least = values.min()
    step = ROUNDED * (values.max() - least) or 1.0

    def evaluate(sample: Sample) -> Array:
        values = least + step * np.round((statistic(sample.flat) - least) / step)
        return np.where(sample.failures == "", np.clip(values, FAILED / 10, None), FAILED)

    return evaluate


def of_centres(centres: Sequence[Array], shape: tuple[int, ...]) -> dict[str, Number]:
    """Return statistics of flat answers by name, which need no runs.

    Args:
        centres: answers without noise (d,).
        shape: shape (r, c) of an answer. Of square ones, extreme eigenvalues of the differences
            show the support.
    """
    change = centres[0] - centres[1]
    result: dict[str, Number] = {
        PROJECTION: lambda y: y @ change,
        "the norm": lambda y: np.linalg.norm(y, axis=1),
        "the largest entry": lambda y: y.max(axis=1),
        "the least entry": lambda y: y.min(axis=1),
    }
    for number, centre in enumerate(centres, 1):
        result[f"the distance from answer {number}"] = partial(_distance, centre, 2)
        if shape[0] == shape[1] > 1:
            for which, index in (("least", 0), ("largest", -1)):
                name = f"the {which} eigenvalue of the distance from answer {number}"
                result[name] = partial(_eigenvalue, centre, shape, index)
    return result


def _eigenvalue(centre: Array, shape: tuple[int, ...], index: int, y: Array) -> Array:
    return np.asarray(np.linalg.eigvalsh((y - centre).reshape(-1, *shape))[:, index])


def _distance(centre: Array, order: float, y: Array) -> Array:
    return np.asarray(np.linalg.norm(y - centre, order, axis=1))


def _nearer(centres: Sequence[Array], order: int, y: Array) -> Array:
    return _distance(centres[1], order, y) - _distance(centres[0], order, y)


def _of_entries(sides: Sequence[Array], centres: Sequence[Array]) -> dict[str, Number]:
    """Return statistics of flat answers by name, fitted to those of both sides (runs, d)."""
    entries = sides[0].shape[1]
    ratios = [_likelihood(entry, sides) for entry in range(min(entries, JOINT))]
    which = "all" if entries <= JOINT else f"the first {JOINT}"
    result: dict[str, Number] = {
        f"the likelihood of {which} entries": lambda y: np.sum([r(y) for r in ratios], axis=0)
    }
    result |= _discriminants(*sides)
    change, spread = np.abs(centres[0] - centres[1]), sides[0].std(axis=0) + sides[1].std(axis=0)
    # Infinite where nothing hides a change.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        moved = np.where(change > 0, change / spread, 0.0)
    for entry in np.argsort(-moved, kind="stable")[:SINGLE].tolist():
        result[f"entry {entry}"] = partial(_entry, entry)
        for number, centre in enumerate(centres, 1):
            name = f"the distance of entry {entry} from answer {number}"
            result[name] = partial(_off, entry, centre[entry])
        ratio = ratios[entry] if entry < JOINT else _likelihood(entry, sides)
        result[f"the likelihood of entry {entry}"] = ratio
    return result | _repeats(*sides)


def _entry(entry: int, y: Array) -> Array:
    return y[:, entry]


def _off(entry: int, centre: float, y: Array) -> Array:
    return np.abs(y[:, entry] - centre)


def _likelihood(entry: int, sides: Sequence[Array]) -> Number:
    """Return the log likelihood ratio of an entry, by the counts of bins."""
    values = [side[:, entry] for side in sides]
    edges = np.unique(np.quantile(np.concatenate(values), np.linspace(0, 1, BINS + 1)[1:-1]))
    counts = [
        np.bincount(np.searchsorted(edges, side), minlength=len(edges) + 1) + 0.5 for side in values
    ]
    ratio = np.log(counts[0] / counts[1])
    return lambda y: ratio[np.searchsorted(edges, y[:, entry])]


def _repeats(first: Array, second: Array) -> dict[str, Number]:
    """Return how many entries repeat a value of the first side, less those of the second.

    Continuous noise repeats nothing. A part of an answer without noise does, and so does noise on a
    grid, or with atoms.
    """
    values = [
        [np.unique(side[:, entry]) for side in (first, second)] for entry in range(first.shape[1])
    ]
    shares = np.array(
        [max(1 - len(one) / len(first), 1 - len(other) / len(second)) for one, other in values]
    )
    entries = [int(e) for e in np.argsort(-shares, kind="stable")[:REPEATED] if shares[e] > REPEATS]

    def repeats(entry: int, y: Array) -> Array:
        one, other = (np.isin(y[:, entry], side) for side in values[entry])
        return np.subtract(one, other, dtype=float)

    result: dict[str, Number] = {
        f"exact repeats of entry {entry}": partial(repeats, entry) for entry in entries[:SINGLE]
    }
    if len(entries) > 1:
        result["exact repeats"] = lambda y: np.sum([repeats(e, y) for e in entries], axis=0)
    return result


def _discriminants(first: Array, second: Array) -> dict[str, Number]:
    """Return statistics of answers (k, d) by name, fitted to runs (runs, d) on two neighbours."""
    count, size = first.shape
    means = first.mean(axis=0), second.mean(axis=0)
    shift, centre = means[0] - means[1], (means[0] + means[1]) / 2
    variances = [side.var(axis=0) for side in (first, second)]
    least = 1e-24 * max(float(np.abs(first).max()) ** 2, 1e-200)
    spread = int(np.argmax(np.abs(np.log((variances[0] + least) / (variances[1] + least)))))
    result: dict[str, Number] = {
        "the shift of means": lambda y: y @ shift,
        "the entry whose spread differs most": partial(_off, spread, centre[spread]),
    }
    if size > ENTRIES:
        return result
    moments = [side.T @ side / len(side) for side in (first, second)]
    # A direction has no sign, and its mean shows nothing.
    result["the shift of second moments"] = lambda y: np.einsum(
        "ki,ij,kj->k", *(y, moments[0] - moments[1], y)
    )
    covariances = [np.atleast_2d(np.cov(side.T)) for side in (first, second)]
    values, vectors = np.linalg.eigh(sum(covariances) / 2)
    floor = max(values[-1], least) * 1e-9 + (
        values.mean() * size / count if size > count / 5 else 0
    )
    weights = vectors / np.maximum(values, floor) @ (vectors.T @ shift)
    result["a linear discriminant"] = lambda y: y @ weights
    if RUNS_EACH * size <= count:
        axes = [np.linalg.eigh(covariance) for covariance in covariances]

        def size_of(y: Array, side: int) -> Array:
            values, vectors = axes[side]
            scaled = (y - means[side]) @ vectors / np.sqrt(np.maximum(values, floor))
            return np.asarray((scaled**2).sum(axis=1))

        result["a quadratic discriminant"] = lambda y: size_of(y, 1) - size_of(y, 0)
    return result
