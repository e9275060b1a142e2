from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from numbertexts import shows

from reproduction.report import markup
from reproduction.report.markup import interval, short


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0.0, "0"),
        (0.19748, "0.197"),
        (1234.5, "1,230"),
        (99999.6, "100,000"),
        (123456.0, "123,000"),
        (0.99996, "1"),
        (1.234e7, "1.23e7"),
        (2.6e-4, "2.6e-4"),
        (-9.8259e-5, "-9.83e-5"),
        (math.nan, ""),
        (math.inf, "inf"),
    ],
)
def test_short(number, shown):
    assert short(number) == shown


@pytest.mark.parametrize(
    ("mean", "half_width", "shown"),
    [
        (0.19954, 0.00413, "0.1995 ± 0.0041"),
        (734.2, 12.3, "734 ± 12"),
        (6.61e-6, 3.2e-7, "(6.61 ± 0.32)e-6"),
        (1.5e-7, 2.5e-6, "(0.1 ± 2.5)e-6"),
        (2.5e7, 1.5e6, "(2.50 ± 0.15)e7"),
        (0.18159, math.nan, "0.1816"),
        (0.0, 0.0, "0"),
        (0.18159, 1e-17, "0.1816"),
        (math.nan, 0.1, ""),
    ],
)
def test_interval(mean, half_width, shown):
    assert interval(mean, half_width) == shown


@pytest.mark.parametrize(
    ("mean", "half_width", "shown"),
    [
        (0.861335, 1.1e-5, "86.13 ± 0.01"),
        (0.85235, 0.00047, "85.23 ± 0.05"),
        (0.7638, 0.0, "76.38"),
        (0.48, 0.12, "48 ± 12"),
        (np.nan, np.nan, ""),
    ],
)
def test_no_digit_is_finer_than_what_the_metric_can_tell(mean, half_width, shown):
    row = {"mean": mean, "ci95": half_width, "n_trials": 30}
    assert markup.result(row, "accuracy") == shown


def test_few_trials_have_no_interval_beyond_the_metric():
    row = {"mean": 0.54, "ci95": 2.77, "n_trials": 2}
    assert markup.result(row, "accuracy") == "54 (2 trials)"
    assert markup.result(row, "rmse") == "0.54 (2 trials)"
    assert markup.result(row | {"n_trials": 10}, "rmse") == "0.5 ± 2.8"
    assert markup.result(row | {"ci95": 0.2}, "accuracy") == "54 ± 20"
    # An exact 0 may come out of a sum as 1e-17.
    assert markup.result(row | {"mean": -2e-17, "ci95": 0.0}, "delta_rho") == "0"


def test_a_grid_survives_its_file(tmp_path):
    grid = markup.Grid(
        header=["Method", "Value"],
        groups=[["", [["a | b", "1.5 ± 0.2"]]], ["Beyond", [["d", "~12"]]]],
        name="Table 9",
        caption="What it shows. More.",
        warning="Beware.",
        inputs=["summary/regression", "settings"],
    )
    markup.write(tmp_path / "table9", pd.DataFrame({"a": [1]}), grid)
    assert markup.read(tmp_path / "table9.json") == grid
    assert r"| a \| b | 1.5 ± 0.2 |" in (tmp_path / "table9.md").read_text()


def test_what_a_text_shows_is_told_to_its_last_digit():
    assert shows("(6.61 ± 0.32)e-6", 6.611e-6, 3.21e-7)
    assert not shows("(6.61 ± 0.32)e-6", 6.62e-6, 3.21e-7)
    assert shows("0.1 (mu = 2.6e-4)", 0.1, 2.64e-4)
    assert not shows("0.197", 0.1976)
    assert not shows("0.197 ± 0.1", 0.197)
    assert shows("", np.nan)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("~3.989", 3.989),
        ("(1.14 ± 0.18)e-5", 1.14e-5),
        ("0 (mu = 2.5e-4)", 0),
        ("≤ 0.46", 0.46),
        ("-2e-3", -0.002),
        ("1,900", 1900),
        ("inf", float("inf")),
        ("0.5179†", 0.5179),
        ("54 (2 trials)", 54),
        ("72.4 ± 2.4 [0.01]", 72.4),
        ("> 1,000", 1000),
        ("1,790 to 2,310", 1790),
        ("< 0.01 to 0.0141", 0.01),
        ("at most 0.134", 0.134),
        ("Laplace: 0.1", None),
        ("", None),
        ("248, test 97", None),
        ("[-1, 1]", None),
        ("6 x 248", None),
    ],
)
def test_cells_sort_by_the_number_that_they_show(text, value):
    assert markup.number(text) == (value if value is None else pytest.approx(value))
