import numpy as np

from matrixdp.auditing import replay
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.privacy.sensitivity import Box, IdentityQuery

RECORDS = IdentityQuery(Box.cube(4, -1, 1), 20)


def test_neighbours_that_draw_other_noise_are_told():
    release = Gaussian().calibrate(RECORDS, epsilon=1.0, delta=0.01)

    def run(records, noise):
        # Draws once more for some records, without any use for it.
        if records[0, 0] > 0:
            noise.standard_normal()
        return np.zeros(records.shape)

    assert replay.largest_difference(run, release, RECORDS, np.random.default_rng(0)) == np.inf
