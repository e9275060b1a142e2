"""Figure 3, drawn from the small table of the real computation."""

import re
import warnings

import numpy as np
import pytest
import runfiles
from drawntexts import overlaps, texts_of
from matplotlib.colors import to_hex

from reproduction import theory
from reproduction.report.figures import style


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    theory.write("ellipses", seed=2018, out=folder / "theory/ellipses.csv")
    return runfiles.frame(folder, "figure3")


@pytest.fixture(scope="module")
def drawing(frame):
    with style.context("figure3"):
        return runfiles.entry("figures/figure3").render(frame)


def test_the_figure_keeps_its_text_apart(frame, drawing):
    assert frame["data_status"].eq("computed").all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        texts = texts_of(drawing)
    assert len(texts) > 10
    assert overlaps(texts) == []


def test_the_headline_says_what_the_numbers_say(frame):
    headline = runfiles.entry("figures/figure3").headline(frame)
    finding = "MVG's directional noise is 27[0-9] times .*i.i.d."
    assert re.search(finding, headline), headline


def series(frame):
    """Yield panel, colour, x and y of the curves that the figure must have, from its table."""
    angles, looks = np.linspace(0, 180, 181), style.legends("ellipses")
    for panel, place in (("left", 3), ("middle", 4), ("right", 5)):
        for noise, rows in frame[frame["panel"].eq(panel)].groupby("noise"):
            if noise not in looks:
                continue
            (xx, xy), (_, yy) = rows.loc[rows["role"].eq("covariance"), ["x", "y"]].to_numpy()
            c, s = np.cos(np.radians(angles)), np.sin(np.radians(angles))
            along = np.sqrt(xx * c**2 + 2 * xy * c * s + yy * s**2)
            yield place, looks[noise].look.colour, angles, along


def test_every_series_is_drawn_in_its_panel_and_colour(frame, drawing):
    expected = list(series(frame))
    assert expected
    for panel, colour, x, y in expected:
        pairs = np.column_stack([x, y]).astype(float)
        drawn = [
            np.column_stack(line.get_data()).astype(float)
            for line in drawing.axes[panel].lines
            if to_hex(line.get_color()) == to_hex(colour)
        ]
        same = [
            one.shape == pairs.shape and np.allclose(one, pairs, equal_nan=True) for one in drawn
        ]
        assert any(same), (panel, colour)


def test_the_legend_gives_each_look_its_name(drawing):
    colours = {one.label: one.look.colour for one in style.legends("ellipses").values()}
    (legend,) = drawing.legends
    found = {
        name: to_hex(handle.get_color())
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
        if (name := text.get_text().partition(": ")[0]) in colours
    }
    assert len(found) >= 3
    assert found == {label: to_hex(colours[label]) for label in found}
