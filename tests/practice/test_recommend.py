"""Recommendations: from public facts, the least noise first, and true to a simulation."""

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.practice.recommend import options

BOX = mdp.Box((0.0, 0.0), (1.0, 200.0))
GIVEN = {"epsilon": 1, "delta": 1e-6}


def test_public_names_exist_and_are_few():
    assert len(mdp.__all__) < 30
    assert all(getattr(mdp, name) is not None for name in mdp.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(mdp, "nothing")  # noqa: B009


@pytest.mark.parametrize("query", [mdp.IdentityQuery(BOX, 50), mdp.SecondMomentQuery(BOX, 50)])
@pytest.mark.parametrize("importance", [None, (1.0, 5.0)])
def test_predicted_error_is_that_of_draws(query, importance):
    for option in options(query, **GIVEN, importance=importance):
        streams = [np.random.default_rng(seed) for seed in range(4000)]
        noise = option.release.noise.sample(streams)
        variances = (noise**2).mean(axis=0)
        if isinstance(query, mdp.IdentityQuery):
            variances = variances.mean(axis=1, keepdims=True)
        assert option.variances == pytest.approx(variances, rel=0.2)


def test_units_do_not_count_and_importance_does():
    plain, weighted = (
        options(mdp.IdentityQuery(BOX, 50), **GIVEN, importance=importance)[0]
        for importance in (None, (100.0, 1.0))
    )
    half = np.array([0.5, 100.0])
    shares = np.sqrt(plain.variances[:, 0]) / half
    assert shares[0] == pytest.approx(shares[1])
    assert weighted.variances[0, 0] < plain.variances[0, 0]
    assert weighted.variances[1, 0] > plain.variances[1, 0]


def test_sorted_and_pure_leaves_out_what_needs_a_delta():
    listed = options(mdp.SecondMomentQuery(BOX, 50), **GIVEN)
    assert [one.error for one in listed] == sorted(one.error for one in listed)
    assert len(listed) > 2
    (pure,) = options(mdp.SecondMomentQuery(BOX, 50), epsilon=1, delta=0)
    assert pure.name == "Laplace"
    assert pure.release.delta == 0


def test_recommended_mechanism_releases():
    mechanism = mdp.recommend(mdp.IdentityQuery(BOX, 50), **GIVEN)
    release = mechanism.calibrate(mdp.IdentityQuery(BOX, 50), **GIVEN)
    assert release.sample_once(np.ones((50, 2))).shape == (50, 2)


@pytest.mark.parametrize("importance", [(1.0,), (1.0, 0.0), (1.0, float("nan"))])
def test_bad_importance_is_refused(importance):
    with pytest.raises(mdp.InputError, match="importance"):
        options(mdp.IdentityQuery(BOX, 50), **GIVEN, importance=importance)
