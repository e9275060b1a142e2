"""What holds for every figure that is drawn from summaries."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic
from matplotlib.text import Text
from PIL import Image

from matrixdp import catalogue, discovery
from matrixdp.checks import InputError
from matrixdp.discovery import collect
from matrixdp.report import figures
from matrixdp.report.figures import style

#: Figures that are drawn from what ``synthetic`` writes; others have tests of their own.
MADE = {
    "tables/table2",
    *(f"{kind}/{name}" for kind in ("summary", "comparisons") for name in synthetic.METRICS),
}
FIGURES = figures.registry(dict.fromkeys(synthetic.METRICS, "releases"))
NAMES = sorted(
    name
    for name, figure in FIGURES.items()
    if figure.inputs
    and {table for table in figure.inputs if not table.startswith("published/")} <= MADE
)
#: One of each kind: the others differ in their inputs alone.
KINDS = (*("curves_first_pc", "figure4_left", "noise_levels", "section10_2"),)


@pytest.fixture(scope="module")
def saved(results, tmp_path_factory):
    """Return where a figure of each kind was written once."""
    out = tmp_path_factory.mktemp("figures")
    figures.write(KINDS, results=results, out=out)
    return out


def test_the_text_knows_the_same_figures_as_the_package():
    assert discovery.figures().keys() == collect(figures, "FIGURES").keys()
    assert len(NAMES) >= 8


@pytest.mark.parametrize("name", KINDS)
def test_a_figure_is_svg_png_and_the_data_that_it_shows(name, saved):
    frame = pd.read_csv(saved / "data" / f"{name}.csv")
    assert frame["data_status"].eq("original").all()
    assert not frame.empty
    with Image.open(saved / f"{name}.png") as picture:
        assert picture.width == style.WIDTH * style.DPI
        assert np.asarray(picture.convert("L")).std() > 5
    svg = (saved / f"{name}.svg").read_text()
    assert "<text" not in svg, "letters are outlines"
    assert "<image" not in svg, "nothing is a bitmap"
    assert "dc:date" not in svg
    assert catalogue.mark("simulated").line not in svg


def test_the_same_data_give_the_same_bytes_in_another_process(results, saved, tmp_path):
    chosen = ["curves_first_pc", "section10_2"]
    assert {*chosen} <= {*NAMES}
    code = (
        "import sys; from matrixdp.report import figures\n"
        "figures.write(sys.argv[3:], results=sys.argv[1], out=sys.argv[2])"
    )
    # A user's settings and another order of hashes change nothing.
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.grid: False\n")
    workflow = Path(figures.__file__).parents[3]
    environment = os.environ | {
        "PYTHONPATH": str(workflow),
        "PYTHONHASHSEED": "7",
        "MATPLOTLIBRC": str(tmp_path),
    }
    command = [sys.executable, "-c", code, str(results), str(tmp_path / "out"), *chosen]
    subprocess.run(command, check=True, env=environment)
    for name in chosen:
        for file in (f"{name}.svg", f"{name}.png", f"data/{name}.csv"):
            assert (tmp_path / "out" / file).read_bytes() == (saved / file).read_bytes(), file


@pytest.mark.parametrize("name", NAMES)
def test_simulated_data_are_marked_in_the_figure_and_its_caption(name, tmp_path, monkeypatch):
    drawn = {}
    draw = Text.draw
    monkeypatch.setattr(Text, "draw", lambda self, at: (drawn.setdefault(self), draw(self, at)))
    figure = FIGURES[name]
    frame = figure.frame(synthetic.write(tmp_path, status="simulated"))
    assert frame["data_status"].eq("simulated").all()
    with style.context():
        drawing = figure.render(frame)
        drawing.draw_without_rendering()
    texts = [text for text in drawn if text.get_text()]
    shown = [text.get_text() for text in texts]
    assert any(text.startswith(catalogue.mark("simulated").line) for text in shown)
    assert "SIMULATED" in shown
    assert figure.describe(frame).startswith("SIMULATED DATA")
    # The mark across the figure is the only text that may lie on others.
    assert overlaps([text for text in texts if text.get_text() != "SIMULATED"]) == []
    assert min(text.get_fontsize() for text in texts) >= 7.5
    for text in texts:
        box = text.get_window_extent()
        assert box.x0 >= 0, text.get_text()
        assert box.x1 <= drawing.bbox.x1, text.get_text()


def overlaps(texts):
    """Return the pairs of texts that cover each other by more than a pixel."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    return [
        (one, other)
        for i, (one, a) in enumerate(boxes)
        for other, b in boxes[:i]
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
    ]


def test_overlapping_texts_are_found():
    drawing, grid = style.canvas(2)
    texts = [grid[0, 0].text(x, 0.5, "some words") for x in (0.1, 0.12, 0.8)]
    drawing.draw_without_rendering()
    assert len(overlaps(texts)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_without_its_tables_says_so_inside_the_frame(name, tmp_path):
    figure = FIGURES[name]
    frame = figure.frame(tmp_path)
    assert {*frame.columns} == {"data_status", "note"}
    with style.context():
        drawing = figure.render(frame)
    texts = [text.get_text() for axes in drawing.axes for text in axes.texts]
    assert any("has not been made yet" in text for text in texts)
    assert "has not been made yet" in figure.describe(frame)


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_of_refusals_says_so_and_draws(name, tmp_path):
    rows = {
        experiment: [
            synthetic.refused(mechanism, epsilon, experiment)
            | {"direction": "a" if mechanism in ("mvg_binary", "mvg_thm2") else ""}
            for mechanism in ("gaussian_2006", "mvg_binary", "mvg_thm2")
            for epsilon in synthetic.EPSILONS
        ]
        for experiment in synthetic.METRICS
    }
    figure = FIGURES[name]
    frame = figure.frame(synthetic.write(tmp_path, **rows))
    with style.context():
        drawing = figure.render(frame)
    texts = " ".join(text.get_text() for axes in drawing.axes for text in axes.texts)
    assert "guarantee" in texts or "Nothing to show" in texts
    assert figure.describe(frame)


def test_a_damaged_table_is_one_sentence(tmp_path):
    results = synthetic.write(tmp_path)
    (results / "summary" / "regression.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="is not a whole summary file"):
        figures.write(["curves_regression"], results=results, out=tmp_path / "out")


def test_an_unknown_figure_has_a_neighbour(tmp_path):
    with pytest.raises(InputError, match="did you mean 'figure4_left'"):
        figures.write(["figure4_lft"], results=synthetic.write(tmp_path), out=tmp_path)


@pytest.fixture
def two_kept(results, tmp_path, monkeypatch):
    few = {name: FIGURES[name] for name in ("figure4_left", "curves_first_pc")}
    monkeypatch.setattr(figures, "registry", lambda experiments: few)
    for name in ("summary", "comparisons", "tables", "settings.yaml"):
        (tmp_path / name).symlink_to(results / name)
    figures.write(few, results=tmp_path, out=tmp_path / "figures")
    return tmp_path


def test_redrawing_compares_bytes(two_kept, capsys):
    out = two_kept / "redrawn"
    figures.redraw(results=two_kept, out=out)
    assert "2 figures are the same" in capsys.readouterr().out
    with open(two_kept / "figures" / "figure4_left.svg", "a") as file:
        file.write(" ")
    (two_kept / "figures" / "curves_first_pc.png").unlink()
    (two_kept / "figures" / "forgotten.svg").touch()
    told = r"^curves_first_pc\.png, figure4_left\.svg, forgotten\.svg: not the same in"
    with pytest.raises(InputError, match=told):
        figures.redraw(results=two_kept, out=out)


def test_a_new_figure_is_not_kept_yet_and_no_difference(two_kept, capsys):
    for path in (two_kept / "figures").rglob("figure4_left.*"):
        path.unlink()
    figures.redraw(results=two_kept, out=two_kept / "redrawn")
    told = capsys.readouterr().out
    assert "1 figures are the same" in told
    assert "not kept yet: figure4_left" in told


def test_redrawing_needs_kept_figures(tmp_path):
    with pytest.raises(InputError, match="does not exist; run the workflow and keep"):
        figures.redraw(results=tmp_path, out=tmp_path / "out")
