"""The interface of schemes: from a plan of releases and a claimed budget to their noise."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.privacy import gaussian_dp
from reproduction.mechanisms.allocation import Binary
from reproduction.mechanisms.gaussian import standard_deviation
from reproduction.privacy import kov

#: Standard deviations by name of the released matrix: one number for all entries, or one per row,
#: shape (m, 1).
Deviations = Mapping[str, "float | Array"]

#: MVG's allocations: equal shares, or a share of 0.75 for the first two rows together.
IID = Binary()
FIRST_TWO = Binary(direction=(0, 1), tau=0.75)


@dataclass(frozen=True, kw_only=True)
class SchemeNoise:
    """The noise of a calibrated scheme.

    Attributes:
        plan: the plan of the releases, as the scheme arranges it.
        deviations: standard deviations by name of the released matrix, the same in every release.
            Each is one number for all entries, or one per row, shape (m, 1). Where noise is
            correlated over the steps, they are those of its independent draws.
        epsilon_delivered: the epsilon that all releases together deliver at the stated delta, an
            upper bound unless ``epsilon_exact``. An accountant's is within 2e-5 of it for equal
            noise on all entries.
        epsilon_exact: whether some neighbours attain ``epsilon_delivered``.
        mu: Gaussian-DP parameter of one release without sampling, or an upper bound; NaN where
            noise is not Gaussian.
        noise_std: root mean square of the noise over all released entries.
    """

    plan: Any
    deviations: Deviations
    epsilon_delivered: float
    epsilon_exact: bool
    mu: float
    noise_std: float

    def equals(self, other: SchemeNoise) -> bool:
        """Return whether both have one distribution: one plan and, to the bit, one deviation."""
        names = self.deviations.keys()
        return bool(
            self.plan == other.plan
            and names == other.deviations.keys()
            and all(np.array_equal(self.deviations[name], other.deviations[name]) for name in names)
        )


@dataclass(frozen=True, kw_only=True)
class Plan(abc.ABC):
    """The released matrices, the number of releases, and the effect of one record.

    Args:
        records: number of training records.
        lot: expected number of records in a lot, or number in a block.
    """

    records: int
    lot: int

    #: Whether ``epsilon`` is the supremum over neighbours, or an upper bound.
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checks.count(records=self.records)
        if checks.count(lot=self.lot) > self.records:
            raise checks.InputError(
                f"lot is {self.lot}; it must be at most the number of training records, "
                f"{self.records}"
            )

    @property
    def rate(self) -> float:
        """Probability q that a record is in a lot: records of a lot over all records."""
        return self.lot / self.records

    @property
    @abc.abstractmethod
    def steps(self) -> int:
        """Number of releases, T."""

    @property
    @abc.abstractmethod
    def released(self) -> Mapping[str, tuple[int, int]]:
        """Shapes (m, n) of the matrices of one release, by name."""

    @abc.abstractmethod
    def mu(self, deviations: Deviations) -> float:
        """Return mu of one release without sampling: the supremum over neighbours or a bound."""

    @abc.abstractmethod
    def epsilon(self, deviations: Deviations, delta: float) -> float:
        """Return epsilon of all releases at delta, tight or an upper bound."""

    @property
    def correlation_factor(self) -> float:
        """Root mean square of the noise over ``deviations``: 1 unless noise is correlated."""
        return 1.0


def keep_plan(plan: Any, epsilon: float, delta: float) -> Any:
    """Return the plan unchanged."""
    return plan


@dataclass(frozen=True)
class Scheme:
    """A way to spend a privacy budget.

    ``arrange`` maps a plan, epsilon and delta to the plan that the scheme needs. ``deviations``
    maps the arranged plan, epsilon and delta to the standard deviations.
    """

    deviations: Callable[[Any, float, float], Deviations] = field(repr=False)
    arrange: Callable[[Any, float, float], Any] = field(default=keep_plan, repr=False)

    def calibrate(self, plan: Plan, *, epsilon: float, delta: float) -> SchemeNoise:
        """Return the noise for a plan and a claimed budget, with its tight epsilon.

        NoGuarantee: the scheme claims to be private and cannot be private at this budget.
        """
        epsilon, delta = checks.privacy(epsilon, delta)
        plan = self.arrange(plan, epsilon, delta)
        deviations = self.deviations(plan, epsilon, delta)
        return SchemeNoise(
            plan=plan,
            deviations=deviations,
            epsilon_delivered=plan.epsilon(deviations, delta),
            epsilon_exact=plan.exact,
            mu=plan.mu(deviations),
            noise_std=plan.correlation_factor * _root_mean_square(plan.released, deviations),
        )


def analytic_mu(guarantees: kov.Guarantee) -> tuple[float, kov.Guarantee]:
    """Return the largest mu that a guarantee allows Gaussian noise, and that guarantee."""
    mu = gaussian_dp.mu(guarantees.epsilon, guarantees.delta)
    best = int(np.argmax(mu))
    return float(mu[best]), guarantees.item(best)


def classical_multiplier(guarantees: kov.Guarantee) -> float:
    """Return the smallest multiplier, by the classical constant 1.25, of one of the guarantees.

    NoGuarantee: the classical formula gives too little noise for it.
    """
    formula = np.sqrt(np.log(1.25 / guarantees.delta)) / guarantees.epsilon
    epsilon, delta = guarantees.item(int(np.argmin(formula)))
    return standard_deviation(1.0, epsilon=epsilon, delta=delta, calibration="2014")


def row_precisions(phi: float, shape: tuple[int, int], allocation: Binary) -> Array:
    """Return MVG's precision of each row, shape (m,), for unimodal noise (Algorithm 1, Psi = I).

    The l2 norm of the precisions is phi^2 / sqrt(n), with phi from Theorem 2. A matrix with too few
    rows for the allocation gets equal shares.
    """
    m, n = shape
    shares = allocation if m > len(allocation.direction) else IID
    return shares.precisions(phi**2 / np.sqrt(n), m, None)


def compress_rows(deviations: Array) -> float | Array:
    """Return one number if all rows have the same deviation, else a column (m, 1)."""
    same = bool((deviations == deviations[0]).all())
    return float(deviations[0]) if same else deviations[:, None]


def _root_mean_square(shapes: Mapping[str, tuple[int, int]], deviations: Deviations) -> float:
    squares = sum(m * n * np.mean(np.square(deviations[name])) for name, (m, n) in shapes.items())
    return float(np.sqrt(squares / sum(m * n for m, n in shapes.values())))
