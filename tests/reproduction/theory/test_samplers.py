import numpy as np
import pandas as pd
import pytest

from matrixdp.noise import distributions
from reproduction.theory import samplers


def test_both_samplers_pass_and_the_exchanged_product_fails_everywhere():
    p = samplers.p_values(11)
    assert min(*p["affine"].values(), *p["kronecker"].values()) > 1e-4
    assert max(p["wrong_order"].values()) < 1e-99


@pytest.mark.parametrize(("test", "scale"), [("scale", 1.01), ("shape", 1.05), ("distances", 1.02)])
def test_each_test_rejects_a_wrong_scale(test, scale):
    factors = [np.linalg.cholesky(matrix) for matrix in (samplers.SIGMA, samplers.PSI)]
    stream = np.random.default_rng(0)
    stack = distributions.MatrixNormal((4, 3), *factors).sample([stream] * samplers.DRAWS)
    assert samplers.agreement(stack)[test] > 1e-3
    assert samplers.agreement(scale * stack)[test] < 1e-3


def test_times_have_a_median_and_a_slope_per_method(monkeypatch):
    monkeypatch.setattr(samplers, "SIZES", {"m = n": (4, 8, 16), "m = 6": (8, 16, 1024)})
    monkeypatch.setattr(samplers, "PATIENCE", 0.01)
    monkeypatch.setattr(samplers, "LARGEST_DENSE", 16)
    monkeypatch.setattr(samplers, "LARGEST_PRODUCT", 100)
    table = samplers.sampler_times(0)
    assert (table["seconds"] > 0).all()
    assert (table["repeats"] >= 3).all()
    assert table.groupby(["method", "case"])["slope"].nunique().eq(1).all()
    largest = table[table["n"].eq(1024)]
    assert set(largest["method"]) == {"unimodal"}
    kronecker = table[table["method"].eq("kronecker")]
    assert (kronecker["m"] * kronecker["n"]).max() <= 100


def multiplications_of_cholesky(size):
    count = 0
    for column in range(size):
        # A root on the diagonal, and divisions below it.
        count += sum(column + 1 for _ in range(column, size))
    return count


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 5), (7, 3)])
def test_operations_are_those_of_the_algorithms(m, n):
    square = multiplications_of_cholesky
    assert samplers.unimodal(m, n) == m * m + m * m * n
    assert samplers.affine(m, n) == square(m) + square(n) + m * m * n + m * n * n
    assert samplers.kronecker(m, n) == 2 * (m * n) ** 2 + square(m * n)
    assert samplers.algorithm_1(m, n) == m**3 + m * m + square(m) + m * m * n


def test_the_slope_is_that_of_a_power_law():
    n = np.array([2, 4, 8, 16, 32])
    times = pd.DataFrame({"n": n, "seconds": 1e-6 * n**2.5})
    times.loc[0, "seconds"] = 1.0
    assert samplers.slope(times) == pytest.approx(2.5)
