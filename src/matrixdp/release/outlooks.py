"""What noise takes from an answer, simulated from public facts alone, to compare mechanisms.

The simulated records fill a share of their bounds, one of ``FILLS``. Each column is uniform over an
interval of that share of its bounds. The interval lies half way between the middle of the bounds
and their lower end, as it often does where bounds are wide. Any two columns have a correlation of
about ``CORRELATION``, through one common factor. The target of a regression is a sum of the others
and of a part of its own, and ``EXPLAINED`` is about the R^2 of its exact regression.

A loss says what noise, clipping and ridges take: for a regression R^2, for components the share of
the first one's variance, for a covariance or second moments the Frobenius norm of the error over
that of the exact matrix. Units are half ranges. Losses are medians over simulated releases by the
program that real releases run, with noise of the same calibration and a fixed seed. They are
rounded to a hundredth, about the error of the simulation.

Who does not know how much of the bounds the records fill takes the mechanism of the least typical
loss: the geometric mean over the fills, where ``FLOOR`` is the least that counts. A factor of the
noise is what a factor of epsilon or of the records buys, whatever the answer, and a geometric mean
weighs factors alike; in another mean the loss at the smallest fill would decide alone.
benchmarks/recommend_rule.py compares the rule with others, on records that had no part in it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from matrixdp.checks import Array
from matrixdp.mechanisms.clipped import ShellQuery
from matrixdp.mechanisms.in_parts import ComposedMoments, Outcome
from matrixdp.mechanisms.moments import with_constant
from matrixdp.mechanisms.programs import Columns, drawing
from matrixdp.mechanisms.release import Release
from matrixdp.privacy.sensitivity import Query
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import CORRELATION, EXPLAINED, FILLS, Output
from matrixdp.release.uncertainty import MomentNoise

#: Loss below which all are alike, about the error of simulated medians.
FLOOR = 0.02
#: Factor of the least typical loss up to which the first mechanism is taken.
TIE = 1.1
#: Largest number of columns that are simulated.
MOST_COLUMNS = 100

#: Numbers of simulated releases, at most and at least, and of records; the seed. Limits on the
#: numbers that are held in memory at once, and on releases x m^3 operations.
_DRAWS, _LEAST_DRAWS, _RECORDS, _SEED, _ENTRIES, _WORK = 100, 8, 500, 0, 1 << 21, 1 << 23


@dataclass(frozen=True)
class _Sample(Columns):
    """Records (m, k), each of which stands for ``times`` records in sums and counts."""

    times: float = field(kw_only=True)

    def value(self, query: Query) -> Array:
        """Return the value of a query, shape (m, n)."""
        summed = query.add_or_remove or isinstance(query, ShellQuery)
        return super().value(query) * (self.times if summed else 1.0)

    def about(self, centre: Array) -> _Sample:
        """Return the records minus a centre (m,)."""
        return _Sample(self.columns - centre[:, None], times=self.times)


@functools.lru_cache(maxsize=16)
def _columns(features: int, target: bool) -> Array:
    """Return records (k, features) that fill [-1, 1]; with a target, the others explain the last.

    They are ranks of normal columns with a common factor.
    """
    stream, count = np.random.default_rng(_SEED), max(_RECORDS, 2 * features)
    common, specific = stream.standard_normal((count, 1)), stream.standard_normal((count, features))
    latent = np.sqrt(CORRELATION) * common + np.sqrt(1 - CORRELATION) * specific
    if target:
        signal = latent[:, :-1].sum(axis=1)
        latent[:, -1] = np.sqrt(EXPLAINED) * signal / signal.std()
        latent[:, -1] += np.sqrt(1 - EXPLAINED) * specific[:, -1]
    return 2 * np.asarray(ndtr(latent)) - 1


def losses(output: Output, release: Release) -> tuple[float, ...]:
    """Return the loss of a release at each of ``FILLS``, to a hundredth and at least 0.

    Args:
        output: what is read from the release, with the query of its mechanism.
        release: calibrated mechanism; a box bounds the records of its query.
    """
    box, result = output.box, []
    uniform, half = _columns(box.features, output.has_target), box.widths / 2
    for share in FILLS:
        rows = box.middle + half * (share * uniform - (1 - share) / 2)
        records = (rows - output.middle) / output.half
        answers = [*simulated_answers(output, release, records)]
        result.append(max(0.0, round(output.loss(rows, np.array(answers)), 2)))
    return tuple(result)


def typical(loss: Sequence[float]) -> float:
    """Return the typical loss of a mechanism, to a thousandth, from its losses (fills,)."""
    return round(float(np.exp(np.mean(np.log(np.maximum(loss, FLOOR))))), 3)


def order(loss: Sequence[float]) -> list[int]:
    """Return the places of mechanisms, the one that is taken first, from typical losses (k,).

    Of those up to ``TIE`` times the least it is the first: additive noise, which has intervals, and
    less of it.
    """
    close = np.asarray(loss) <= TIE * min(loss)
    return np.argsort(np.where(close, 0.0, loss), kind="stable").tolist()


def simulated_answers(
    output: Output,
    release: Release,
    records: Array,
    most: int = _DRAWS,
) -> Iterator[Array]:
    """Yield the answers of simulated releases, as many as time and memory allow.

    Args:
        output: what is read from the release, with the query of its mechanism.
        release: calibrated mechanism.
        records: in half ranges around their middle (k, m), of which each stands for as many of the
            query.
        most: the largest number of releases.
    """
    draws = min(_ENTRIES // records.size, _WORK // records.shape[1] ** 3)
    draws = int(np.clip(draws, _LEAST_DRAWS, most))
    for noisy in _simulate(output, release, records, draws):
        yield output.answer(noisy)


def _simulate(output: Output, release: Release, records: Array, draws: int) -> Iterator[Noisy]:
    """Yield what simulated releases give."""
    stream = np.random.default_rng(_SEED)
    if output.constant:
        records = with_constant(records)
    if isinstance(release, ComposedMoments):
        sample = _Sample(records.T, times=release.query.n_records / len(records))
        ask, centre_std = drawing(stream), release.centre_std
        for _ in range(draws):
            chosen = release.program.run(sample, ask)
            part = release.radii[chosen.number]
            of_part = chosen.moments, part.noise_std, part.query.domain.radius
            outcome = Outcome(*of_part, chosen.centre, centre_std, chosen.weight)
            yield Noisy.of_parts(output, release, outcome)
        return
    exact, noise = records.T @ records / len(records), MomentNoise(release.widest)
    for drawn in release.widest.noise.sample(stream, draws):
        yield output.noisy(noise, exact + drawn)
