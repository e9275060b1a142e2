"""The figures of the papers' theory, drawn from small tables of the real computations."""

import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import runfiles
from matplotlib.colors import to_hex
from matplotlib.text import Text
from test_figures import overlaps

from reproduction import discovery, theory
from reproduction.report.figures import style
from reproduction.theory import samplers

KEPT = Path(__file__).parents[4] / "results/reference"

INPUTS = {
    "figure3": "ellipses",
    "sampler_times": "sampler_times",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samplers, "SIZES", {"m = n": (4, 8, 12), "m = 6": (8, 16, 24)})
        patch.setattr(samplers, "PATIENCE", 0.01)
        for name in sorted(set(INPUTS.values())):
            theory.write(name, seed=2018, out=folder / "theory" / f"{name}.csv")
    # Times of a busy machine may lie anywhere: those of the kept run are drawn.
    shutil.copy(KEPT / "theory/sampler_times.csv", folder / "theory")
    return folder


def test_the_figures_read_what_the_computations_write():
    assert {name: runfiles.needed(f"figures/{name}") for name in INPUTS} == {
        name: [f"theory/{table}", "settings"] for name, table in INPUTS.items()
    }
    assert set(INPUTS.values()) <= discovery.theory().keys()


@pytest.mark.parametrize("name", INPUTS)
def test_a_figure_keeps_its_text_apart_and_inside(name, results, monkeypatch):
    drawn, draw = {}, Text.draw
    monkeypatch.setattr(Text, "draw", lambda self, at: (drawn.setdefault(self), draw(self, at)))
    figure, frame = runfiles.entry(f"figures/{name}"), runfiles.frame(results, name)
    assert frame["data_status"].eq("computed").all()
    with style.context(name), warnings.catch_warnings():
        warnings.simplefilter("error")
        drawing = figure.render(frame)
        drawing.draw_without_rendering()
    texts = [text for text in drawn if text.get_text().strip()]
    assert len(texts) > 10
    assert overlaps(texts) == []
    assert min(text.get_fontsize() for text in texts) >= 7.5
    boxes = {text.get_text(): text.get_window_extent() for text in texts}
    page = drawing.bbox.padded(1)
    assert {text for text, box in boxes.items() if not _holds(page, box)} == set()


def _holds(page, box):
    return page.x0 <= box.x0 and page.y0 <= box.y0 and box.x1 <= page.x1 and box.y1 <= page.y1


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("figure3", "Directional MVG noise is 27[0-9] times as large as i.i.d. noise has to be"),
        ("sampler_times", "Twice the size costs .* times as much by the affine map"),
    ],
)
def test_headlines_say_what_the_numbers_say(name, finding, results):
    headline = runfiles.entry(f"figures/{name}").headline(runfiles.frame(results, name))
    assert re.search(finding, headline), headline


def series(name, frame):
    """Yield panel, colour, x and y of the curves that a figure must have, from its table."""
    looks = {key: style.legends(key) for key in ("samplers", "ellipses")}
    if name == "sampler_times":
        for panel, case in enumerate(("m = n", "m = 6")):
            for method, rows in frame[frame["case"].eq(case)].groupby("method"):
                yield panel, looks["samplers"][method].look.colour, rows["n"], rows["seconds"]
    else:
        angles = np.linspace(0, 180, 181)
        for panel, place in (("left", 3), ("middle", 4), ("right", 5)):
            for noise, rows in frame[frame["panel"].eq(panel)].groupby("noise"):
                if noise not in looks["ellipses"]:
                    continue
                (xx, xy), (_, yy) = rows.loc[rows["kind"].eq("covariance"), ["x", "y"]].to_numpy()
                c, s = np.cos(np.radians(angles)), np.sin(np.radians(angles))
                along = np.sqrt(xx * c**2 + 2 * xy * c * s + yy * s**2)
                yield place, looks["ellipses"][noise].look.colour, angles, along


@pytest.mark.parametrize("name", INPUTS)
def test_every_series_is_drawn_in_its_panel_and_colour(name, results):
    figure, frame = runfiles.entry(f"figures/{name}"), runfiles.frame(results, name)
    with style.context():
        drawing = figure.render(frame)
    expected = list(series(name, frame))
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


@pytest.mark.parametrize("name", ["sampler_times", "figure3"])
def test_legends_give_each_look_its_name(name, results):
    with style.context():
        drawing = runfiles.entry(f"figures/{name}").render(runfiles.frame(results, name))
    section = {"figure3": "ellipses"}.get(name, "samplers")
    colours = {one.label: one.look.colour for one in style.legends(section).values()}
    (legend,) = drawing.legends
    found = {
        name: to_hex(handle.get_color())
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
        if (name := text.get_text().partition(": ")[0]) in colours
    }
    assert len(found) >= 3
    assert found == {label: to_hex(colours[label]) for label in found}


def test_fitted_powers_stand_in_the_legend_of_their_sampler(results):
    figure, frame = (
        runfiles.entry("figures/sampler_times"),
        runfiles.frame(results, "sampler_times"),
    )
    with style.context():
        (legend,) = figure.render(frame).legends
    texts = [text.get_text() for text in legend.get_texts()]
    for key, entry in style.legends("samplers").items():
        (text,) = (text for text in texts if text.startswith(f"{entry.label}: "))
        slopes = frame[frame["method"].eq(key)].groupby("case", sort=False)["slope"].first()
        assert re.findall(r"n\$\^\{([\d.-]+)\}", text) == [f"{slope:.1f}" for slope in slopes]
