"""Releases in parts, of which one has no noise, too little, or that of another part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from wrong.base import Case, case
from wrong.evidence import event, projection, unlike

from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveGaussian, Budget, CalibratedMechanism, Mechanism
from matrixdp.mechanisms.centred import Centred, CentredMoments
from matrixdp.mechanisms.clipped import ChosenByHistogram, PrivatelyClipped, Selection, shells
from matrixdp.mechanisms.programs import Ask, Records
from matrixdp.noise.distributions import Streams, SymmetricNormal
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Query
from reproduction.mechanisms.adassp import AdaSSP, Equations, RidgedEquations


@dataclass(frozen=True)
class Instead(Mechanism):
    """A mechanism whose releases are of a subclass, with the same numbers."""

    honest: Mechanism
    kind: Callable[..., CalibratedMechanism]

    @property
    def queries(self) -> frozenset[type[Query]]:
        """Those of the honest mechanism."""
        return self.honest.queries

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> CalibratedMechanism:
        """Return the release of the subclass."""
        release = self.honest.calibrate(query, epsilon=epsilon, delta=delta)
        return self.kind(**{f.name: getattr(release, f.name) for f in fields(release)})


class ExactEigenvalue(RidgedEquations):
    def run(self, records: Records, ask: Ask) -> Equations:
        def quiet(part: Any, value: Array) -> Array:
            noisy = ask(part, value)
            return value + 0 * noisy if part is self.smallest else noisy

        return super().run(records, quiet)


class SharedNoise(RidgedEquations):
    """The products of x and y reuse the noise above the diagonal of the moments of x."""

    def _draw(self, value: Array, streams: Streams) -> Array:
        released = super()._draw(value, streams)
        x, y = np.array(self.query.others), self.query.target
        above = np.triu_indices(len(x), 1)
        noise = (released - value)[:, x[above[0]], x[above[1]]] / self.design.noise_std
        cross = value[..., x, y] + self.target_std * noise
        released[:, x, y] = released[:, y, x] = cross
        return released


class ExactProducts(RidgedEquations):
    def _draw(self, value: Array, streams: Streams) -> Array:
        released = super()._draw(value, streams)
        x, y = np.array(self.query.others), self.query.target
        released[:, x, y] = released[:, y, x] = value[..., x, y]
        return released


class ExactSquare(CentredMoments):
    """Second moments about the noisy mean; the square of the exact one is added back."""

    def run(self, records: Records, ask: Ask) -> Selection:
        outcome = super().run(records, self._quiet(ask))
        exact = records.value(self.mean.query)[..., 0] + 0 * outcome.centre
        # Without a ridge, which does not hide anything.
        return outcome._replace(centre=exact, ridge=0 * outcome.ridge)

    def _quiet(self, ask: Ask) -> Ask:
        return ask


class ExactCentre(ExactSquare):
    """Second moments about the exact mean, whose square is added back."""

    def _quiet(self, ask: Ask) -> Ask:
        def quiet(part: Any, value: Array) -> Array:
            noisy = ask(part, value)
            return value + 0 * noisy if part is self.mean else noisy

        return quiet


class ExactShells(ChosenByHistogram):
    def choose(self, records: Records, ask: Ask) -> tuple[Array, Array]:
        def quiet(part: Any, value: Array) -> Array:
            return value + 0 * ask(part, value)

        return super().choose(records, quiet)


class HalfNoise(ChosenByHistogram):
    """Moments at every radius get half of their noise."""

    def release_at(self, number: int) -> tuple[AdditiveGaussian, CalibratedMechanism]:
        whole = self.candidates[number]
        assert isinstance(whole.noise, SymmetricNormal)
        stds = whole.noise.diagonal_std / 2, whole.noise.off_diagonal_std / 2
        return whole, replace(whole, noise=SymmetricNormal(whole.noise.shape, *stds))


@dataclass(frozen=True)
class WholeEach(Mechanism):
    """AdaSSP whose three parts spend the whole of mu each."""

    queries = AdaSSP.queries

    def calibrate(self, query: Any, *, epsilon: float, delta: float) -> CalibratedMechanism:
        """Return the release, which declares the mu of one part."""
        mu = float(gaussian.mu(epsilon, delta))
        release = AdaSSP().spending(query, np.sqrt(3) * mu, Budget(epsilon, delta))
        return replace(release, mu=mu, epsilon_delivered=float(gaussian.epsilon(delta, mu)))


def along_ones(release: CalibratedMechanism) -> tuple[Array, Array]:
    """Return records of which one adds to the smallest eigenvalue of x alone."""
    features, count = release.query.features - 1, release.query.n_records
    patterns = np.array([[1, -1, 1, -1, 0], [1, 1, -1, -1, 0], [1, -1, 0, 1, -1]])
    patterns = np.concatenate([np.roll(patterns, k, axis=1) for k in range(features)])
    data = np.zeros((features + 1, count))
    data[:features] = patterns[np.arange(count) % len(patterns)].T
    data[:features, :16] = 1.0
    other = data.copy()
    other[:, 0] = 0.0
    return data, other


def number_of(release: ChosenByHistogram, data: Array) -> int:
    """Return the number of the radius that the exact histogram selects."""
    counts = shells(data, release.query.domain.radius, len(release.candidates))
    return int(release.best(counts))


def at_the_switch(release: CalibratedMechanism) -> tuple[Array, Array]:
    """Return neighbours whose exact histograms select different radii."""
    query = release.query
    long = np.ones((query.features, 1))
    for count in range(1, query.n_records):
        data = np.full(query.shape, 0.05)
        data[:, :count] = long
        other = data.copy()
        other[:, 0] = 0.05
        if number_of(release, data) != number_of(release, other):
            return data, other
    raise ValueError("no neighbours select different radii")


def by_noise(release: CalibratedMechanism, wrong_case: Case) -> float:
    """Bound epsilon by the size of the noise, which shows the radius that was chosen."""
    numbers = [number_of(release, side) for side in at_the_switch(release)]
    stds = [release.candidates[number].noise.off_diagonal_std for number in numbers]
    limit = float(np.sqrt(stds[0] * stds[1]))

    def sees(y: Array, a: Array, b: Array) -> Array:
        return y[:, *np.triu_indices(y.shape[1], 1)].std(axis=1) > limit

    return event(sees, at_the_switch, runs=2000)(release, wrong_case)


def product_against_moment(release: CalibratedMechanism) -> Array:
    """Return weights of a product of x and y minus the moment whose noise it may share."""
    weight = np.zeros(release.query.shape)
    weight[0, 3], weight[0, 1] = 1 / release.target_std, -1 / release.design.noise_std
    return weight


TILTED = unlike(1.0, lambda m: np.array([1.0, 1.0, -1.0, -1.0]))
EQUAL = unlike(1.0, lambda m: np.array([1.0, -1.0, -1.0, -1.0]))

CASES = (
    case(
        "AdaSSP: exact eigenvalue",
        "The ridge follows from the exact smallest eigenvalue.",
        "equations of 6",
        (Instead(AdaSSP(), ExactEigenvalue), AdaSSP()),
        "a record that alone adds to the smallest eigenvalue moves the moments and the ridge",
        projection(pair=along_ones, runs=4000),
        # Replays show that a part has another noise, and not that it has less.
        goal="declared",
    ),
    case(
        "AdaSSP: shared noise",
        "The products of x and y have the noise of the moments of x.",
        "equations",
        (Instead(AdaSSP(), SharedNoise), AdaSSP()),
        "exact entry: a product minus the moment of the same noise",
        projection(product_against_moment, EQUAL, runs=4000),
    ),
    case(
        "AdaSSP: exact products",
        "The products of x and y have no noise.",
        "equations",
        (Instead(AdaSSP(), ExactProducts), AdaSSP()),
        "exact entry: the last column but its end",
        projection(pair=EQUAL, runs=4000),
    ),
    case(
        "AdaSSP: whole budget for each part",
        "All three parts spend the mu that is declared for them together.",
        "equations",
        (WholeEach(), AdaSSP()),
        "moments and products together attain more than the declared mu",
        projection(pair=TILTED, runs=4000),
    ),
    case(
        "centred: exact centre",
        "Second moments about the exact mean, whose square is added to them.",
        "moments",
        (Instead(Centred(2**-12), ExactCentre), Centred(2**-12)),
        "the square of the mean moves far more than the noise for a small radius hides",
        projection(pair=unlike(1.0, -1.0, rest=1.0), runs=4000),
    ),
    case(
        "centred: exact square",
        "The exact mean's square is added to second moments about a noisy mean.",
        "moments",
        (Instead(Centred(2**-12), ExactSquare), Centred(2**-12)),
        "the square of the mean moves far more than the noise for a small radius hides",
        projection(pair=unlike(1.0, -1.0, rest=1.0), runs=4000),
    ),
    case(
        "clipped: exact shells",
        "The radius is chosen by the exact histogram of norms.",
        "moments",
        (Instead(PrivatelyClipped(), ExactShells), PrivatelyClipped()),
        "one record decides the radius, which the size of the noise shows",
        by_noise,
        # Replays show that a part has another noise, and not that it has less.
        goal="declared",
    ),
    case(
        "clipped: half the noise",
        "Moments at the chosen radius get half of the noise that is declared for it.",
        "moments",
        (Instead(PrivatelyClipped(), HalfNoise), PrivatelyClipped()),
        "mu of the moments is twice the declared one",
        projection(pair=unlike(1.0, lambda m: (-1.0) ** np.arange(m)), runs=4000),
    ),
)
