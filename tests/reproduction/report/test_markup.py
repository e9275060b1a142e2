from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from numbertexts import shows

from reproduction.report import markup, sheet
from reproduction.report.markup import interval, short, significant
from reproduction.report.sheet import Cell
from reproduction.report.tables.base import Column, Table


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
    ("number", "shown"),
    [
        (0.20030, "0.200"),
        (0.99996, "1.00"),
        (-2.003e-4, "-2.00e-4"),
        (0.2, "0.2"),
        (0.1 * 3, "0.3"),
        (5000, "5,000"),
        (math.nan, ""),
    ],
)
def test_significant_digits_of_a_rounded_number_are_all_written(number, shown):
    assert significant(number) == shown


@pytest.mark.parametrize(
    ("number", "bound", "shown"),
    [
        (0.002834, "upper", "0.0029"),
        (0.002834, "lower", "0.0028"),
        (55.83, "lower", "55"),
        (55.83, "", "56"),
        (99.2, "upper", "100"),
        (0.0999, "lower", "0.099"),
        (0.1 * 3, "upper", "0.3"),
        (0.1 * 3, "lower", "0.3"),
        (-1.26, "upper", "-1.2"),
    ],
)
def test_a_bound_is_rounded_to_its_safe_side(number, bound, shown):
    assert significant(number, 2, bound) == shown


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
    assert markup.result(row, "accuracy").whole == shown


def test_few_trials_have_no_interval_beyond_the_metric():
    row = {"mean": 0.54, "ci95": 2.77, "n_trials": 2}
    assert markup.result(row, "accuracy").whole == "54 (2 trials)"
    assert markup.result(row, "rmse").whole == "0.54 (2 trials)"
    assert markup.result(row | {"n_trials": 10}, "rmse").whole == "0.5 ± 2.8"
    assert markup.result(row | {"ci95": 0.2}, "accuracy").whole == "54 ± 20"
    # An exact 0 may come out of a sum as 1e-17.
    assert markup.result(row | {"mean": -2e-17, "ci95": 0.0}, "delta_rho").whole == "0"


def test_what_a_text_shows_is_told_to_its_last_digit():
    assert shows("(6.61 ± 0.32)e-6", 6.611e-6, 3.21e-7)
    assert not shows("(6.61 ± 0.32)e-6", 6.62e-6, 3.21e-7)
    assert shows("0.1 (mu = 2.6e-4)", 0.1, 2.64e-4)
    assert not shows("0.197", 0.1976)
    assert not shows("0.197 ± 0.1", 0.197)
    assert shows("", np.nan)


def table(groups, **words):
    columns = [Column(name, lambda row, i=i: row[i]) for i, name in enumerate("ab")]
    columns += [Column("c", lambda row: row[2], lambda row: float(row[2] or "nan"))]
    words = {"title": "Table 9, x", "caption": "What it shows."} | words
    return Table(columns=columns, groups=groups, **words)


def test_a_table_in_markdown_and_latex():
    rows = {"": [("a | b", "a cell of more letters than fit beside the others", "1.5")]}
    groups = rows | {"Beyond": [("d", "", "")]}
    shown = table(groups, warning="Beware.").sheet()
    text = markup.markdown(shown)
    assert text.startswith("> **Beware.**\n\n**Table 9, x.** What it shows.\n\n| a |")
    assert r"| a \| b | a cell of" in text
    assert "| **Beyond** |  |  |\n| d |  |  |" in text
    latex = markup.latex(shown)
    assert r"\caption{\textbf{Beware.} What it shows." in latex
    assert r"\begin{tabular}{lp{0.81\linewidth}r}" in latex
    assert r"\label{tab:table9x}" in latex


def test_a_column_sorts_by_its_number_and_not_by_its_text():
    last = table({}).columns[-1]
    assert [last.cell(line).value for line in (("", "", "12"), ("", "", ""))] == [12, None]
    spread = Column("d", "shown", "value")
    line = pd.DataFrame({"shown": [0.5, 0.25], "value": [3, 2]})
    assert spread.cell(line) == Cell("0.25 to 0.5", 2)
    assert Column("e", "shown").cell(line) == Cell("0.25 to 0.5")


def test_a_sheet_is_read_as_it_was_written():
    rows = {"": [("a", "b", "inf"), ("ε", "", "")], "Beyond": []}
    shown = table(rows, warning="Beware.", aside={"Beyond"}).sheet()
    assert sheet.load_sheet(shown.dump()) == shown
    assert shown.groups[0].lines[0][2].value == math.inf
    # Any program reads it, for JSON has no infinite number.
    assert json.loads(shown.dump(), parse_constant=pytest.fail)["title"] == shown.title
    with pytest.raises(ValueError, match="Sheet"):
        sheet.load_sheet('{"title": "a"}')
