import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixdp.mechanisms.allocation import Shares
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Box, IdentityQuery
from reproduction.mechanisms.gaussian import IMGM
from reproduction.mechanisms.mvg import MVG

LIMIT = gaussian.mu(1, 1e-3)


@given(
    st.integers(1, 6).flatmap(
        lambda m: st.tuples(*[st.lists(st.floats(0.05, 20), min_size=m, max_size=m)] * 3)
    )
)
@settings(max_examples=100, deadline=None)
def test_exact_directional_noise_costs_least_and_mvg_most(numbers):
    """Weighted mean squared error: optimal <= i.i.d. at the same budget <= MVG, whatever theta."""
    widths, weights, raw = map(np.array, numbers)
    query = IdentityQuery(Box((0,) * len(widths), tuple(widths)), 20)
    theta = Shares(tuple(raw / raw.sum()))

    def cost(mechanism):
        release = mechanism.calibrate(query, epsilon=1, delta=1e-3)
        deviations = np.broadcast_to(release.noise.row_factor, widths.shape)
        return weights @ deviations**2

    optimal = cost(DirectionalGaussian(weights=tuple(weights)))
    assert optimal == pytest.approx((widths @ np.sqrt(weights)) ** 2 / LIMIT**2, rel=1e-9)
    assert optimal <= cost(IMGM()) * (1 + 1e-9)
    assert optimal <= cost(DirectionalGaussian(theta)) * (1 + 1e-9)
    assert cost(IMGM()) <= cost(MVG(allocation=theta))
    shared = widths * np.sqrt(weights) / (widths @ np.sqrt(weights))
    assert optimal == pytest.approx(cost(DirectionalGaussian(Shares(tuple(shared)))), rel=1e-9)
