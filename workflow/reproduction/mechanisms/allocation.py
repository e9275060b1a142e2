"""Allocations of a precision budget to directions.

Precision is the inverse of variance. MVG (Chanyaswad et al., section 6) limits the l2 norm of the
precisions of all directions; an allocation gives each direction a share of the limit.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError


class Allocation(abc.ABC):
    """A rule that shares a precision budget between the directions."""

    @property
    def keeps_budget(self) -> bool:
        """Whether the precisions never exceed the budget; otherwise there is no guarantee."""
        return True

    @abc.abstractmethod
    def precisions(self, budget: float, features: int, spectrum: Array | None) -> Array:
        """Return the precision of each direction, shape (m,), or (trials, m) with a spectrum.

        Args:
            budget: limit on the l2 norm of the precisions.
            features: number m of directions.
            spectrum: private eigenvalues of X X^T along the directions, shape (trials, m), above 0
                and descending; None without private directions.

        Raises:
            InputError: the allocation does not fit the features, or needs a missing spectrum.
        """


class FixedShares(Allocation):
    """Shares theta of the squared budget that do not depend on a spectrum."""

    @abc.abstractmethod
    def resolve(self, features: int) -> Array:
        """Return theta, shape (m,), above 0 with sum 1; InputError if it does not fit."""

    def precisions(self, budget: float, features: int, spectrum: Array | None) -> Array:
        """Return sqrt(theta) times the budget, whatever the spectrum."""
        return np.sqrt(self.resolve(features)) * budget


@dataclass(frozen=True)
class Shares(FixedShares):
    """Explicit shares (MVG, Algorithms 1 and 2), above 0 with sum 1; None: equal shares."""

    theta: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.theta is not None:
            checks.shares(theta=self.theta)

    def resolve(self, features: int) -> Array:
        """Return theta, shape (m,); raises InputError if there is not one per feature."""
        if self.theta is None:
            return np.full(features, 1 / features)
        theta = checks.shares(theta=self.theta)
        if len(theta) != features:
            raise InputError(f"theta has {len(theta)} shares; give one per direction, {features}")
        return theta


@dataclass(frozen=True)
class Binary(FixedShares):
    """Binary allocation: share tau to the favoured directions, the rest to the others (8.1.3).

    Without favoured directions all shares are equal; tau is strictly between 0 and 1.
    """

    direction: tuple[int, ...] = ()
    tau: float = 0.5

    def __post_init__(self) -> None:
        checks.open_unit(tau=self.tau)
        if len(set(self.direction)) != len(self.direction):
            raise InputError(f"direction is {self.direction}; each feature may appear once")

    def resolve(self, features: int) -> Array:
        """Return theta, shape (m,); raises InputError if the indices do not fit m features."""
        k = len(self.direction)
        if not k:
            return np.full(features, 1 / features)
        if k == features or not set(self.direction) <= set(range(features)):
            raise InputError(
                f"direction is {self.direction}; it must name some but not all of the directions "
                f"0 to {features - 1}"
            )
        theta = np.full(features, (1 - self.tau) / (features - k))
        theta[np.array(self.direction, dtype=int)] = self.tau / k
        return theta


@dataclass(frozen=True)
class MaxPNR(Allocation):
    """Precisions u that maximise the power-to-noise ratio sum ln(1 + lambda u) (MVG, Thm 7).

    Args:
        norm: ``l1`` limits sum u as the paper does, which is safe because it bounds the l2 norm.
            The solution is water-filling u = (c - 1/lambda)^+, with the level c over the filled
            directions. ``l2`` uses the limit of the privacy theorems. ``printed`` is Eq. (25) where
            it is above 0, with c over all directions. Its sum is far above the limit, so that it is
            NOT private: a demonstration only.
        unfilled: the treatment of a spectrum with a direction of zero precision, that is, infinite
            noise. ``zero`` omits the direction; ``equal`` gives all directions the same share of
            the limit on the sum.
    """

    norm: str = "l1"
    unfilled: str = "zero"

    def __post_init__(self) -> None:
        checks.choice(("l1", "l2", "printed"), norm=self.norm)
        checks.choice(("zero", "equal"), unfilled=self.unfilled)

    @property
    def keeps_budget(self) -> bool:
        """Whether the precisions meet the limit: not with ``printed``."""
        return self.norm != "printed"

    def precisions(self, budget: float, features: int, spectrum: Array | None) -> Array:
        """Return the optimum for each trial's spectrum, shape (trials, m); 0 is infinite noise."""
        if spectrum is None:
            raise InputError(
                "allocation is MaxPNR without a spectrum; it needs directions from a private "
                "singular value decomposition (PrivateDirections)"
            )
        fill = {"l1": water_filling, "l2": quadratic_filling, "printed": printed_formula}[self.norm]
        optimum = np.maximum(fill(spectrum, budget), 0)
        if self.unfilled == "zero":
            return optimum
        return np.where((optimum > 0).all(axis=-1, keepdims=True), optimum, budget / features)


def water_filling(eigenvalues: ArrayLike, total: float) -> Array:
    """Return u >= 0 that maximises sum ln(1 + lambda u) subject to sum u = total.

    The eigenvalues lambda are above 0 and descend along the last axis, shape (..., m).
    """
    floor = 1 / np.asarray(eigenvalues, dtype=float)
    filled = np.arange(1, floor.shape[-1] + 1)
    # With the k largest eigenvalues filled, u_i = total / k + mean_j (floor_j - floor_i).
    spread = np.cumsum(floor, axis=-1) - filled * floor
    active = np.count_nonzero(total + spread > 0, axis=-1, keepdims=True)
    depth = np.take_along_axis(np.cumsum(floor, axis=-1), active - 1, axis=-1)
    # This order of additions preserves a total far below the floors against rounding.
    u = total / active + (depth / active - floor)
    # Rounding must not leave the sum above the limit; one filled direction takes all of it.
    u = np.where(filled <= active, np.maximum(u, 0), 0)
    return u * (total / u.sum(axis=-1, keepdims=True))


def printed_formula(eigenvalues: ArrayLike, total: ArrayLike) -> Array:
    """Return u of Eq. (25) as printed; its level is computed as if all directions were filled."""
    floor = 1 / np.asarray(eigenvalues, dtype=float)
    level = (total + floor.sum(axis=-1, keepdims=True)) / floor.shape[-1]
    return level - floor


def quadratic_filling(eigenvalues: ArrayLike, norm: float) -> Array:
    """Return u > 0 that maximises sum ln(1 + lambda u) subject to |u|_2 = norm, shape (..., m).

    Stationarity gives u = (lambda / v) / (1 + sqrt(1 + 2 lambda^2 / v)) for a multiplier v. The
    norm of u decreases in v, which is bisected in log space.
    """
    eigenvalues = np.asarray(eigenvalues, dtype=float)

    def solution(log_v: Array) -> Array:
        v = np.exp(log_v)
        return (eigenvalues / v) / (1 + np.sqrt(1 + 2 * eigenvalues**2 / v))

    size = (*eigenvalues.shape[:-1], 1)
    low, high = np.full(size, -400.0), np.full(size, 400.0)
    for _ in range(80):
        middle = (low + high) / 2
        above = np.linalg.norm(solution(middle), axis=-1, keepdims=True) > norm
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    u = solution(high)
    return u * np.minimum(1, norm / np.linalg.norm(u, axis=-1, keepdims=True))
