"""What is proven of a random direction holds whatever its exponent."""

from dataclasses import replace

import numpy as np
import pytest

from matrixdp.auditing.releases import audit_of
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import SecondMomentQuery
from reproduction.mechanisms.exponential import PPCA

QUERY = SecondMomentQuery(Box.cube(4, -1, 1), 100)
RELEASE = PPCA().calibrate(QUERY, epsilon=1.0)


def audited(**changes):
    return audit_of(replace(RELEASE, **changes), np.random.default_rng(0))


def test_the_calibrated_direction_is_proven():
    audit = audited()
    assert audit.proven
    assert 0.9 < audit.attained <= 1


def test_an_exponent_of_the_other_sign_is_not_proven_beyond_the_budget():
    audit = audited(kappa=-120.0)
    assert not audit.proven
    assert audit.attained > 3
    assert audited(kappa=-RELEASE.kappa).proven


@pytest.mark.parametrize("kappa", [float("nan"), float("inf")])
def test_nothing_is_proven_of_an_exponent_that_is_no_number(kappa):
    with np.errstate(invalid="ignore", over="ignore"):
        assert not audited(kappa=kappa).proven


def test_nothing_is_proven_of_a_person_with_several_records():
    assert not audited(query=replace(QUERY, per_person=5)).proven
