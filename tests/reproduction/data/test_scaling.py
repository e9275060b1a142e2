import numpy as np
import pytest
from exactness import same_copies

from reproduction.data.scaling import METHODS, scale

RECORDS = np.array([[1.0, -2.0], [2.0, 0.5], [6.0, 0.0]])
NAMES = ("a", "b")

#: What a method needs besides the records.
GIVEN = {"bounds": {"lower": [-0.3] * 40, "upper": [0.7] * 40, "middle": [0.1] * 40}}


def test_each_method_on_numbers_worked_by_hand():
    scaled = scale(RECORDS, NAMES, method="centre_max_abs")
    np.testing.assert_allclose(scaled.matrix, [[-2 / 3, -1 / 3, 1], [-1, 2 / 3, 1 / 3]])
    assert scaled.constants == {"mean": [3.0, -0.5], "max_abs": [3.0, 1.5]}

    scaled = scale(RECORDS, NAMES, method="centre_clip")
    np.testing.assert_allclose(scaled.matrix, [[-1, -1, 1], [-1, 1, 0.5]])
    assert scaled.facts == {
        "records_clipped": 2,
        "share_of_records_clipped": 2 / 3,
        "entries_clipped": 3,
    }

    scaled = scale(RECORDS, NAMES, method="clip", rows=2)
    assert same_copies(scaled.matrix, [[1, 1], [-1, 0.5]])
    assert scaled.facts["records_clipped"] == 2

    scaled = scale(RECORDS, NAMES, method="min_max")
    np.testing.assert_allclose(scaled.matrix, [[0, 0.2, 1], [0, 1, 0.8]])
    assert (scaled.lower.tolist(), scaled.upper.tolist()) == ([0, 0], [1, 1])

    scaled = scale(RECORDS, NAMES, method="min_max_centre")
    np.testing.assert_allclose(scaled.matrix, [[-0.4, -0.2, 0.6], [-0.6, 0.4, 0.2]])
    np.testing.assert_allclose(scaled.lower, [-0.4, -0.6])
    np.testing.assert_allclose(scaled.upper, [0.6, 0.4])

    sides = {"lower": [0, -1], "upper": [4, 3], "middle": [0, 1]}
    scaled = scale(RECORDS, NAMES, method="bounds", **sides)
    np.testing.assert_allclose(scaled.matrix, [[0.25, 0.5, 1], [-1, -0.25, -0.5]])
    assert (scaled.lower.tolist(), scaled.upper.tolist()) == ([0, -1], [1, 1])
    assert scaled.facts["entries_clipped"] == 2


@pytest.mark.parametrize("method", METHODS)
def test_results_lie_in_the_box_exactly(method):
    rng = np.random.default_rng(3)
    for magnitude in (1e-12, 1.0, 1e9):
        records = rng.standard_normal((300, 40)) * magnitude + rng.normal(size=40) * magnitude
        names = [f"x{i}" for i in range(40)]
        scaled = scale(records, names, method=method, **GIVEN.get(method, {}))
        assert scaled.matrix.shape == (40, 300)
        assert scaled.matrix.flags.c_contiguous
        assert (scaled.matrix >= scaled.lower[:, None]).all()
        assert (scaled.matrix <= scaled.upper[:, None]).all()
