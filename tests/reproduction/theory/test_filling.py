import numpy as np
import pytest

from reproduction.mechanisms.allocation import printed_formula, quadratic_filling, water_filling
from reproduction.theory.filling import SPECTRUM, gain, numerical_optimum, optimality_residual

BUDGETS = np.logspace(-9, 2, 45)


@pytest.mark.parametrize("budget", BUDGETS)
def test_water_filling_is_the_numerical_optimum_and_others_are_worse(budget):
    water = water_filling(SPECTRUM, budget)
    best = gain(SPECTRUM, water)
    assert gain(SPECTRUM, numerical_optimum(SPECTRUM, budget)) == pytest.approx(best, rel=1e-7)
    assert gain(SPECTRUM, np.full(6, budget / 6)) <= best * (1 + 1e-12)
    # The limit of the quadratic filling is the wider one.
    assert gain(SPECTRUM, quadratic_filling(SPECTRUM, budget)) >= best * (1 - 1e-12)
    assert optimality_residual(SPECTRUM, water) < 1e-12
    printed = printed_formula(SPECTRUM, budget)
    assert (printed.min() >= 0) == (budget >= 2.3306)
    if printed.min() >= 0:
        np.testing.assert_allclose(printed, water, rtol=1e-9)


def test_the_conditions_of_optimality_catch_another_allocation():
    u = water_filling(SPECTRUM, 1.0)
    assert optimality_residual(SPECTRUM, np.roll(u, 1)) > 0.1
    assert optimality_residual(SPECTRUM, np.eye(6)[1] * 1e-6) > 0.1


def test_the_printed_formula_at_the_budget_of_experiment_i():
    u = printed_formula(SPECTRUM, np.array([6.793751e-9]))
    np.testing.assert_allclose(u, (0.183, 0.164, 0.107, 0.048, -0.114, -0.388), atol=1e-3)
