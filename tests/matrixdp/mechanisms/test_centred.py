"""Clipped second moments about a private mean."""

from dataclasses import replace

import numpy as np
import pytest
from exactness import same_copies
from mechanismqueries import (
    CTG_MOMENTS,
    LIVER_MOMENTS,
    budget,
    streams,
)

from matrixdp.auditing import releases
from matrixdp.checks import InputError
from matrixdp.mechanisms.base import AdditiveGaussian
from matrixdp.mechanisms.centred import Centred, mean_query
from matrixdp.mechanisms.clipped import ChosenByHistogram, records_of
from matrixdp.mechanisms.programs import Stack
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Ball, Box, SecondMomentQuery, second_moments

BALL = SecondMomentQuery(Ball(2.0, 4), 50)
#: Squared: largest distance of two records, and change of the mean times n.
SIZES = [
    (LIVER_MOMENTS, 24, 24),
    (CTG_MOMENTS, 21, 21),
    (BALL, 16, 16),
    (replace(LIVER_MOMENTS, adjacency="zero_out"), 24, 6),
]
KINDS = [Centred(1 / 16), Centred()]


def records(query, seed=0):
    """Records of a box around a point away from its middle."""
    lower, upper = (np.array(side)[:, None] for side in (query.domain.lower, query.domain.upper))
    noise = np.random.default_rng(seed).standard_normal((query.features, query.n_records))
    return np.clip(lower + (upper - lower) * (0.7 + 0.1 * noise), lower, upper)


@pytest.mark.parametrize("epsilon", [0.01, 1, 100])
@pytest.mark.parametrize(("query", "widest", "moved"), SIZES, ids=repr)
def test_both_parts_spend_half_and_all_is_the_budget(query, widest, moved, epsilon):
    mu = gaussian.mu(epsilon, 0.004)
    public, private = (kind.calibrate(query, epsilon=epsilon, delta=0.004) for kind in KINDS)
    for release in (public, private):
        mean = np.sqrt(moved) / query.n_records / release.centre_std
        assert mean == pytest.approx(mu / np.sqrt(2), rel=1e-12)
        assert release.epsilon_delivered == pytest.approx(epsilon, rel=1e-9)
    assert isinstance(public.about, AdditiveGaussian)
    change = np.sqrt(2) * widest / 16 / query.n_records
    spent = change / public.about.noise.diagonal_std
    assert spent == pytest.approx(mu / np.sqrt(2), rel=1e-12)
    assert isinstance(private.about, ChosenByHistogram)
    for j, one in enumerate(private.about.candidates):
        change = np.sqrt(2) * widest * 2.0**-j / query.n_records
        counted = np.sqrt(2) / private.about.count_std
        spent = np.hypot(counted, change / one.noise.diagonal_std)
        assert spent == pytest.approx(mu / np.sqrt(2), rel=1e-9)


@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
def test_about_a_centre_no_record_changes_more_than_is_paid_for(adjacency):
    """Clipped here once more; under removal a record becomes zero, which is far from a centre."""
    release = Centred(1 / 16).calibrate(
        replace(LIVER_MOMENTS, adjacency=adjacency), epsilon=1, delta=1 / 248
    )
    rng, found = np.random.default_rng(0), []
    for _ in range(3000):
        centre = rng.choice([-1, 1, 0.5], 6)
        one, other = rng.choice([-1.0, 1.0], (2, 6))
        other = np.zeros(6) if adjacency == "zero_out" else other
        ends = []
        for record in (one, other):
            away = record - centre
            away *= min(1, np.sqrt(24 / 16) / max(np.linalg.norm(away), 1e-9))
            ends.append(np.outer(away, away) / 248)
        found.append(np.linalg.norm(release.about.noise.whiten(ends[0] - ends[1])))
    half = gaussian.mu(1, 1 / 248) / np.sqrt(2)
    assert 0.99 * half < max(found) <= half * (1 + 1e-9)


@pytest.mark.parametrize(
    ("kind", "query", "epsilon"),
    [
        (KINDS[0], LIVER_MOMENTS, 0.1),
        (KINDS[0], SIZES[-1][0], 10.0),
        pytest.param(KINDS[1], LIVER_MOMENTS, 1.0, marks=pytest.mark.nightly),
    ],
    ids=repr,
)
def test_the_audit_knows_it_and_sees_half_a_per_cent_less_noise(kind, query, epsilon):
    release = kind.calibrate(query, epsilon=epsilon, delta=1 / 248)
    found = releases.audit_of(release, np.random.default_rng(0))
    assert found.tool == "composition"
    assert found.bound == pytest.approx(epsilon, rel=1e-6)
    less = [replace(release, centre_std=0.995 * release.centre_std)]
    about = release.about
    if isinstance(about, AdditiveGaussian):
        distribution = about.noise
        distribution = replace(
            distribution,
            diagonal_std=0.995 * distribution.diagonal_std,
            off_diagonal_std=0.995 * distribution.off_diagonal_std,
        )
        less.append(replace(release, about=replace(about, noise=distribution)))
    else:
        less.append(replace(release, about=replace(about, count_std=0.995 * about.count_std)))
    for weak in less:
        bound = releases.audit_of(weak, np.random.default_rng(0)).bound
        assert bound > epsilon * (1 + 1e-6)
    row = releases.judge(found, np.random.default_rng(1).spawn(5), releases.Limits(2000))
    assert row["verdict"].startswith("certified")


def test_the_centre_is_the_nearest_point_of_the_domain():
    few = replace(LIVER_MOMENTS, n_records=2)
    release = Centred(1 / 16).calibrate(few, **budget(few))

    def centre(release, noisy):
        """The centre for a noisy mean, with other answers as they are exactly."""

        def ask(part, value):
            return np.array(noisy)[:, None] if part is release.mean else value

        return release.run(Stack(np.zeros(release.query.shape)), ask).centre

    assert same_copies(centre(release, [5.0, -3, 0, 0, 0.5, 1]), [1, -1, 0, 0, 0.5, 1])
    ball = Centred().calibrate(BALL, epsilon=1, delta=0.01)
    np.testing.assert_allclose(centre(ball, [0, 0, 3.0, 4]), [0, 0, 1.2, 1.6])


def test_without_noise_it_is_the_second_moments_with_the_ridge_of_the_noise():
    release = Centred(1.0).calibrate(LIVER_MOMENTS, epsilon=1, delta=1 / 248)
    found = records(LIVER_MOMENTS)
    distribution = replace(release.about.noise, diagonal_std=1e-12, off_diagonal_std=1e-12)
    silent = replace(release, centre_std=0.0, about=replace(release.about, noise=distribution))
    ridge = moments_ridge(release.about.noise_std, 6) * np.eye(6)
    np.testing.assert_allclose(
        silent.simulate(found, streams(1))[0], second_moments(found) + ridge, atol=1e-10
    )
    assert np.isnan(release.noise_std)


@pytest.mark.parametrize("share", [0, -1, 1.01, float("nan")])
def test_bad_shares_are_refused(share):
    with pytest.raises(InputError, match="squared_radius_fraction is"):
        Centred(share)


@pytest.mark.parametrize("domain", [Box.cube(3, -1, 1), Ball(np.sqrt(3), 3)])
def test_the_noise_of_a_mean_covers_a_private_number(domain):
    query = SecondMomentQuery(domain, 400, "add_or_remove")
    # A record that comes changes the sum of (x, 1) by its norm, 2 at most.
    assert records_of(mean_query(query)).l2_sensitivity == pytest.approx(2)
    assert records_of(
        mean_query(replace(query, adjacency="zero_out"))
    ).l2_sensitivity == pytest.approx(3**0.5)
