"""Noise that is calibrated to the wrong formula or sensitivity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from matrixdp.mechanisms.allocation import Shares
from matrixdp.mechanisms.base import CalibratedMechanism
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.noise import distributions
from matrixdp.privacy.sensitivity import Ball, Box, IdentityQuery, Query, SecondMomentQuery
from reproduction.auditing.known_bugs.tools import constructor, curve, search
from reproduction.mechanisms.gaussian import IMGM
from reproduction.privacy.published import LIVER


@curve("noise / sqrt(batch)", "IMGM's published code divides the standard deviation by sqrt(256)")
def _divided_by_batch(wrong: bool) -> CalibratedMechanism:
    release = IMGM().calibrate(LIVER, epsilon=0.1, delta=1e-5)
    smaller = distributions.MatrixNormal(LIVER.shape, release.noise_std / np.sqrt(256))
    return replace(release, noise=smaller) if wrong else release


@curve("epsilon / q", "IMGM, Type II: amplification by sampling, where nothing is sampled")
def _amplified(wrong: bool) -> CalibratedMechanism:
    query, q = IdentityQuery(Box.cube(6, -1, 1), 256), 256 / 25000 if wrong else 1.0
    release = IMGM().calibrate(query, epsilon=1 / q, delta=1e-5 / q)
    return replace(release, epsilon=1.0, delta=1e-5)


class _TwoRootP(SecondMomentQuery):
    @property
    def l1_sensitivity(self) -> float:
        return 2 * float(np.sqrt(self.features)) / self.n_records


@search("2 sqrt(p) / n", "an l1 sensitivity of 2 sqrt(p) / n for x x^T, at p = 20")
def _entrywise_laplace(wrong: bool) -> tuple[Query, str]:
    kind = _TwoRootP if wrong else SecondMomentQuery
    return kind(Ball(1.0, 20), 100, "zero_out"), "l1"


class _Halved(IdentityQuery):
    @property
    def l2_sensitivity(self) -> float:
        return super().l2_sensitivity / 2


@search("wrong sensitivity", "the l2 sensitivity of removing a record, where records are replaced")
def _wrong_sensitivity(wrong: bool) -> tuple[Query, str]:
    kind = _Halved if wrong else IdentityQuery
    return kind(Box.cube(4, -1, 1), 50), "l2"


@constructor("classical at epsilon 10", "the classical Gaussian mechanism beyond its proof")
def _classical(wrong: bool) -> Callable[[], object]:
    epsilon = 10.0 if wrong else 1.0
    return lambda: Gaussian("2014").calibrate(LIVER, epsilon=epsilon, delta=1e-5)


@constructor("shares above 1", "MVG with precision shares that sum to more than 1")
def _shares_above_one(wrong: bool) -> Callable[[], object]:
    return lambda: Shares((0.75, 0.75 if wrong else 0.25))
