from dataclasses import replace

import numpy as np
import pytest

from matrixdp.auditing.neighbours import changes, worst
from matrixdp.privacy.sensitivity import Ball, Box, RecordsQuery, SecondMomentQuery
from reproduction.auditing import attacks

QUERIES = [
    RecordsQuery(Box((-1, 0, 2), (1, 3, 5)), 10),
    RecordsQuery(Box.cube(4, 0, 1), 7, "zero_out"),
    SecondMomentQuery(Box.cube(4, -1, 1), 10),
    SecondMomentQuery(Box.cube(5, -1, 1), 10),
    SecondMomentQuery(Box.cube(6, 0, 1), 10),
    SecondMomentQuery(Box.cube(5, -2, 2), 10, "zero_out"),
    RecordsQuery(Ball(2.0, 3), 5),
    SecondMomentQuery(Ball(2.0, 3), 5),
]


def given(seed=0):
    return np.random.default_rng(seed).spawn(2)


@pytest.mark.parametrize("query", QUERIES, ids=repr)
def test_the_search_attains_declared_sensitivities_and_never_passes_them(query):
    tolerance = 0.02 if isinstance(query.domain, Ball) else 1e-9
    for name, measure in attacks.measures(query).items():
        row = attacks.attack(query, name, measure, given())
        assert row["verdict"].startswith("holds")
        assert row["replayed"] == pytest.approx(row["found"], rel=1e-9)
        if "l1" not in name and query.l2_tight:
            assert row["found"] > measure[0] * (1 - tolerance), name


@pytest.mark.parametrize("name", ["l1", "l2", "l1, upper triangle", "l2, upper triangle"])
def test_a_sensitivity_that_is_one_percent_too_small_is_refuted(name):
    query = SecondMomentQuery(Box.cube(4, -1, 1), 10)
    declared, norm = attacks.measures(query)[name]
    for factor, verdict in ((1.0, "holds, attained"), (0.99, "violated")):
        row = attacks.attack(query, name, (factor * declared, norm), given())
        assert row["verdict"] == verdict


def test_changes_are_those_of_f():
    query, rng = SecondMomentQuery(Box.cube(3, -1, 1), 4), np.random.default_rng(0)
    data = rng.uniform(-1, 1, (3, 4))
    other = data.copy()
    other[:, 2] = rng.uniform(-1, 1, 3)
    change = changes(query, data[None, :, 2], other[None, :, 2])[0]
    np.testing.assert_allclose(change, (data @ data.T - other @ other.T) / 4, atol=1e-15)


def test_a_removed_record_is_zero_and_neighbours_stay_in_the_domain():
    def size(d):
        return np.linalg.norm(d, axis=(-2, -1))

    query = RecordsQuery(Ball(2.0, 3), 5)
    pair = worst(query, size, given()[0])
    assert max(np.linalg.norm(pair.record), np.linalg.norm(pair.other)) <= 2 * (1 + 1e-12)
    pair = worst(replace(query, adjacency="zero_out"), size, given()[0])
    assert not pair.other.any()
    assert pair.size == pytest.approx(2)
