import numpy as np
import pytest

from reproduction.mechanisms.noise import MatrixNormal
from reproduction.theory import samplers


def test_both_samplers_pass_and_the_exchanged_product_fails_everywhere():
    p = samplers.p_values(11)
    assert min(*p["affine"].values(), *p["kronecker"].values()) > 1e-4
    assert max(p["wrong_order"].values()) < 1e-99


@pytest.mark.parametrize(("test", "scale"), [("scale", 1.01), ("shape", 1.05), ("distances", 1.02)])
def test_each_test_rejects_a_wrong_scale(test, scale):
    factors = [np.linalg.cholesky(matrix) for matrix in (samplers.SIGMA, samplers.PSI)]
    stream = np.random.default_rng(0)
    stack = MatrixNormal((4, 3), *factors).sample(stream, samplers.DRAWS)
    assert samplers.agreement(stack)[test] > 1e-3
    assert samplers.agreement(scale * stack)[test] < 1e-3


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
