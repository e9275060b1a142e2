"""Recommendations: from public facts, the least noise first, in the units of the columns."""

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.privacy.sensitivity import ADJACENCIES
from matrixdp.release.comparison import compare_mechanisms, variances

BOX = mdp.Box((0.0, 0.0), (1.0, 200.0))
GIVEN = {"epsilon": 1, "delta": 1e-6}


QUERIES = [mdp.RecordsQuery, mdp.MeanQuery, mdp.SecondMomentQuery]


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("kind", QUERIES)
def test_the_unit_of_a_column_changes_no_noise_in_that_unit(kind, adjacency, delta):
    sizes = np.array([1.0, 1000.0, 0.01])
    unit, other = (
        compare_mechanisms(
            kind(mdp.Box(tuple(sides * [-1.0, -1.0, -1.0]), tuple(sides)), 50, adjacency),
            epsilon=1,
            delta=delta,
        )
        for sides in (np.ones(3), sizes)
    )
    assert [option.name for option in unit] == [option.name for option in other]
    for one, two in zip(unit, other, strict=True):
        factor = np.outer(sizes, sizes) if kind is mdp.SecondMomentQuery else sizes[:, None]
        assert np.sqrt(variances(two.release)) == pytest.approx(
            np.sqrt(variances(one.release)) * factor
        )
        assert two.error == pytest.approx(one.error)
        assert two.release.epsilon_delivered == pytest.approx(one.release.epsilon_delivered)


def test_sorted_and_pure_leaves_out_what_needs_a_delta():
    listed = compare_mechanisms(mdp.SecondMomentQuery(BOX, 50), **GIVEN)
    assert [one.error for one in listed] == sorted(one.error for one in listed)
    assert len(listed) > 2
    (pure,) = compare_mechanisms(mdp.SecondMomentQuery(BOX, 50), epsilon=1, delta=0)
    assert pure.name == "Laplace"
    assert pure.release.delta == 0
