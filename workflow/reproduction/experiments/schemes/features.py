"""Schemes for private features (IMGM, section 5.1, Type II).

The features of all training records are released once, in blocks of one lot. Each block is an
identity query on [-1, 1]^m (256 x 150 for IMDB in the paper's Table 1). Neighbours differ in one
replaced record, and so in one block: the guarantee of a block is that of all blocks. Every record's
features are published, so that there is no sampling. The paper's "amplification",
(epsilon / q, delta / q) with the sampling rate q of a lot, is therefore unjustified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from matrixdp import checks
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import Box, RecordsQuery
from reproduction.experiments.schemes.base import (
    FIRST_TWO,
    IID,
    Deviations,
    Plan,
    Scheme,
    compress_rows,
    row_precisions,
)
from reproduction.mechanisms.allocation import Binary
from reproduction.mechanisms.gaussian import IMGM
from reproduction.mechanisms.generalized_gamma import SphericalGamma
from reproduction.mechanisms.mvg import MVG
from reproduction.privacy import generalized_gamma, sampling
from reproduction.privacy.kov import Guarantee


@dataclass(frozen=True, kw_only=True)
class Features(Plan):
    """One release of the features of all records, a matrix of features by records in [-1, 1].

    Args:
        features: number m of features of a record.
        power: power of a record's noise: 2 for Gaussian noise, else that of generalized gamma noise
            (:mod:`reproduction.privacy.generalized_gamma`).
        records, lot: see :class:`Plan`; the paper's q is the records of a block over all records.
    """

    features: int
    power: float = 2.0
    exact = True

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.count(features=self.features)

    @property
    def query(self) -> RecordsQuery:
        """The query of one block."""
        return RecordsQuery(Box.cube(self.features, -1, 1), self.lot)

    @property
    def steps(self) -> int:
        """Number of releases: 1."""
        return 1

    @property
    def released(self) -> Mapping[str, tuple[int, int]]:
        """The only matrix, ``features``, of features by records."""
        return {"features": (self.features, self.records)}

    def mu(self, deviations: Deviations) -> float:
        """Return the exact mu of the worst change of one record, or NaN for non-Gaussian noise."""
        if self.power != 2:
            return float("nan")
        variances = np.broadcast_to(np.square(deviations["features"]).ravel(), self.features)
        return self.query.directional_mu(variances).value

    def epsilon(self, deviations: Deviations, delta: float) -> float:
        """Return the exact epsilon."""
        if self.power == 2:
            return gaussian_dp.epsilon(delta, self.mu(deviations))
        scale = self.scale(float(deviations["features"])) / self.query.l2_sensitivity
        return generalized_gamma.epsilon(delta, scale, self.power, self.features)

    def scale(self, deviation: float) -> float:
        """Return the scale of generalized gamma noise with this deviation of an entry."""
        return deviation / float(generalized_gamma.deviation(1.0, self.power, self.features))


def _additive(mechanism: Mechanism, plan: Features, epsilon: float, delta: float) -> Deviations:
    return {"features": mechanism.calibrate(plan.query, epsilon=epsilon, delta=delta).noise_std}


def _mvg(plan: Features, epsilon: float, delta: float, *, allocation: Binary) -> Deviations:
    phi = MVG().precision_budget(plan.query, epsilon=epsilon, delta=delta)
    return {"features": compress_rows(row_precisions(phi, plan.query.shape, allocation) ** -0.5)}


#: Function of a plan, epsilon and delta.
Spend = Callable[[Features, float, float], Deviations]


def _amplified(spend: Spend, plan: Features, epsilon: float, delta: float) -> Deviations:
    return spend(plan, *sampling.linear_before_sampling_wrong(Guarantee(epsilon, delta), plan.rate))


def _with_power(plan: Features, epsilon: float, delta: float) -> Features:
    return replace(plan, power=_POWER)


#: Power of the generalized gamma noise, the same for all budgets.
_POWER = 1.25
_gaussian = partial(_additive, Gaussian())
_imgm = partial(_additive, IMGM())
_mvg_binary = partial(_mvg, allocation=FIRST_TWO)

SCHEMES = {
    "analytic_gaussian": Scheme(_gaussian),
    "imgm": Scheme(_imgm),
    "generalized_gamma": Scheme(partial(_additive, SphericalGamma(_POWER)), _with_power),
    "mvg_iid": Scheme(partial(_mvg, allocation=IID)),
    "mvg_binary": Scheme(_mvg_binary),
    "analytic_gaussian_amplified": Scheme(partial(_amplified, _gaussian)),
    "imgm_amplified": Scheme(partial(_amplified, _imgm)),
    "mvg_binary_amplified": Scheme(partial(_amplified, _mvg_binary)),
}
