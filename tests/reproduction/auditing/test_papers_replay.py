from dataclasses import replace

import numpy as np
import pytest

from matrixdp.auditing import releases
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.privacy.sensitivity import Box, RecordsQuery, SecondMomentQuery
from reproduction.mechanisms.allocation import Binary
from reproduction.mechanisms.clipped import ClippedMoments
from reproduction.mechanisms.directional import AllocatedGaussian
from reproduction.mechanisms.exponential import PPCA, KNorm

RECORDS = RecordsQuery(Box.cube(4, -1, 1), 20)
MOMENTS = SecondMomentQuery(Box.cube(4, -1, 1), 20)


def ratio(release, source):
    return releases.replayed(release, source, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("mechanism", "query"),
    [
        (Gaussian(), RECORDS),
        (AllocatedGaussian(allocation=Binary((0,), 0.75)), RECORDS),
        (Laplace(), RECORDS),
        (KNorm("record_l2"), RECORDS),
        (KNorm("record_linf"), RECORDS),
        (Gaussian(), MOMENTS),
        (ClippedMoments(), MOMENTS),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_replayed_is_what_is_declared_and_not_a_hundredth_more(mechanism, query):
    release = mechanism.calibrate(query, epsilon=1.0, delta=0.01)
    assert 1 - 1e-6 < ratio(release, query) < 1 + 1e-9
    wider = replace(query, domain=Box.cube(4, -1.01, 1.01))
    if not isinstance(mechanism, ClippedMoments):
        release = replace(release, query=wider)
        assert ratio(release, wider) > 1.009


def test_a_release_that_is_not_additive_is_left_out():
    assert np.isnan(ratio(PPCA().calibrate(MOMENTS, epsilon=1.0), MOMENTS))
