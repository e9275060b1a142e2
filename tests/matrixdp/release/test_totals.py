"""Refusals of an account say what would fit, and rooms are those of what is planned."""

import re

import numpy as np
import pytest

import matrixdp as mdp


def test_a_fit_that_does_not_fit_is_refused_at_the_price_of_the_cheapest_mechanism(tmp_path):
    account = mdp.Account(tmp_path / "a.privacy.json", epsilon=1, delta=1e-5)
    records = np.random.default_rng(0).uniform(0, 1, (400, 3))
    for _ in range(2):
        mdp.Covariance(epsilon=0.5, delta=1e-6, bounds=(0, 1), account=account).fit(records)
    with pytest.raises(mdp.InputError, match="would be spent of 1") as refusal:
        mdp.Covariance(epsilon=0.9, delta=1e-6, bounds=(0, 1), account=account).fit(records)
    (spent,) = re.findall(r"release epsilon ([\d.]+) would", str(refusal.value))
    assert 1 < float(spent) < 1.2
