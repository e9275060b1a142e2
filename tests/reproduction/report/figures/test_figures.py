"""What holds for every figure that is drawn from a run."""

import os
import shutil
import subprocess
import sys

import distinctrun
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from packages import PATH
from PIL import Image

from matrixdp.checks import InputError
from reproduction import catalogue, discovery
from reproduction.discovery import collect
from reproduction.report import figures, inputs, tables
from reproduction.report.figures import style

FIGURES = figures.registry(distinctrun.KINDS)
#: Figures of theory have tests of their own.
NAMES = sorted(
    name
    for name, figure in FIGURES.items()
    if not any(source.startswith("theory/") for source in figure.inputs)
)
#: One of each kind: the others differ in their inputs alone.
KINDS = ("curves_first_pc", "figure4_left", "noise_levels", "section10_2")


@pytest.fixture(scope="module")
def saved(root, tmp_path_factory):
    """Return where a figure of each kind was written once."""
    out = tmp_path_factory.mktemp("figures")
    figures.write(KINDS, results=root, out=out)
    return out


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Return a run on simulated data, with the tables that figures are made from."""
    root = tmp_path_factory.mktemp("simulated")
    distinctrun.write(root, status="simulated")
    tables.write(["table2", "price", "effective_noise"], results=root)
    return root


def test_the_text_knows_the_same_figures_as_the_package():
    assert discovery.figures().keys() == collect(figures, "FIGURES").keys()
    assert len(NAMES) >= 12


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


def test_the_same_data_give_the_same_bytes_in_another_process(root, saved, tmp_path):
    # `make figures` has all of them.
    chosen = ["noise_levels", "section10_2"]
    code = (
        "import sys; from reproduction.report import figures\n"
        "figures.write(sys.argv[3:], results=sys.argv[1], out=sys.argv[2])"
    )
    # A user's settings and another order of hashes change nothing.
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.grid: False\n")
    environment = os.environ | {
        "PYTHONPATH": PATH,
        "PYTHONHASHSEED": "7",
        "MATPLOTLIBRC": str(tmp_path),
    }
    command = [sys.executable, "-c", code, str(root), str(tmp_path / "out"), *chosen]
    subprocess.run(command, check=True, env=environment)
    for name in chosen:
        for file in (f"{name}.svg", f"{name}.png", f"data/{name}.csv"):
            assert (tmp_path / "out" / file).read_bytes() == (saved / file).read_bytes(), file


@pytest.mark.parametrize("name", NAMES)
def test_simulated_data_are_marked_and_no_text_covers_another(name, simulated, monkeypatch):
    drawn = {}
    draw = Text.draw
    monkeypatch.setattr(Text, "draw", lambda self, at: (drawn.setdefault(self), draw(self, at)))
    figure = FIGURES[name]
    frame = figure.frame(simulated)
    with style.context():
        drawing = figure.render(frame)
        drawing.draw_without_rendering()
    texts = [text for text in drawn if text.get_text()]
    shown = [text.get_text() for text in texts]
    # The explainer rests on calibration alone, whatever the data.
    if name != "explainer":
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
        (first, second)
        for i, (first, a) in enumerate(boxes)
        for second, b in boxes[:i]
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
    ]


def test_overlapping_texts_are_found():
    drawing, grid = style.canvas(2)
    texts = [grid[0, 0].text(x, 0.5, "some words") for x in (0.1, 0.12, 0.8)]
    drawing.draw_without_rendering()
    assert len(overlaps(texts)) == 1


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_its_tables_says_so_inside_the_frame(name, tmp_path):
    figure = FIGURES[name]
    frame = figure.frame(tmp_path)
    assert {*frame.columns} == {"data_status", "note"}
    with style.context():
        drawing = figure.render(frame)
    texts = [text.get_text() for axes in drawing.axes for text in axes.texts]
    assert any("been made yet" in " ".join(text.split()) for text in texts)
    assert "been made yet" in figure.describe(frame)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("readings")])
def test_a_figure_of_refusals_says_so_and_draws(name, root, tmp_path):
    for folder in ("comparisons", "tables"):
        shutil.copytree(root / folder, tmp_path / folder)
    shutil.copy(root / "settings.yaml", tmp_path)
    (tmp_path / "summary").mkdir()
    for experiment in distinctrun.KINDS:
        table = inputs.read(f"summary/{experiment}", root)
        private = ~table["mechanism"].isin(catalogue.BASELINES)
        table.loc[private, ["mean", "sd", "ci95", "epsilon_actual", "noise_std"]] = np.nan
        table.loc[private, ["note", "n_trials"]] = ["no guarantee: none", 0]
        table.to_csv(tmp_path / f"summary/{experiment}.csv", index=False)
    figure = FIGURES[name]
    frame = figure.frame(tmp_path)
    with style.context():
        figure.render(frame).draw_without_rendering()
    assert figure.describe(frame)


def test_a_damaged_table_is_one_sentence(root, tmp_path):
    (tmp_path / "summary").mkdir()
    shutil.copytree(root / "comparisons", tmp_path / "comparisons")
    shutil.copy(root / "settings.yaml", tmp_path)
    (tmp_path / "summary" / "regression.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="is not a whole summary file"):
        figures.write(["curves_regression"], results=tmp_path, out=tmp_path / "out")


def test_an_unknown_figure_has_a_neighbour(root, tmp_path):
    with pytest.raises(InputError, match="did you mean 'figure4_left'"):
        figures.write(["figure4_lft"], results=root, out=tmp_path)


@pytest.fixture
def two_kept(root, tmp_path, monkeypatch):
    few = {name: FIGURES[name] for name in ("figure4_left", "figure4_middle")}
    monkeypatch.setattr(figures, "registry", lambda experiments: few)
    for name in ("summary", "comparisons", "tables", "settings.yaml"):
        (tmp_path / name).symlink_to(root / name)
    figures.write(few, results=tmp_path, out=tmp_path / "figures")
    return tmp_path


def test_redrawing_compares_bytes(two_kept, capsys):
    out = two_kept / "redrawn"
    figures.redraw(results=two_kept, out=out)
    assert "2 figures are the same" in capsys.readouterr().out
    with open(two_kept / "figures" / "figure4_left.svg", "a") as file:
        file.write(" ")
    (two_kept / "figures" / "figure4_middle.png").unlink()
    (two_kept / "figures" / "forgotten.svg").touch()
    message = r"^figure4_left\.svg, figure4_middle\.png, forgotten\.svg: not the same in"
    with pytest.raises(InputError, match=message):
        figures.redraw(results=two_kept, out=out)


def test_a_new_figure_is_not_kept_yet_and_no_difference(two_kept, capsys):
    for path in (two_kept / "figures").rglob("figure4_left.*"):
        path.unlink()
    figures.redraw(results=two_kept, out=two_kept / "redrawn")
    text = capsys.readouterr().out
    assert "1 figures are the same" in text
    assert "not kept yet: figure4_left" in text


def test_redrawing_needs_kept_figures(tmp_path):
    with pytest.raises(InputError, match="does not exist; run the workflow and keep"):
        figures.redraw(results=tmp_path, out=tmp_path / "out")
