"""The Johnson-Lindenstrauss mechanism.

Blocki, Blum, Datta & Sheffet (FOCS 2012) publish random Gaussian combinations of the records. First
they lift every singular value s of the data matrix to sqrt(s^2 + w^2). The distribution of such a
sketch depends on the data only through the second moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.mechanism import CalibratedMechanism, Mechanism, NoGuarantee
from matrixdp.privacy.sensitivity import Query, RecordsQuery, SecondMomentQuery
from reproduction.mechanisms.base import MechanismEntry
from reproduction.privacy import sketching
from reproduction.stacks import Streams, normals, wishart_factors


@dataclass(frozen=True, kw_only=True)
class Sketch(CalibratedMechanism):
    """r pseudo-records Y = C N / sqrt(r), with C C^T = X X^T + w^2 I and N standard normal, m x r.

    E[Y Y^T] = X X^T + w^2 I. The columns of Y are distributed as r Gaussian combinations of the
    lifted records. They cost an m x m Cholesky factor instead of an n x r product. ``ridge`` is
    w^2.
    """

    ridge: float
    sketch_size: int
    output_type = "sketch"
    stream = "Sketch"

    def trials(self, value: Array, streams: Streams) -> Array:
        """Return one sketch per stream."""
        noise = normals(streams, (self.query.features, self.sketch_size))
        return np.asarray(self._factor(value) @ noise)

    def gram_factors(self, value: Array, streams: Streams) -> Array:
        """Return one matrix Y per stream, m x m, whose Y Y^T have the law of sketches'."""
        factors = wishart_factors(streams, self.query.features, self.sketch_size)
        return np.asarray(self._factor(value) @ factors)

    def _factor(self, value: Array) -> Array:
        """Return C / sqrt(r) of second moments."""
        moments = self.query.n_records * value
        smallest = float(np.linalg.eigvalsh(moments).min())
        # The lift hides a record only where it comes on top of something positive semidefinite.
        if smallest < -1e-6 * self.ridge:
            raise InputError(
                f"value has the eigenvalue {smallest / self.query.n_records:.3g}; second moments "
                "X X^T / n must be positive semidefinite"
            )
        factor = np.linalg.cholesky(moments + self.ridge * np.eye(self.query.features))
        return np.asarray(factor / np.sqrt(self.sketch_size))

    def _draw(self, value: Array, generator: np.random.Generator, count: int) -> Array:
        return self.trials(value, [generator] * count)


@dataclass(frozen=True)
class JohnsonLindenstrauss(Mechanism):
    """The JL mechanism for second moments: a Gaussian sketch of lifted records.

    Args:
        sketch_multiple: rows r of the sketch as a multiple of the number m of features, at least 1,
            so that the sketch can have full rank. r = sketch_multiple m is rounded to an integer.
        calibration: ``2012`` for the lift of Blocki et al., or ``exact`` for the smallest lift that
            is private by the sketch's exact curve (:mod:`reproduction.privacy.sketching`). The
            former is w = 16 sqrt(r ln(2 / delta)) / epsilon * ln(16 r / delta), times the largest
            distance between a record and its replacement.

    Notes:
        The algorithm of 2012 centres the records first, because it estimates covariances. Here the
        target is uncentred second moments, and the guarantee does not need centring. It rests on
        the lift alone, which bounds the leverage of any one record.

        Records of [0, 1]^m cannot be both orthogonal and of full norm. There the guarantee for
        ``replace`` may be stronger than the reported epsilon.
    """

    sketch_multiple: float = 2.0
    calibration: str = "exact"
    queries = frozenset({SecondMomentQuery})

    def __post_init__(self) -> None:
        if checks.positive(sketch_multiple=self.sketch_multiple) < 1:
            raise InputError(
                f"sketch_multiple is {self.sketch_multiple}; give a multiple of m of at least 1"
            )
        checks.choice(("exact", "2012"), calibration=self.calibration)

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> Sketch:
        """Return the (epsilon, delta)-DP release."""
        epsilon, delta = self._budget(query, epsilon, delta)
        sketch_size = round(self.sketch_multiple * query.features)
        squared_radius = query.domain.radius**2
        if self.calibration == "exact":
            leverage = sketching.leverage(epsilon, delta, sketch_size, query.adjacency)
            ridge = squared_radius * (1 - leverage) / leverage
        else:
            distance = RecordsQuery(query.domain, query.n_records, query.adjacency).l2_sensitivity
            lift = (
                16
                * np.sqrt(sketch_size * np.log(2 / delta))
                / epsilon
                * np.log(16 * sketch_size / delta)
            )
            ridge = float((distance * lift) ** 2)
            leverage = squared_radius / (ridge + squared_radius)
        actual = sketching.epsilon(delta, leverage, sketch_size, query.adjacency)
        # A record and its replacement attain it if they are orthogonal and of full norm.
        orthogonal = np.sqrt(2) * squared_radius / query.effective_records * (1 - 1e-9)
        attained = query.adjacency != "replace" or (
            query.l2_tight and query.l2_sensitivity >= orthogonal
        )
        if actual > epsilon:
            raise NoGuarantee(
                f"the JL mechanism with the constants of 2012 has epsilon {actual:.4g} instead of "
                f"{epsilon:g}; use a smaller epsilon or the exact calibration"
            )
        return Sketch(
            query=query,
            epsilon=epsilon,
            delta=delta,
            epsilon_delivered=actual,
            tight=attained,
            ridge=ridge,
            sketch_size=sketch_size,
        )


MECHANISMS = {
    "jl_2012": MechanismEntry(
        partial(JohnsonLindenstrauss, calibration="2012"),
        parameter="sketch_multiple",
        values="sketch_multiples",
        stream="rows",
    ),
    "jl_exact": MechanismEntry(
        partial(JohnsonLindenstrauss, calibration="exact"),
        parameter="sketch_multiple",
        values="sketch_multiples",
        stream="rows",
    ),
}
