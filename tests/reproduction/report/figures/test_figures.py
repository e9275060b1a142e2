"""What holds for every figure that is drawn from a run."""

import json
import os
import shutil
import subprocess
import sys

import distinctrun
import numpy as np
import pandas as pd
import pytest
import runfiles
from drawntexts import outside, overlaps
from packages import PATH, ROOT
from PIL import Image

from matrixdp.checks import InputError
from reproduction import catalogue
from reproduction.report import figures, inputs
from reproduction.report.figures import style

#: One of each kind: the others differ in their inputs alone.
KINDS = ("figure4_left", "noise_levels")
#: These rest on calibration alone, whatever the data.
CALIBRATION = ("explainer", "noise_levels")


@pytest.fixture(scope="module")
def saved(root, tmp_path_factory):
    """Return where a figure of each kind was written once."""
    out = tmp_path_factory.mktemp("figures")
    runfiles.write(root, *(f"figures/{name}" for name in KINDS), out=out)
    return out / "figures"


@pytest.mark.parametrize("name", KINDS)
def test_a_figure_is_svg_png_and_the_data_that_it_shows(name, saved):
    frame = pd.read_csv(saved / "data" / f"{name}.csv")
    status = "computed" if name in CALIBRATION else "original"
    assert frame["data_status"].eq(status).all()
    assert not frame.empty
    with Image.open(saved / f"{name}.png") as picture:
        assert picture.width == 200 * style.WIDTH
        assert np.asarray(picture.convert("L")).std() > 5
    svg = (saved / f"{name}.svg").read_text()
    assert "<text" not in svg, "letters are outlines"
    assert "<image" not in svg, "nothing is a bitmap"
    assert "dc:date" not in svg
    assert catalogue.mark("simulated").line not in svg


def test_the_same_data_give_the_same_bytes_in_another_process(root, saved, tmp_path):
    # `make check-figures` has all of them.
    chosen = ["figure4_left"]
    code = (
        "import sys; from pathlib import Path; import runfiles\n"
        "runfiles.write(Path(sys.argv[1]), *sys.argv[3:], out=Path(sys.argv[2]))"
    )
    # A user's settings and another order of hashes change nothing.
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.grid: False\n")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(
            [PATH, str(ROOT / "tests"), os.path.dirname(runfiles.__file__)]
        ),
        "PYTHONHASHSEED": "7",
        "MATPLOTLIBRC": str(tmp_path),
    }
    command = [sys.executable, "-c", code, str(root), str(tmp_path / "out")]
    command += [f"figures/{name}" for name in chosen]
    subprocess.run(command, check=True, env=environment)
    for name in chosen:
        ends = (f"{name}.svg", f"{name}.png", f"{name}.json", f"data/{name}.csv")
        for file in ends:
            assert (tmp_path / "out/figures" / file).read_bytes() == (saved / file).read_bytes(), (
                file
            )


def test_overlapping_texts_are_found():
    drawing, grid = style.canvas(2)
    texts = [grid[0, 0].text(x, 0.5, "some words") for x in (0.1, 0.12, 0.8, 1.0)]
    for text in texts:
        text.set_in_layout(False)
    drawing.draw_without_rendering()
    assert len(overlaps(texts)) == 1
    assert outside(texts, drawing) == ["some words"]


def test_a_figure_of_nothing_says_so_inside_the_frame(root, tmp_path):
    summary = inputs.read_input("summary/regression", inputs.files_of_folder(root))
    (tmp_path / "summary").mkdir()
    for folder in ("comparisons", "audit"):
        shutil.copytree(root / folder, tmp_path / folder)
    shutil.copy(root / "settings.yaml", tmp_path)
    levels = summary[summary["mechanism"].isin(catalogue.BASELINES)]
    levels.to_csv(tmp_path / "summary/regression.csv", index=False)
    runfiles.write_rows(tmp_path)
    figure = runfiles.figure(tmp_path, "curves_regression")
    assert {*figure.frame.columns} == {"data_status", "note"}
    with style.context():
        drawing = figure.render()
    texts = [text.get_text() for axes in drawing.axes for text in axes.texts]
    said = "nothing of it is in rows/regression, published/table3"
    assert any(said in " ".join(text.split()) for text in texts)
    assert f"Nothing to show: {said}" in figure.caption


def test_a_figure_has_its_words_its_recipe_and_its_inputs_beside_it(root, saved):
    words = json.loads((saved / "figure4_left.json").read_text(encoding="utf-8"))
    figure = runfiles.figure(root, "figure4_left")
    assert words["topic"] == figure.title
    assert words["caption"] == figure.caption
    assert words["recipe"] == "directions"
    assert words["inputs"] == [*runfiles.files(root, "figures/figure4_left")]


@pytest.mark.parametrize("name", ["curves_regression", "figure4_left", "imgm_gradients"])
def test_a_figure_of_refusals_says_so_and_draws(name, root, tmp_path):
    for folder in ("comparisons", "audit", "tables"):
        shutil.copytree(root / folder, tmp_path / folder)
    shutil.copy(root / "settings.yaml", tmp_path)
    (tmp_path / "summary").mkdir()
    for experiment in distinctrun.KINDS:
        table = inputs.read_input(f"summary/{experiment}", inputs.files_of_folder(root))
        private = ~table["mechanism"].isin(catalogue.BASELINES)
        table.loc[private, ["mean", "sd", "ci95", "epsilon_delivered", "noise_std"]] = np.nan
        table.loc[private, ["outcome", "note", "n_trials"]] = ["no guarantee", "none", 0]
        table.to_csv(tmp_path / f"summary/{experiment}.csv", index=False)
    runfiles.write_rows(tmp_path)
    figure = runfiles.figure(tmp_path, name)
    with style.context():
        figure.render().draw_without_rendering()
    assert figure.caption


def test_redrawing_compares_bytes_and_names_what_is_lacking(root, saved, tmp_path, capsys):
    for name in ("rows", "comparisons"):
        shutil.copytree(root / name, tmp_path / name)
    shutil.copy(root / "settings.yaml", tmp_path)
    figures_, out = tmp_path / "figures", tmp_path / "redrawn"
    shutil.copytree(saved, figures_)
    for path in figures_.rglob("*.*"):
        if not path.is_dir() and path.stem != "figure4_left":
            path.unlink()
    out.mkdir()
    # What another drawing left there is none of it.
    (out / "of_before.svg").touch()
    figures.redraw_figures(tmp_path, out)
    assert "1 figures are the same" in capsys.readouterr().out
    with open(figures_ / "figure4_left.svg", "a") as file:
        file.write(" ")
    (figures_ / "figure4_left.png").unlink()
    (figures_ / "forgotten.svg").touch()
    message = r"^figure4_left\.png, figure4_left\.svg, forgotten\.svg: not the same in"
    with pytest.raises(InputError, match=message):
        figures.redraw_figures(tmp_path, out)
    (tmp_path / "rows/regression.csv").unlink()
    with pytest.raises(InputError, match=r"^rows/regression is not among the files of this step"):
        figures.redraw_figures(tmp_path, out)
    (figures_ / "figure4_left.json").write_text("{")
    with pytest.raises(InputError, match=r"figure4_left\.json cannot be read .*delete it and run"):
        figures.redraw_figures(tmp_path, out)


def test_redrawing_needs_kept_figures(tmp_path):
    with pytest.raises(InputError, match="has no figures; run the workflow and keep"):
        figures.redraw_figures(tmp_path, tmp_path / "out")
