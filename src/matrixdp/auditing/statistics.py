"""Statistics of a function's answers, by which runs on two neighbours are told apart.

They are fitted to pilot runs. Bets on thresholds of a statistic then hold whatever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import Array

#: Most entries of an answer for a linear discriminant; runs per entry for a quadratic one.
ENTRIES, RUNS_EACH = 300, 5

#: Entries of an answer that get statistics of their own, and whose repeats are counted.
SINGLE, REPEATED = 8, 50

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


#: Statistic of runs: (runs,).
Statistic = Callable[[Sample], Array]


def statistics(
    first: Sample,
    second: Sample,
    centres: Sequence[Array] | None = None,
    density: Callable[[Array], Array] | None = None,
) -> dict[str, Statistic]:
    """Return statistics by name, fitted to runs on two neighbours.

    Args:
        first, second: the runs.
        centres: answers without noise (d,), where they are computed; else medians.
        density: log likelihood ratio (k,) of answers (k, d) by what a class states of its noise. A
            false one costs power alone.
    """
    result: dict[str, Statistic] = {}
    failures = sorted({*first.failures, *second.failures} - {""})
    for words in failures[:SINGLE]:
        result[f"an event: {words}"] = _fails(words)
    if failures:
        result["whether an answer fails"] = lambda sample: (sample.failures != "").astype(float)
    sides = [sample.flat[sample.failures == ""] for sample in (first, second)]
    if min(map(len, sides)) < 2:
        return result
    middles = centres or [np.median(side, axis=0) for side in sides]
    numbers = _of_answers(sides, middles, first.answers.shape[1:])
    if density is not None:
        numbers["the stated density"] = density
    both = np.concatenate(sides)
    for name, statistic in numbers.items():
        result[name] = _where_answered(statistic, both)
    return result


def _fails(words: str) -> Statistic:
    return lambda sample: (sample.failures == words).astype(float)


def _where_answered(statistic: Callable[[Array], Array], pilots: Array) -> Statistic:
    values = statistic(pilots)
    least = values.min()
    step = ROUNDED * (values.max() - least) or 1.0

    def evaluate(sample: Sample) -> Array:
        values = least + step * np.round((statistic(sample.flat) - least) / step)
        return np.where(sample.failures == "", np.clip(values, FAILED / 10, None), FAILED)

    return evaluate


def of_centres(
    centres: Sequence[Array], shape: tuple[int, ...]
) -> dict[str, Callable[[Array], Array]]:
    """Return statistics of flat answers (k, d) by name, which need no runs.

    Args:
        centres: answers without noise (d,).
        shape: shape (r, c) of an answer. Of square ones, extreme eigenvalues of the differences
            show the support.
    """
    result: dict[str, Callable[[Array], Array]] = {
        "the projection on the change": _linear(centres[0] - centres[1]),
        "the norm": lambda y: np.linalg.norm(y, axis=1),
        "the largest entry": lambda y: y.max(axis=1),
        "the least entry": lambda y: y.min(axis=1),
    }
    for number, centre in enumerate(centres, 1):
        result[f"the distance from answer {number}"] = _distance(centre)
        if shape[0] == shape[1] > 1:
            for which, index in (("least", 0), ("largest", -1)):
                name = f"the {which} eigenvalue of the distance from answer {number}"
                result[name] = _eigenvalue(centre, index, shape)
    return result


def _of_answers(
    sides: Sequence[Array], centres: Sequence[Array], shape: tuple[int, ...]
) -> dict[str, Callable[[Array], Array]]:
    """Return statistics of flat answers (k, d)."""
    size = sides[0].shape[1]
    change = centres[0] - centres[1]
    result = of_centres(centres, shape)
    for number, centre in enumerate(centres, 1):
        result[f"the least distance of an entry from answer {number}"] = _nearest(centre)
    for order in (1, 2):
        # Likelihood ratios of noise whose density depends on such a norm.
        result[f"the difference of l{order} distances"] = _nearer(centres, order)
    ratios = [
        _likelihood(_entry(entry), *(side[:, entry] for side in sides))
        for entry in range(min(size, REPEATED))
    ]
    result["the likelihood of all entries"] = lambda y: np.sum([r(y) for r in ratios], axis=0)
    result |= discriminants(*sides)
    moved = np.abs(change) / (sides[0].std(axis=0) + sides[1].std(axis=0) + 1e-300)
    for entry in np.argsort(-moved, kind="stable")[: min(SINGLE, size)].tolist():
        result[f"entry {entry}"] = _entry(entry)
        for number, centre in enumerate(centres, 1):
            result[f"the distance of entry {entry} from answer {number}"] = _off(
                entry, float(centre[entry])
            )
        result[f"the likelihood of entry {entry}"] = _likelihood(
            _entry(entry), *(side[:, entry] for side in sides)
        )
    return result | _repeats(*sides)


def _linear(weights: Array) -> Callable[[Array], Array]:
    return lambda y: y @ weights


def _distance(centre: Array) -> Callable[[Array], Array]:
    return lambda y: np.linalg.norm(y - centre, axis=1)


def _nearer(centres: Sequence[Array], order: int) -> Callable[[Array], Array]:
    first, second = centres
    return lambda y: (
        np.linalg.norm(y - second, order, axis=1) - np.linalg.norm(y - first, order, axis=1)
    )


def _nearest(centre: Array) -> Callable[[Array], Array]:
    return lambda y: np.abs(y - centre).min(axis=1)


def _eigenvalue(centre: Array, index: int, shape: tuple[int, ...]) -> Callable[[Array], Array]:
    def eigenvalue(y: Array) -> Array:
        return np.asarray(np.linalg.eigvalsh((y - centre).reshape(-1, *shape))[:, index])

    return eigenvalue


def _entry(entry: int) -> Callable[[Array], Array]:
    return lambda y: y[:, entry]


def _off(entry: int, centre: float) -> Callable[[Array], Array]:
    return lambda y: np.abs(y[:, entry] - centre)


def _likelihood(
    number: Callable[[Array], Array], first: Array, second: Array
) -> Callable[[Array], Array]:
    """Return the log likelihood ratio of a number, by the counts of bins."""
    both = np.concatenate([first, second])
    edges = np.unique(np.quantile(both, np.linspace(0, 1, BINS + 1)[1:-1]))
    counts = [
        np.bincount(np.searchsorted(edges, side), minlength=len(edges) + 1) + 0.5
        for side in (first, second)
    ]
    ratio = np.log(counts[0] / counts[1])
    return lambda y: ratio[np.searchsorted(edges, number(y))]


def _repeats(first: Array, second: Array) -> dict[str, Callable[[Array], Array]]:
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

    def repeat(entry: int) -> Callable[[Array], Array]:
        one, other = values[entry]
        return lambda y: np.subtract(
            np.isin(y[:, entry], one), np.isin(y[:, entry], other), dtype=float
        )

    each = {f"exact repeats of entry {entry}": repeat(entry) for entry in entries}
    if len(entries) < 2:
        return each
    few = dict([*each.items()][:SINGLE])
    few["exact repeats"] = lambda y: np.sum([count(y) for count in each.values()], axis=0)
    return few


def discriminants(first: Array, second: Array) -> dict[str, Callable[[Array], Array]]:
    """Return statistics of answers (k, d) by name, fitted to runs (runs, d) on two neighbours."""
    count, size = first.shape
    means = first.mean(axis=0), second.mean(axis=0)
    shift, centre = means[0] - means[1], (means[0] + means[1]) / 2
    variances = [side.var(axis=0) for side in (first, second)]
    least = 1e-24 * max(float(np.abs(first).max()) ** 2, 1e-200)
    spread = int(np.argmax(np.abs(np.log((variances[0] + least) / (variances[1] + least)))))
    result: dict[str, Callable[[Array], Array]] = {
        "the shift of means": _linear(shift),
        "the entry whose spread differs most": _off(spread, float(centre[spread])),
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
    inverse = vectors / np.maximum(values, floor)
    result["a linear discriminant"] = _linear(inverse @ (vectors.T @ shift))
    if RUNS_EACH * size <= count:

        def quadratic(y: Array) -> Array:
            total = np.zeros(len(y))
            for sign, mean, covariance in zip((-1, 1), means, covariances, strict=True):
                values, vectors = np.linalg.eigh(covariance)
                scaled = (y - mean) @ vectors / np.sqrt(np.maximum(values, floor))
                total += sign * (scaled**2).sum(axis=1)
            return total

        result["a quadratic discriminant"] = quadratic
    return result
