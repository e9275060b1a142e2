"""The matrix-variate Gaussian mechanism (Chanyaswad, Dytso, Poor & Mittal, CCS 2018).

The mechanism adds Z = U1 N U2^T and limits the precisions of both factors. The limit is
|sigma(Sigma^-1)|_2 |sigma(Psi^-1)|_2 <= phi^2, with phi from Theorem 2 or 3. This is sufficient but
far from necessary: every release here also states its actual ``mu``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.directional import checked_basis
from matrixdp.mechanisms.mechanism import Budget, CalibratedMechanism, Mechanism
from matrixdp.mechanisms.programs import Ask, Program, Records, Step
from matrixdp.privacy.sensitivity import MeanQuery, Mu, Query, RecordsQuery, SecondMomentQuery
from reproduction.mechanisms.allocation import Allocation, Binary, MaxPNR, Shares
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.directions import PrivateDirections
from reproduction.mechanisms.noise import MatrixNormal
from reproduction.privacy import published

ZETAS = ("sqrt", "literal")

#: Mu of a release without a guarantee.
NO_LIMIT = Mu(np.inf, True)


class Coefficients(NamedTuple):
    """Coefficients of alpha phi^2 + beta phi <= 2 epsilon (Theorem 2; Theorem 3 has omega)."""

    alpha: Any
    omega: Any
    beta: Any


def coefficients(
    shape: tuple[int, int], *, gamma: ArrayLike, s2: ArrayLike, delta: float, zeta: str = "sqrt"
) -> Coefficients:
    """Return the coefficients of MVG's Theorems 2 and 3 for a query of shape (m, n).

    ``gamma`` (the largest Frobenius norm of the value) and ``s2`` (the l2 sensitivity) broadcast.
    """
    gamma, s2 = np.asarray(gamma), np.asarray(s2)
    m, n = shape
    harmonic, root_harmonic = harmonic_numbers(min(m, n))
    tail = np.log(1 / delta)
    bound = m * n + 2 * np.sqrt(m * n * tail) + 2 * tail
    return Coefficients(
        alpha=(harmonic + root_harmonic) * gamma**2 + 2 * harmonic * gamma * s2,
        omega=4 * harmonic * gamma * s2,
        beta=2 * (m * n) ** 0.25 * harmonic * s2 * (np.sqrt(bound) if zeta == "sqrt" else bound),
    )


def harmonic_numbers(rank: int) -> tuple[float, float]:
    """Return H_r, the sum of 1 / i for i = 1 ... r, and H_(r, 1/2), that of 1 / sqrt(i)."""
    ranks = np.arange(1, rank + 1)
    return float((1 / ranks).sum()), float((1 / np.sqrt(ranks)).sum())


def largest_phi(quadratic: ArrayLike, linear: ArrayLike, epsilon: float) -> Any:
    """Return the positive root of quadratic phi^2 + linear phi = 2 epsilon, uncancelled."""
    quadratic, linear = np.asarray(quadratic), np.asarray(linear)
    return 4 * epsilon / (linear + np.sqrt(linear**2 + 8 * quadratic * epsilon))


@dataclass(frozen=True, eq=False)
class MVG(Mechanism):
    """MVG with directional noise: Algorithm 1 (identity) or Algorithm 2 (second moments).

    Unimodal noise (identity query) has Psi = I and Z = W diag(sqrt(t)) N. Equi-modal noise (second
    moments) has Psi = Sigma and Z = U N U^T, U = W diag(sqrt(t)), which is not symmetric.

    Args:
        theorem: 2 or 3. The paper states Theorem 3 for positive semi-definite queries. Its bound
            holds for every query, because the two terms that it merges are bounded jointly.
        zeta: ``sqrt`` takes the root of the Laurent-Massart bound on |N|_F^2, as the proof
            (Lemma 1) requires. ``literal`` is the paper's Table 1 without the root: private, but
            with more noise.
        sensitivity: ``paper`` or ``tight`` l2 sensitivity.
        gamma: bound on the Frobenius norm of the value; None for the public one of the query. A
            smaller bound, such as that of the data, voids the guarantee: ``epsilon_delivered`` is
            infinite.
        allocation: the shares of precision of the directions.
        directions: None for the standard basis, an orthonormal basis with one direction per
            column, or :class:`PrivateDirections` (identity query only).
    """

    theorem: int = 2
    zeta: str = "sqrt"
    sensitivity: str = "paper"
    allocation: Allocation = field(default_factory=Shares)
    directions: ArrayLike | PrivateDirections | None = None
    gamma: float | None = None

    @property
    def queries(self) -> frozenset[type[Query]]:
        """The identity query alone for private directions, because these depend on the records."""
        if isinstance(self.directions, PrivateDirections):
            return frozenset({RecordsQuery})
        return frozenset({RecordsQuery, MeanQuery, SecondMomentQuery})

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> CalibratedMechanism:
        """Return the (epsilon, delta)-DP release."""
        budget = self._budget(query, epsilon, delta)
        if isinstance(self.directions, PrivateDirections):
            return self._with_private_directions(query, self.directions, budget)
        directions = checked_basis(self.directions, query.features)
        m = query.features
        precisions = self.allocation.precisions(self._limit(query, *budget), m, None)
        variances = 1 / precisions
        mu = query.directional_mu(variances, directions) if self._is_private(query) else NO_LIMIT
        deviations = np.sqrt(variances)
        factor = deviations if directions is None else directions * deviations
        equimodal = isinstance(query, SecondMomentQuery)
        mean_variance = variances.mean() ** 2 if equimodal else variances.mean()
        noise = MatrixNormal(query.shape, factor, factor if equimodal else None)
        std = float(np.sqrt(mean_variance))
        return AdditiveGaussian.from_mu(mu, budget, query=query, noise=noise, noise_std=std)

    def precision_budget(self, query: Query, *, epsilon: float, delta: float) -> float:
        """Return phi of Eqs. (1) and (12), the root of the precision budget of Theorems 2 and 3."""
        epsilon, delta = checks.privacy(epsilon, delta)
        gamma = query.largest_norm if self.gamma is None else checks.positive(gamma=self.gamma)
        if self.theorem not in (2, 3):
            raise InputError(f"theorem is {self.theorem}; it must be 2 or 3")
        checks.choice(ZETAS, zeta=self.zeta)
        checks.choice(("paper", "tight"), sensitivity=self.sensitivity)
        paper = self.sensitivity == "paper"
        s2 = published.l2_sensitivity(query) if paper else query.l2_sensitivity
        terms = coefficients(query.shape, gamma=gamma, s2=s2, delta=delta, zeta=self.zeta)
        quadratic = terms.alpha if self.theorem == 2 else terms.omega
        return float(largest_phi(quadratic, terms.beta, epsilon))

    def _is_private(self, query: Query) -> bool:
        return self.allocation.keeps_budget and (
            self.gamma is None or self.gamma >= query.largest_norm
        )

    def _limit(self, query: Query, epsilon: float, delta: float) -> float:
        """Return the limit on the l2 norm of the precisions of Sigma."""
        phi = self.precision_budget(query, epsilon=epsilon, delta=delta)
        # |sigma(Psi^-1)|_2 is sqrt(n) for Psi = I, n x n; for Psi = Sigma both norms are phi.
        return phi if isinstance(query, SecondMomentQuery) else phi**2 / np.sqrt(query.shape[1])

    def _with_private_directions(
        self, query: Query, private: PrivateDirections, budget: Budget
    ) -> CalibratedMechanism:
        moments = private.calibrate(query, epsilon=budget.epsilon, delta=budget.delta)
        rest = 1 - private.budget_fraction
        limit = self._limit(query, rest * budget.epsilon, rest * budget.delta)
        # Whatever the directions: sum_k (w_k . d)^2 u_k <= |d|^2 max u <= l2^2 limit.
        mu = float(np.hypot(moments.mu, query.l2_sensitivity * np.sqrt(limit)))
        parts = {"moments": moments, "allocation": self.allocation, "limit": limit}
        if not self._is_private(query):
            mu = NO_LIMIT.value
        return AlongPrivateDirections.from_mu(mu, budget, query=query, private=private, **parts)


@dataclass(frozen=True, kw_only=True)
class AlongPrivateDirections(Program):
    """Unimodal MVG noise along directions that each trial first releases.

    A direction without precision would get infinite noise. The release is 0 along it instead.
    """

    private: PrivateDirections
    moments: AdditiveGaussian
    allocation: Allocation
    limit: float
    stream = "AlongPrivateDirections"
    batches = True

    @property
    def drawn(self) -> int:
        """How many normal numbers a release draws: those of both parts."""
        return math.prod(self.moments.noise.shape) + math.prod(self.query.shape)

    def run(self, records: Records, ask: Ask) -> Array:
        """Return the noisy matrix."""
        noisy = ask(self.moments, records.value(self.moments.query))
        directions, spectrum = self.private.of(noisy, self.query.n_records)
        precisions = self.allocation.precisions(self.limit, self.query.features, spectrum)
        positive = np.broadcast_to(precisions > 0, spectrum.shape)
        # What has no precision is not asked for: in its place there is noise, and then 0.
        deviations = 1 / np.sqrt(np.where(positive, precisions, 1))
        along = np.swapaxes(directions, -2, -1) @ records.value(self.query)
        along *= positive[..., None]
        mu = self.query.l2_sensitivity * float(np.sqrt(self.limit))
        # One diagonal, or one for each of many releases.
        factor = deviations if deviations.ndim == 1 else deviations[..., None]
        released = ask(Step(MatrixNormal(self.query.shape, factor), mu), along)
        released[~positive] = 0
        return np.matmul(directions, released, out=along)


def _binary(direction: tuple[int, ...], tau: float = 0.5, *, theorem: int = 2) -> MVG:
    return MVG(theorem=theorem, allocation=Binary(direction=direction, tau=tau))


MECHANISMS = {
    "mvg_binary": MechanismEntry(_binary, parameter="tau", values="taus", directed=True),
    "mvg_maxpnr": MechanismEntry(lambda: MVG(allocation=MaxPNR(), directions=PrivateDirections())),
    "mvg_thm2": MechanismEntry(_binary, parameter="tau", values="taus", directed=True),
    "mvg_thm3": MechanismEntry(
        partial(_binary, theorem=3), parameter="tau", values="taus", directed=True
    ),
}
