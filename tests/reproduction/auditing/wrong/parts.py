"""Releases in parts, of which one has no noise, too little, or that of another part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from wrong.base import Case, alternating, event, projection, unlike

from matrixdp.checks import Array
from matrixdp.mechanisms.centred import Centred, CentredMoments
from matrixdp.mechanisms.clipped import PrivatelyClipped, PrivatelyClippedMoments, Selection, shells
from matrixdp.mechanisms.mechanism import Budget, CalibratedMechanism, Mechanism
from matrixdp.mechanisms.programs import Ask, Records
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import Query
from reproduction.mechanisms.adassp import AdaSSP, NormalEquations, RidgedEquations


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


def sides(honest: Mechanism, kind: Callable[..., CalibratedMechanism]) -> tuple[Any, Any]:
    """Return a mechanism with releases of another class, and itself."""
    return Instead(honest, kind), honest


def exact(kind: type, name: str, step: str = "run") -> type[Any]:
    """Return a class of releases of which a step gets the exact value of a part."""

    def replaced(self: Any, records: Records, ask: Ask) -> Any:
        def quiet(part: Any, value: Array) -> Array:
            noisy = ask(part, value)
            return value + 0 * noisy if part is getattr(self, name) else noisy

        return getattr(super(result, self), step)(records, quiet)

    result = type("Exact", (kind,), {step: replaced})
    return result


def products(query: NormalEquations) -> tuple[Any, Any]:
    """Return the places of the products of x and y."""
    return np.array(query.others), query.target


class ExactProducts(RidgedEquations):
    def _draw(self, value: Array, generator: np.random.Generator, count: int) -> Array:
        released, (x, y) = super()._draw(value, generator, count), products(self.query)
        released[:, x, y] = released[:, y, x] = value[..., x, y]
        return released


class SharedNoise(RidgedEquations):
    """The products of x and y reuse the noise above the diagonal of the moments of x."""

    def _draw(self, value: Array, generator: np.random.Generator, count: int) -> Array:
        released, (x, y) = super()._draw(value, generator, count), products(self.query)
        rows, columns = np.triu_indices(len(x), 1)
        noise = (released - value)[:, x[rows], x[columns]] / self.design.noise_std
        released[:, x, y] = released[:, y, x] = value[..., x, y] + self.target_std * noise
        return released


class ExactSquare(CentredMoments):
    """Second moments about the noisy mean; the square of the exact one is added back."""

    def run(self, records: Records, ask: Ask) -> Selection:
        outcome = super().run(records, ask)
        centre = records.value(self.mean.query)[:, 0]
        # Without a ridge, which does not hide anything.
        return outcome._replace(centre=centre, ridge=0.0)


class HalfNoise(PrivatelyClippedMoments):
    """Moments at every radius get half of their noise."""

    def release_at(self, number: int) -> CalibratedMechanism:
        honest = self.candidates[number]
        assert isinstance(honest.noise, Noise)
        return replace(honest, noise=honest.noise.times(0.5))


def three_budgets(query: Any, epsilon: float, delta: float) -> CalibratedMechanism:
    """Return AdaSSP whose three parts spend the mu that it declares for all of them."""
    mu = float(gaussian_dp.mu(epsilon, delta))
    release = AdaSSP().spending(query, np.sqrt(3) * mu, Budget(epsilon, delta))
    return replace(release, mu=mu, epsilon_delivered=float(gaussian_dp.epsilon(delta, mu)))


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


def number_of(release: PrivatelyClippedMoments, data: Array) -> int:
    """Return the number of the radius that the exact histogram selects."""
    counts = shells(data, release.query.domain.radius, len(release.candidates))
    return int(release.best(counts))


def at_the_switch(release: PrivatelyClippedMoments) -> tuple[Array, Array]:
    """Return neighbours whose exact histograms select different radii."""
    for count in range(1, release.query.n_records):
        data = np.full(release.query.shape, 0.05)
        data[:, :count] = 1.0
        other = data.copy()
        other[:, 0] = 0.05
        if number_of(release, data) != number_of(release, other):
            return data, other
    raise ValueError("no neighbours select different radii")


def by_noise(release: PrivatelyClippedMoments, case: Case) -> float:
    """Bound epsilon by the size of the noise, which shows the radius that was chosen."""
    numbers = [number_of(release, side) for side in at_the_switch(release)]
    stds = [release.candidates[number].noise.size[0, 1] for number in numbers]
    limit = float(np.sqrt(stds[0] * stds[1]))

    def sees(y: Array, a: Array, b: Array) -> Array:
        return y[:, *np.triu_indices(y.shape[1], 1)].std(axis=1) > limit

    return event(sees, at_the_switch, runs=2000)(release, case)


def product_against_moment(release: RidgedEquations) -> Array:
    """Return weights of a product of x and y minus the moment whose noise it may share."""
    weight = np.zeros(release.query.shape)
    weight[0, 3], weight[0, 1] = 1 / release.target_std, -1 / release.design.noise_std
    return weight


TILTED = unlike(1.0, lambda m: np.array([1.0, 1.0, -1.0, -1.0]))
EQUAL = unlike(1.0, lambda m: np.array([1.0, -1.0, -1.0, -1.0]))
FAR = projection(pair=unlike(1.0, -1.0, rest=1.0), runs=4000)
MOVES = "the square of the mean moves far more than the noise for a small radius hides"

CASES = (
    Case(
        "AdaSSP: exact eigenvalue",
        "equations of 6",
        sides(AdaSSP(), exact(RidgedEquations, "smallest")),
        projection(pair=along_ones, runs=4000),
        # Replays show that a part has another noise, and not that it has less.
        refutable=False,
        reason="a record that alone adds to the smallest eigenvalue moves the moments and ridge",
    ),
    Case(
        "AdaSSP: shared noise",
        "equations",
        sides(AdaSSP(), SharedNoise),
        projection(product_against_moment, EQUAL, runs=4000),
        reason="a product minus the moment of the same noise is exact",
    ),
    Case(
        "AdaSSP: exact products",
        "equations",
        sides(AdaSSP(), ExactProducts),
        projection(pair=EQUAL, runs=4000),
        reason="the last column but its end is exact",
    ),
    Case(
        "AdaSSP: whole budget for each part",
        "equations",
        (three_budgets, AdaSSP()),
        projection(pair=TILTED, runs=4000),
        reason="moments and products together attain more than the declared mu",
    ),
    Case(
        "centred: exact centre",
        "moments",
        sides(Centred(2**-12), exact(ExactSquare, "mean")),
        FAR,
        reason=MOVES,
    ),
    Case(
        "centred: exact square", "moments", sides(Centred(2**-12), ExactSquare), FAR, reason=MOVES
    ),
    Case(
        "clipped: exact shells",
        "moments",
        sides(PrivatelyClipped(), exact(PrivatelyClippedMoments, "lengths", "choose")),
        by_noise,
        # Replays show that a part has another noise, and not that it has less.
        refutable=False,
        reason="one record decides the radius, which the size of the noise shows",
    ),
    Case(
        "clipped: half the noise",
        "moments",
        sides(PrivatelyClipped(), HalfNoise),
        projection(pair=unlike(1.0, alternating), runs=4000),
        reason="mu of the moments is twice the declared one",
    ),
)
