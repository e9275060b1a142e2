"""The two data sets of a black box: the records of one person among all others'."""

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.auditing import draws
from matrixdp.auditing.neighbours import farthest

#: Bounds without zero, and the record of theirs that is nearest to it.
FAR, NEAREST = mdp.Box((2.0, -9.0), (3.0, -5.0)), [2.0, -5.0]


@pytest.mark.parametrize("per_person", [None, 2])
@pytest.mark.parametrize(
    ("adjacency", "null"), [("replace", None), ("zero_out", 0.0), ("add_or_remove", None)]
)
def test_all_others_are_in_bounds_and_the_neighbour_differs_in_a_person(
    adjacency, null, per_person
):
    query = mdp.SecondMomentQuery(FAR, 7, adjacency, per_person=per_person)
    pair = farthest(query)
    first, second = draws.data_sets(query, pair)
    k = per_person or 1
    np.testing.assert_allclose(first[:, :k].T, np.atleast_2d(pair.record))
    np.testing.assert_allclose(first[:, k:].T, [NEAREST] * (7 - k))
    np.testing.assert_allclose(second[:, second.shape[1] - 7 + k :], first[:, k:])
    # A private number of records shows in the data set, and not as a record of zeros.
    assert second.shape[1] == (7 - k if adjacency == "add_or_remove" else 7)
    if adjacency == "replace":
        np.testing.assert_allclose(second[:, :k].T, np.atleast_2d(pair.other))
    if null is not None:
        np.testing.assert_allclose(second[:, :k], null)


def test_a_data_set_has_room_for_a_person_with_more_records_than_are_stated():
    query = mdp.SecondMomentQuery(mdp.Ball(1.0, 2), 3, "add_or_remove", per_person=5)
    first, second = draws.data_sets(query, farthest(query))
    assert first.shape == (2, 5)
    assert second.shape == (2, 0)
