"""Joint readings, and the claims that hold in them."""

import numpy as np
import pytest
from sweeprows import CROSS, sweeps

from reproduction.report.claims import across
from reproduction.report.claims.definitions import Comparison, Row

MVG, LAPLACE, ZERO, JL = (
    Row("regression", name) for name in ("mvg_binary", "laplace", "zero", "jl_2012")
)
OPTIONS = {"epsilon": "1", "larger": False, "every": True}


def test_joint_readings_share_their_knobs_and_are_private(tmp_path):
    by_reading = across.read("regression", sweeps(tmp_path, CROSS))
    one = Comparison(MVG, LAPLACE)
    share = across.share(by_reading, [one], **OPTIONS)
    assert share == (1, 3, ("zeta=literal",), 0)
    other = Comparison(one.second, one.first)
    assert across.share(by_reading, [other], **OPTIONS)[:2] == (2, 3)
    assert across.share(by_reading, [one, other], **OPTIONS)[:2] == (0, 3)
    either = {**OPTIONS, "every": False}
    assert across.share(by_reading, [one, other], **either)[:2] == (3, 3)
    unknown = Comparison(Row("regression", "goe"), one.second)
    assert across.share(by_reading, [unknown], **OPTIONS) == (None, None, (), 0)
    assert across.read("first_pc", sweeps(tmp_path, CROSS)) is None


def test_what_a_baseline_meets_too_is_not_sure(tmp_path):
    one = Comparison(MVG, LAPLACE)
    baseline = Comparison(ZERO, one.second)
    options = {**OPTIONS, "baselines": [[baseline]]}
    for mean, sure in ((0.2, ((), 1)), (1.5, (("zeta=literal",), 0))):
        rows = [*CROSS, ("zero", True, mean, 0.1, "", "", "")]
        by_reading = across.read("regression", sweeps(tmp_path, rows))
        assert across.share(by_reading, [one], **options) == (1, 3, *sure)
    # A baseline that was not run cannot be asked.
    by_reading = across.read("regression", sweeps(tmp_path, CROSS))
    assert across.share(by_reading, [one], **options).sure == ("zeta=literal",)


def test_readings_are_compared_by_the_differences_of_shared_trials(tmp_path):
    # The spread that trials share, 5, would hide a difference of 1.
    by_reading = across.read("regression", sweeps(tmp_path, CROSS))
    assert by_reading.values.std(axis=1).min() > 3
    assert across.share(by_reading, [Comparison(LAPLACE, MVG)], **OPTIONS).holding == 2
    np.testing.assert_allclose(
        by_reading.values.mean(axis=1) - by_reading.values.mean(axis=1)[0],
        by_reading.table["mean"].astype(float) - 2.0,
        atol=1e-9,
    )


def test_a_row_that_has_one_kernel_alone_is_compared_under_it_alone(tmp_path):
    rows = [*CROSS, ("jl_2012", True, 0.6, 0.1, "", "linear", "")]
    by_reading = across.read("regression", sweeps(tmp_path, rows))
    share = across.share(by_reading, [Comparison(JL, MVG)], **OPTIONS)
    # Of the three private readings of MVG two have the linear kernel.
    assert share[:2] == (1, 2)


def test_a_larger_metric_may_be_better_and_factors_and_amounts_count(tmp_path):
    means = {"mvg_binary": 18.0, "laplace": 20.0}
    rows = [(name, True, mean, 0.1, "", "", "") for name, mean in means.items()]
    by_reading = across.read("regression", sweeps(tmp_path, rows))

    def holds(*comparison, **options):
        return across.share(by_reading, [Comparison(*comparison)], **{**OPTIONS, **options}).holding

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


@pytest.mark.parametrize(("count", "sure"), [(1, True), (3, False)])
def test_what_is_sure_is_corrected_for_the_number_of_readings(tmp_path, count, sure):
    # A difference that is clear at 0.05, p being about 0.025, and not at 0.05 / 3.
    cells = [("sqrt", "linear"), ("sqrt", "rbf"), ("literal", "linear")][:count]
    rows = [("mvg_binary", True, 1.0, 0.1, *cell, "") for cell in cells]
    kernels = sorted({kernel for _, kernel in cells})
    rows += [("laplace", True, 1.16, 0.1, "", kernel, "") for kernel in kernels]
    by_reading = across.read("regression", sweeps(tmp_path, rows))
    share = across.share(by_reading, [Comparison(MVG, LAPLACE)], **OPTIONS)
    assert share.holding == share.total == count
    assert bool(share.sure) is sure


def test_a_baseline_that_meets_it_by_chance_alone_voids_nothing(tmp_path):
    # MVG is clearly better under two readings; the baseline at p = .025, one of four tests.
    rows = [("mvg_binary", True, 1.0, 0.1, root, "linear", "") for root in ("sqrt", "literal")]
    rows += [("laplace", True, 2.0, 0.1, "", "linear", "")]
    for mean, void in ((1.84, False), (1.2, True)):
        by_reading = across.read(
            "regression", sweeps(tmp_path, [*rows, ("zero", True, mean, 0.1, "", "", "")])
        )
        baselines = [[Comparison(ZERO, LAPLACE)]]
        alone = across.share(by_reading, *baselines, **OPTIONS)
        assert alone.holding == alone.total == 1
        share = across.share(by_reading, [Comparison(MVG, LAPLACE)], **OPTIONS, baselines=baselines)
        assert len(share.sure) == (0 if void else 2)
        assert share.met_by_baseline == (2 if void else 0)
