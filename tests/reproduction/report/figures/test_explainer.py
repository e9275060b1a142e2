"""The explainer: the noise that it names is that of the run, and is drawn to scale."""

from __future__ import annotations

import pandas as pd
import pytest

from reproduction.report.figures import explainer, style

TABLE2 = pd.DataFrame({"item": ["bounds"], "regression": ["[-1, 3]"], "first_pc": ["[0, 1]"]})


def noise(*rows):
    names = ["experiment", "mechanism", "epsilon", "noise_std", "noise_inflation", "rescaled_std"]
    return {
        "tables/effective_noise": pd.DataFrame(rows, columns=names),
        "tables/table2": TABLE2,
    }


ROWS = (
    ("regression", "laplace", 1.0, 17.0, 1.0, 17.0),
    ("regression", "mvg_maxpnr", 1.0, float("nan"), 2.0, float("nan")),
    ("regression", "mvg_binary", 1.0, 9000.0, 1500.0, 6.0),
    ("regression", "mvg_binary", 1.0, 4000.0, 500.0, 8.0),
    ("first_pc", "mvg_thm3", 1.0, 30.0, 10.0, 3.0),
)


def test_the_record_and_both_noises_are_those_of_the_smallest_factor():
    frame = explainer.tidy(noise(*ROWS))
    (row,) = frame.to_dict("records")
    assert (row["noise_std"], row["rescaled_std"]) == (4000, 8)
    assert (row["lower"], row["upper"]) == (-1, 3)
    entry = explainer.FIGURES["explainer"]
    assert "at least 500 times the noise" in entry.headline(frame)
    assert explainer.tidy(noise(*ROWS[:2])).empty


def test_both_panels_are_to_scale():
    with style.context("explainer"):
        left, right = explainer.draw(explainer.tidy(noise(*ROWS))).axes
    record = left.patches[0].get_extents().transformed(left.transData.inverted())
    assert (record.x0, record.x1) == pytest.approx((-1, 3))
    for axes, std in ((left, 8), (right, 4000)):
        (bell,) = (line for line in axes.lines if len(line.get_xdata()) > 2)
        x, y = bell.get_data()
        assert y[abs(x - std).argmin()] == pytest.approx(0.6065, abs=0.02)
