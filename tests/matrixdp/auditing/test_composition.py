"""Replays of compositions find what is executed in place of what is declared."""

from dataclasses import replace

import numpy as np
import pytest
from mechanismqueries import LIVER_MOMENTS

from matrixdp.auditing import composition
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.privacy.sensitivity import Ball


def executed(release, seed=0):
    """What replays show of a release."""
    return composition.executed(release, np.random.default_rng(seed))


@pytest.mark.parametrize("query", [LIVER_MOMENTS, replace(LIVER_MOMENTS, domain=Ball(1.0, 6))])
def test_a_ball_is_enforced_on_records_before_they_are_counted(query):
    release = PrivatelyClipped().calibrate(query, epsilon=1.0, delta=0.01)
    assert executed(release).differing_share == 0
