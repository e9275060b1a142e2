"""docs/tutorial.svg: it is drawn again, and its releases keep what the tutorial states."""

import importlib.util
import re

import numpy as np
import pytest
from packages import ROOT
from sklearn.datasets import load_diabetes

spec = importlib.util.spec_from_file_location("tutorial_figure", ROOT / "docs/tutorial_figure.py")
figure = importlib.util.module_from_spec(spec)
spec.loader.exec_module(figure)


def words(path):
    """Return the words of a drawing, in its order: labels, numbers of axes, topic."""
    return re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"))


def test_the_picture_is_drawn_again(tmp_path):
    figure.main(tmp_path / "tutorial.svg")
    kept = words(ROOT / "docs/tutorial.svg")
    assert words(tmp_path / "tutorial.svg") == kept
    assert {*figure.TITLES.values()} <= {*kept}


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.7, False)])
def test_releases_lie_within_the_printed_noise(factor, holds):
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    widths = [float(width) for width in re.findall(r"\| ± (\d+\.\d) \|", text)]
    table = figure.specification()
    limits = np.array([*table["bounds"].values()], dtype=float)
    frame = load_diabetes(as_frame=True, scaled=False).frame
    records = frame[[*table["bounds"]]].to_numpy().clip(*limits.T)
    simulated = figure.answers(table, records, table["epsilon"])
    means = np.column_stack([simulated[name] for name in table["bounds"]])
    # The page prints one decimal.
    within = np.abs(means - records.mean(axis=0)) <= factor * (np.array(widths) + 0.05)
    assert (within.all(axis=1).mean() >= 0.95) == holds
