"""Joint readings, and the claims that hold in them."""

import numpy as np
from sweeprows import CROSS, sweeps

from reproduction.report.claims import across
from reproduction.report.claims.definitions import Comparison, Row

MVG, LAPLACE, JL = (Row("regression", name) for name in ("mvg_binary", "laplace", "jl_2012"))
OPTIONS = {"epsilon": "1", "larger": False, "every": True}


def test_joint_readings_share_their_knobs_and_are_private(tmp_path):
    by_reading = across.read_reading_values("regression", sweeps(tmp_path, CROSS))
    one = Comparison(MVG, LAPLACE)
    assert across.count(by_reading, [one], **OPTIONS) == (1, 3, 100)
    other = Comparison(one.second, one.first)
    assert across.count(by_reading, [other], **OPTIONS) == (2, 3, 100)
    assert across.count(by_reading, [one, other], **OPTIONS) == (0, 3, 100)
    either = {**OPTIONS, "every": False}
    assert across.count(by_reading, [one, other], **either) == (3, 3, 100)
    unknown = Comparison(Row("regression", "goe"), one.second)
    assert across.count(by_reading, [unknown], **OPTIONS) == (None, None, None)
    assert across.read_reading_values("first_pc", sweeps(tmp_path, CROSS)) is None


def test_readings_are_compared_by_the_differences_of_shared_trials(tmp_path):
    # The spread that trials share, 5, would hide a difference of 1.
    by_reading = across.read_reading_values("regression", sweeps(tmp_path, CROSS))
    assert by_reading.values.std(axis=1).min() > 3
    assert across.count(by_reading, [Comparison(LAPLACE, MVG)], **OPTIONS).holding == 2
    np.testing.assert_allclose(
        by_reading.values.mean(axis=1) - by_reading.values.mean(axis=1)[0],
        by_reading.table["mean"].astype(float) - 2.0,
        atol=1e-9,
    )


def test_a_row_that_has_one_kernel_alone_is_compared_under_it_alone(tmp_path):
    rows = [*CROSS, ("jl_2012", True, 0.6, 0.1, "", "linear", "")]
    by_reading = across.read_reading_values("regression", sweeps(tmp_path, rows))
    count = across.count(by_reading, [Comparison(JL, MVG)], **OPTIONS)
    # Of the three private readings of MVG two have the linear kernel.
    assert count == (1, 2, 100)


def test_a_larger_metric_may_be_better_and_factors_and_amounts_count(tmp_path):
    means = {"mvg_binary": 18.0, "laplace": 20.0}
    rows = [(name, True, mean, 0.1, "", "", "") for name, mean in means.items()]
    by_reading = across.read_reading_values("regression", sweeps(tmp_path, rows))

    def holds(*comparison, **options):
        return across.count(by_reading, [Comparison(*comparison)], **{**OPTIONS, **options}).holding

    assert holds(MVG, LAPLACE) == 1
    assert holds(MVG, LAPLACE, larger=True) == 0
    assert holds(LAPLACE, MVG, larger=True) == 1
    for amount, found in ((1.5, 1), (2.5, 0)):
        assert holds(MVG, LAPLACE, "by", amount) == found
    # An amount that is not surely reached is not there.
    assert holds(MVG, LAPLACE, "by", 1.99) == 0
    for amount, found in ((1.05, 1), (1.3, 0)):
        assert holds(MVG, LAPLACE, "times", amount) == found
        assert holds(LAPLACE, MVG, "times", amount, larger=True) == found
        assert holds(MVG, LAPLACE, "times", amount, larger=True) == 0
    for amount, found in ((2.5, 1), (1.5, 0)):
        assert holds(LAPLACE, MVG, "within", amount) == found
    assert holds(MVG, LAPLACE, "within", 0.0) == 1
