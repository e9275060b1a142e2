"""Clipped second moments about a private mean."""

from dataclasses import replace

import numpy as np
from exactness import same_copies
from mechanismqueries import (
    LIVER_MOMENTS,
    budget,
)

from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.programs import Columns
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.privacy.sensitivity import Ball, SecondMomentQuery, second_moments

BALL = SecondMomentQuery(Ball(2.0, 4), 50)


def records(query, seed=0):
    """Records of a box around a point away from its middle."""
    lower, upper = (np.array(side)[:, None] for side in (query.domain.lower, query.domain.upper))
    noise = np.random.default_rng(seed).standard_normal((query.features, query.n_records))
    return np.clip(lower + (upper - lower) * (0.7 + 0.1 * noise), lower, upper)


def test_the_centre_is_the_nearest_point_of_the_domain():
    few = replace(LIVER_MOMENTS, n_records=2)
    release = Centred(1 / 16).calibrate(few, **budget(few))

    def centre(release, noisy):
        """The centre for a noisy mean, with other answers as they are exactly."""

        def ask(part, value):
            return np.array(noisy)[:, None] if part is release.mean else value

        return release.run(Columns(np.zeros(release.query.shape)), ask).centre

    assert same_copies(centre(release, [5.0, -3, 0, 0, 0.5, 1]), [1, -1, 0, 0, 0.5, 1])
    ball = Centred().calibrate(BALL, epsilon=1, delta=0.01)
    np.testing.assert_allclose(centre(ball, [0, 0, 3.0, 4]), [0, 0, 1.2, 1.6])


def test_without_noise_it_is_the_second_moments_with_the_ridge_of_the_noise():
    release = Centred(1.0).calibrate(LIVER_MOMENTS, epsilon=1, delta=1 / 248)
    found = records(LIVER_MOMENTS)
    distribution = release.about.noise.times(1e-12 / release.about.noise_std)
    silent = replace(release, centre_std=1e-12, about=replace(release.about, noise=distribution))
    ridge = moments_ridge(release.about.noise_std, 6) * np.eye(6)
    np.testing.assert_allclose(
        silent.simulate(found, np.random.default_rng(0), 1)[0],
        second_moments(found) + ridge,
        atol=1e-10,
    )
    assert np.isnan(release.noise_std)
