import pytest

from matrixdp.mechanisms.mechanism import NoGuarantee
from matrixdp.privacy import gaussian_dp
from reproduction.mechanisms.gaussian import standard_deviation


@pytest.mark.parametrize(
    ("delta", "calibration", "expected"),
    [
        (1 / 248, "2014", 3.387203),
        (1 / 248, "2006", 3.523230),
        (1 / 248, "analytic", 2.164230),
        (1 / 2126, "2014", 3.971181),
        (1 / 2126, "2006", 4.087822),
        (1 / 2126, "analytic", 2.783243),
        (1 / 10176, "2014", 4.347627),
        (1 / 10176, "2006", 4.454421),
        (1 / 10176, "analytic", 3.190058),
        (1e-5, "2014", 4.844805),
        (1e-5, "2006", 4.940865),
        (1e-5, "analytic", 3.730632),
    ],
)
def test_standard_deviations_per_unit_of_sensitivity(delta, calibration, expected):
    for sensitivity in (1, 0.01):
        sigma = standard_deviation(sensitivity, epsilon=1, delta=delta, calibration=calibration)
        assert sigma == pytest.approx(sensitivity * expected, rel=1e-6)


@pytest.mark.parametrize(
    ("delta", "calibration", "last"),
    [
        (1e-5, "2014", 8.420),
        (1 / 248, "2014", 7.071),
        (1 / 2126, "2014", 7.650),
        (1 / 10176, "2014", 7.995),
        (1e-5, "2006", 9.391),
        (1 / 248, "2006", 8.165),
        (1 / 2126, "2006", 8.681),
        (1 / 10176, "2006", 8.996),
    ],
)
def test_the_classical_constants_are_refused_from_where_they_fail(delta, calibration, last):
    good = standard_deviation(1, epsilon=last - 1e-3, delta=delta, calibration=calibration)
    assert gaussian_dp.delta(last - 1e-3, 1 / good) == pytest.approx(delta, rel=2e-3)
    with pytest.raises(NoGuarantee, match="use a smaller epsilon or the analytic calibration"):
        standard_deviation(1, epsilon=last + 1e-3, delta=delta, calibration=calibration)
