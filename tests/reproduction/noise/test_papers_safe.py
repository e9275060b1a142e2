"""Noise of whole steps: its distribution, its bits, and that nothing else decides the sum."""

import numpy as np
import pytest

from matrixdp.checks import InputError
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import IdentityQuery
from reproduction.mechanisms.generalized_gamma import SphericalGamma

BOX = Box((-1.0, 0.0, -2.0), (1.0, 3.0, 2.0))


def calibrated(mechanism, query):
    return mechanism.calibrate(query, epsilon=1, delta=1e-6)


def records(rows=40):
    return np.random.default_rng(5).uniform(BOX.lower, BOX.upper, (rows, 3)) * 1.2


def test_what_cannot_be_added_safely_is_refused():
    query = IdentityQuery(BOX, 40)
    with pytest.raises(InputError, match="no safe noise for GeneralizedGamma"):
        calibrated(SphericalGamma(), query).release(records())
    tiny = Gaussian().calibrate(query, epsilon=1e-12, delta=1e-12)
    with pytest.raises(InputError, match="cannot be added safely"):
        tiny.release(records())
