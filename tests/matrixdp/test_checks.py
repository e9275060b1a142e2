import numpy as np
import pytest

from matrixdp import checks
from matrixdp.checks import InputError


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", None, True, [1, 2]])
def test_positive_names_the_argument_the_value_and_what_is_allowed(bad):
    with pytest.raises(InputError, match=r"^epsilon is .*; it must be a finite number above 0$"):
        checks.positive(epsilon=bad)


@pytest.mark.parametrize("bad", [0, 1, 1.5, -0.1, float("nan")])
def test_open_unit_excludes_its_ends(bad):
    with pytest.raises(InputError, match="delta is .* strictly between 0 and 1"):
        checks.open_unit(delta=bad)


def test_numbers_have_their_grammatical_number():
    assert [checks.plural(k, "record") for k in (0, 1, 2)] == ["0 records", "1 record", "2 records"]


@pytest.mark.parametrize("bad", [0, -3, 1.5, float("inf"), "7"])
def test_count_is_whole_and_positive(bad):
    with pytest.raises(InputError, match="trials is .* whole number"):
        checks.count(trials=bad)


def test_count_takes_a_whole_float_and_numpy():
    assert checks.count(trials=3.0) == 3
    assert checks.count(trials=np.int64(3)) == 3


def test_choice_names_the_nearest():
    with pytest.raises(InputError, match="dataset is 'livr'; did you mean 'liver'"):
        checks.choice(["liver", "cora"], dataset="livr")


def test_array_says_where_it_is_not_finite():
    with pytest.raises(InputError, match=r"x is nan at index \(1, 0\)"):
        checks.array(x=[[1.0], [np.nan]])
    with pytest.raises(InputError, match="x is inf"):
        checks.array(x=[np.inf, -np.inf])


def test_array_accepts_large_numbers_whose_sum_overflows():
    assert np.isfinite(checks.array(x=[1e308, 1e308])).all()


@pytest.mark.parametrize("shape", [(3,), (2, 3), (5, 3)])
def test_array_checks_trailing_axes(shape):
    checks.array(shape=(None, 3), x=np.zeros((4, 2, 3)))
    if shape != (2, 3):
        with pytest.raises(InputError, match="x has shape .*; it must end in 2 x 3"):
            checks.array(shape=(2, 3), x=np.zeros(shape))


@pytest.mark.parametrize(
    ("theta", "message"),
    [([0.5, 0.6], "sums to 1.1"), ([1.5, -0.5], "above 0"), ([1.0, 0.0], "above 0")],
)
def test_shares(theta, message):
    with pytest.raises(InputError, match=message):
        checks.shares(theta=theta)


def test_orthonormal_rejects_a_stretched_basis():
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    assert checks.orthonormal(directions=rotation) is not None
    with pytest.raises(InputError, match="directions is off an orthonormal basis"):
        checks.orthonormal(directions=1.001 * rotation)


def test_an_epsilon_that_asks_for_infinite_noise_is_refused():
    with pytest.raises(InputError, match="epsilon is 1e-308; give at least 1e-100"):
        checks.privacy(1e-308, 1e-300)
