import numpy as np

from matrixdp import checks


def test_numbers_have_their_grammatical_number():
    assert [checks.plural(k, "record") for k in (0, 1, 2)] == ["0 records", "1 record", "2 records"]


def test_count_takes_a_whole_float_and_numpy():
    assert checks.count(trials=3.0) == 3
    assert checks.count(trials=np.int64(3)) == 3


def test_a_decimal_of_fewer_digits_is_the_decimal_that_is_stated():
    assert checks.budget(epsilon=np.float32(0.1)) == 0.1
    assert checks.delta(delta=np.float16(1e-6)) != float(np.float16(1e-6))


def test_array_accepts_large_numbers_whose_sum_overflows():
    assert np.isfinite(checks.array(x=[1e308, 1e308])).all()
