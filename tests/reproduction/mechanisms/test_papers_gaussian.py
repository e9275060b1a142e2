import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanismqueries import CTG, LIVER, MOVEMENT, budget

from matrixdp.mechanisms.gaussian import AnalyzeGauss, Gaussian
from matrixdp.privacy import gaussian_dp
from reproduction.mechanisms.gaussian import IMGM, AnalyzeGaussOfYear
from reproduction.mechanisms.gaussian import MECHANISMS as registry


@pytest.mark.parametrize(
    ("mechanism", "query", "std"),
    [
        (IMGM(), LIVER, 10.602516),
        (IMGM(), CTG, 12.754423),
        (IMGM(), MOVEMENT, 17.733582),
        (registry["analyze_gauss"].build(), MOVEMENT, 17.089729),
        (AnalyzeGaussOfYear("2006"), MOVEMENT, 17.509520),
        (AnalyzeGauss(), MOVEMENT, 12.539536),
        # 17.733582 on the diagonal, sqrt(2) less off it
        (Gaussian(), MOVEMENT, 17.733582 * np.sqrt((4 + 12 / 2) / 16)),
    ],
)
def test_noise_of_the_papers_experiments(mechanism, query, std):
    release = mechanism.calibrate(query, **budget(query))
    assert release.noise_std == pytest.approx(std, rel=1e-6)
    assert release.tight
    assert release.delta == 1 / query.n_records
    assert release.epsilon_delivered <= 1 + 1e-9


@given(st.floats(0.01, 20), st.floats(1e-12, 0.3), st.sampled_from([LIVER, MOVEMENT, CTG]))
@settings(max_examples=30, deadline=None)
def test_imgm_without_factors_is_the_analytic_gaussian_mechanism(epsilon, delta, query):
    first = IMGM().calibrate(query, epsilon=epsilon, delta=delta)
    expected = query.l2_sensitivity / gaussian_dp.mu(epsilon, delta)
    assert first.noise_std == pytest.approx(expected, rel=1e-12)
    # On second moments the library's Gaussian noise is the symmetric ensemble.
    if query is not MOVEMENT:
        second = Gaussian().calibrate(query, epsilon=epsilon, delta=delta)
        own = pytest.approx((second.noise_std, second.mu), rel=1e-12)
        assert (first.noise_std, first.mu) == own
