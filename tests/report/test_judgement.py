from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from matrixdp.report.judgement import implied, verdict


def test_verdict_on_the_border_and_without_interval():
    assert verdict(5.0, 3.0, 10.0, 4.0) == "within"
    assert verdict(5.0, 3.0, 10.0 + 1e-9, 4.0) == "higher"
    assert verdict(5.0, 3.0, -1e-9, 4.0) == "lower"
    assert verdict(0.0, 0.0, 3e-17, 0.0) == "within"
    assert verdict(5.0, 3.0, 10.0, float("nan")) == ""


def test_implied_epsilon_needs_a_bracket_and_ignores_wiggles():
    def curve(*means, noise=(4.0, 2.0, 1.0)):
        return pd.DataFrame({"epsilon": [0.1, 1.0, 10.0], "mean": means, "noise_std": noise})

    assert np.isnan(implied(curve(8.0, 4.0, 2.0), 1.99)).all()
    assert np.isnan(implied(curve(8.0, 4.0, 2.0), 8.01)).all()
    assert np.isnan(implied(curve(8.0, 4.0, 2.0), 0.0)).all()
    assert implied(curve(8.0, 4.0, 2.0), 4.0) == pytest.approx((1.0, 2.0))
    # A rise between the first two is levelled to 6, so that 7 is never met.
    assert np.isnan(implied(curve(5.0, 7.0, 2.0), 6.5)).all()
    assert implied(curve(5.0, 7.0, 1.5), 3.0)[0] == pytest.approx(np.sqrt(10.0))
    epsilon, noise = implied(curve(8.0, 4.0, 2.0, noise=[np.nan] * 3), 4.0)
    assert epsilon == pytest.approx(1.0)
    assert np.isnan(noise)
