from dataclasses import replace

import numpy as np
import pytest
from mechanismqueries import LIVER

from matrixdp.auditing import alignment, releases
from matrixdp.auditing.affine import largest_size
from matrixdp.auditing.audit import size_of
from matrixdp.auditing.places import extremes
from matrixdp.mechanisms.clipped import PrivatelyClipped, clipped
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.privacy.sensitivity import Ball, Box, SecondMomentQuery, second_moments


def change(run, release, query):
    """Return the largest change that replays of a program show, as the release's noise sizes it."""
    return largest_size(run, extremes(query, np.random.default_rng(0)), size_of(release.noise))


def test_neighbours_that_draw_other_noise_are_told():
    release = Gaussian().calibrate(LIVER, epsilon=1.0, delta=0.01)

    def run(records, noise):
        # Draws once more for some records, without any use for it.
        if records[0, 0] > 0:
            noise.standard_normal()
        return np.zeros(records.T.shape)

    assert change(run, release, LIVER) == np.inf


MOMENTS = SecondMomentQuery(Box.cube(6, -1, 1), 50)
CLIPPED = Gaussian().calibrate(clipped(MOMENTS, 1 / 16), epsilon=1.0, delta=0.01)


@pytest.mark.parametrize("wrong", [True, False])
def test_clipping_the_moments_in_the_place_of_the_records_is_found(wrong):
    def run(records, noise):
        moments = second_moments(records.T)
        clipped = moments * min(1.0, CLIPPED.query.largest_norm / np.trace(moments))
        value = clipped if wrong else CLIPPED.query.value(records.T)
        return CLIPPED.simulate(value, noise, 1)[0]

    mu = change(run, CLIPPED, MOMENTS)
    assert (mu > CLIPPED.mu * (1 + releases.ROUNDING)) == wrong


@pytest.mark.parametrize("wrong", [True, False])
def test_records_in_a_box_with_noise_for_a_ball_are_refuted(wrong):
    release = replace(CLIPPED, query=MOMENTS) if wrong else CLIPPED
    attained = releases.audit_of(release, np.random.default_rng(0)).attained
    assert (attained > release.epsilon * (1 + releases.ROUNDING)) == wrong


@pytest.mark.parametrize("query", [MOMENTS, replace(MOMENTS, domain=Ball(1.0, 6))])
def test_a_ball_is_enforced_on_records_before_they_are_counted(query):
    release = PrivatelyClipped().calibrate(query, epsilon=1.0, delta=0.01)
    assert alignment.replay(release, np.random.default_rng(0)).differing_share == 0
