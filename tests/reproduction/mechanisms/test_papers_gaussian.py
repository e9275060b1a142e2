import dataclasses

import numpy as np
import pytest
from exactness import same_draws
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanismqueries import CTG, LIVER, MOVEMENT, assert_standard, budget, streams

from matrixdp.checks import InputError
from matrixdp.mechanisms.gaussian import GOE, AnalyzeGauss, Gaussian
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Box, IdentityQuery, SecondMomentQuery
from reproduction.mechanisms.gaussian import IMGM
from reproduction.mechanisms.gaussian import MECHANISMS as registry


@pytest.mark.parametrize(
    ("mechanism", "query", "std"),
    [
        (IMGM(), LIVER, 10.602516),
        (IMGM(), CTG, 12.754423),
        (IMGM(), MOVEMENT, 17.733582),
        (registry["analyze_gauss"].build(), MOVEMENT, 17.089729),
        (AnalyzeGauss("2006"), MOVEMENT, 17.509520),
        (AnalyzeGauss(), MOVEMENT, 12.539536),
        # 17.733582 on the diagonal, sqrt(2) less off it
        (GOE(), MOVEMENT, 17.733582 * np.sqrt((4 + 12 / 2) / 16)),
    ],
)
def test_noise_of_the_papers_experiments(mechanism, query, std):
    release = mechanism.calibrate(query, **budget(query))
    assert release.noise_std == pytest.approx(std, rel=1e-6)
    assert release.epsilon_exact
    assert release.delta == 1 / query.n_records
    assert release.epsilon_delivered <= 1 + 1e-9


MECHANISMS = [
    Gaussian(),
    Gaussian("2006"),
    Gaussian("2014"),
    IMGM(),
    AnalyzeGauss(),
    AnalyzeGauss("2006"),
    AnalyzeGauss("2014"),
    GOE(),
]


@given(
    st.sampled_from(MECHANISMS),
    st.sampled_from([LIVER, MOVEMENT, CTG]),
    st.floats(0.01, 6),
    st.floats(1e-12, 1e-3),
)
@settings(max_examples=60, deadline=None)
def test_the_real_guarantee_is_never_worse_than_the_nominal_one(mechanism, query, epsilon, delta):
    if type(query) not in mechanism.queries:
        return
    release = mechanism.calibrate(query, epsilon=epsilon, delta=delta)
    assert gaussian.delta(epsilon, release.mu) <= delta * (1 + 1e-9)
    assert release.epsilon_delivered <= epsilon * (1 + 1e-9)
    if getattr(mechanism, "calibration", "analytic") == "analytic":
        assert gaussian.delta(epsilon, release.mu) == pytest.approx(delta, rel=1e-9)


@given(st.floats(0.01, 20), st.floats(1e-12, 0.3), st.sampled_from([LIVER, MOVEMENT, CTG]))
@settings(max_examples=30, deadline=None)
def test_imgm_without_factors_is_the_analytic_gaussian_mechanism(epsilon, delta, query):
    first = IMGM().calibrate(query, epsilon=epsilon, delta=delta)
    second = Gaussian().calibrate(query, epsilon=epsilon, delta=delta)
    assert (first.noise_std, first.mu) == (second.noise_std, second.mu)
    assert first.noise_std == query.l2_sensitivity / gaussian.mu(epsilon, delta)


@pytest.mark.parametrize("k", [0.5, 3])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_noise_scales_with_the_data(mechanism, k):
    for kind, power in ((IdentityQuery, 1), (SecondMomentQuery, 2)):
        small, large = (kind(Box.cube(3, -side, side), 50) for side in (1, k))
        if type(small) in mechanism.queries:
            stds = [mechanism.calibrate(q, epsilon=1, delta=1e-3).noise_std for q in (small, large)]
            assert stds[1] == pytest.approx(k**power * stds[0])


def test_a_sensitivity_that_is_only_a_bound_makes_mu_a_bound():
    unequal = SecondMomentQuery(Box((-1, -2), (2, 1)), 50)
    for mechanism in MECHANISMS:
        release = mechanism.calibrate(unequal, epsilon=1, delta=1e-3)
        assert not release.epsilon_exact


def test_the_law_of_iid_noise():
    value = np.full(LIVER.shape, -1.0)
    noise = IMGM().calibrate(LIVER, **budget(LIVER)).simulate(value, streams(1000)) - value
    assert_standard(noise / 10.602516)


def test_each_trial_depends_on_its_own_stream():
    release = IMGM().calibrate(LIVER, **budget(LIVER))
    value = np.zeros((3, *LIVER.shape))
    noisy = release.simulate(value, streams(3))
    assert same_draws(noisy[2:], release.simulate(value[2:], streams(3)[2:]))
    assert not same_draws(noisy[0], noisy[1])


@pytest.mark.parametrize(
    ("value", "count", "message"),
    [
        (np.zeros((6, 247)), 1, r"value has shape \(6, 247\); it must end in 6 x 248"),
        (np.full((6, 248), np.nan), 1, "value is nan"),
        (np.full((6, 248), 1.5), 1, "outside its public bounds .* clip the data"),
        (np.zeros((6, 248)), 0, "streams are empty"),
        (np.zeros((2, 6, 248)), 3, "for 3 streams; give one value, or one per stream"),
        (np.zeros((1, 3, 6, 248)), 3, "for 3 streams"),
    ],
)
def test_bad_values_and_streams(value, count, message):
    release = IMGM().calibrate(LIVER, **budget(LIVER))
    with pytest.raises(InputError, match=message):
        release.simulate(value, streams(count))


def test_releases_are_frozen():
    release = IMGM().calibrate(LIVER, **budget(LIVER))
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.noise_std = 0.0
