"""Recommendations: from public facts, the least noise first, and true to a simulation."""

import numpy as np
import pytest
from exactness import same_copies

import matrixdp as mdp
from matrixdp.privacy.sensitivity import ADJACENCIES
from matrixdp.release.recommend import options

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
        {
            option.name: option
            for option in options(mdp.IdentityQuery(BOX, 50), **GIVEN, importance=one)
        }
        for one in (None, (100.0, 1.0))
    )
    half = np.array([0.5, 100.0])
    for option in plain.values():
        shares = np.sqrt(option.variances[:, 0]) / half
        assert shares[0] == pytest.approx(shares[1])
    isotropic, shaped = plain["Gaussian"].variances, weighted["DirectionalGaussian"].variances
    assert shaped[0, 0] < isotropic[0, 0]
    assert shaped[1, 0] > isotropic[1, 0]


QUERIES = [mdp.IdentityQuery, mdp.MeanQuery, mdp.SecondMomentQuery]


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("kind", QUERIES)
def test_the_unit_of_a_column_changes_no_noise_in_that_unit(kind, adjacency, delta):
    sizes = np.array([1.0, 1000.0, 0.01])
    unit, other = (
        options(
            kind(mdp.Box(tuple(sides * [-1.0, -1.0, -1.0]), tuple(sides)), 50, adjacency),
            epsilon=1,
            delta=delta,
            importance=(1.0, 3.0, 1.0),
        )
        for sides in (np.ones(3), sizes)
    )
    assert [option.name for option in unit] == [option.name for option in other]
    for one, two in zip(unit, other, strict=True):
        factor = np.outer(sizes, sizes) if kind is mdp.SecondMomentQuery else sizes[:, None]
        assert np.sqrt(two.variances) == pytest.approx(np.sqrt(one.variances) * factor)
        assert two.error == pytest.approx(one.error)
        assert two.release.epsilon_delivered == pytest.approx(one.release.epsilon_delivered)


def test_symmetric_noise_is_announced_for_symmetric_answers():
    query = mdp.SecondMomentQuery(BOX, 50)
    (plain,) = options(query, **GIVEN, mechanisms=[mdp.Gaussian()])
    (ensemble,) = options(query, **GIVEN, mechanisms=[mdp.GOE()])
    assert plain.variances == pytest.approx(ensemble.variances)
    released = plain.release.release(np.ones((50, 2)))
    assert same_copies(released, released.T)
    drawn = [plain.release.release(np.ones((50, 2))) for _ in range(1000)]
    assert np.var(drawn, axis=0) == pytest.approx(plain.variances, rel=0.3)


def test_sorted_and_pure_leaves_out_what_needs_a_delta():
    listed = options(mdp.SecondMomentQuery(BOX, 50), **GIVEN)
    assert [one.error for one in listed] == sorted(one.error for one in listed)
    assert len(listed) > 2
    (pure,) = options(mdp.SecondMomentQuery(BOX, 50), epsilon=1, delta=0)
    assert pure.name == "Laplace"
    assert pure.release.delta == 0
