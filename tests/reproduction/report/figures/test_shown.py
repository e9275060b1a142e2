"""Figures read back: names, places, colours and numbers are those of the run.

No two results of the run are alike, so that whatever is drawn can be traced to one cell.
"""

from __future__ import annotations

import distinctrun
import numpy as np
import pytest
import runfiles
from distinctrun import Key
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer

from reproduction import catalogue
from reproduction.report.figures import style
from reproduction.report.figures.training import LEAST, MOST

#: Those drawn from one table are tested beside it.
TABLED = ("explainer", "noise_levels", "price")
FIGURES = [name for name in distinctrun.FIGURES if name not in TABLED]
READINGS = {"default": "default", "zeta=literal": "zeta_literal", "gamma=data": "gamma_of_data"}


@pytest.fixture(scope="module")
def pictures(root):
    """Return a function that gives frame and drawing of a figure, made once."""
    made = {}

    def picture(name):
        if name not in made:
            frame = runfiles.frame(root, name)
            with style.context():
                made[name] = frame, runfiles.entry(f"figures/{name}").render(frame)
        return made[name]

    return picture


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_the_data_of_a_figure_are_those_of_the_run(name, pictures, cells):
    frame, _ = pictures(name)
    chosen = distinctrun.chosen(cells)
    seen = 0
    for row in frame[frame["role"].isin(["mechanism", "level"])].to_dict("records"):
        if "reading" in row:
            cell = distinctrun._cell(
                Key(row["experiment"], row["mechanism"], "sweep", READINGS[row["reading"]], "1")
            )
            shown = ("mean", "ci95")
        else:
            epsilon = "" if np.isnan(row["epsilon"]) else f"{row['epsilon']:g}"
            key = Key(
                row["experiment"], row["mechanism"], row["direction"], row["configuration"], epsilon
            )
            if (key.mechanism, epsilon) in distinctrun.REFUSED:
                assert np.isnan(row["mean"])
                continue
            assert row["chosen"]
            assert key in chosen
            cell = cells[key]
            shown = ("mean", "ci95", "noise_std", "mu", "epsilon_delivered")
        for column in shown:
            if column in row:
                assert row[column] == pytest.approx(getattr(cell, column), rel=1e-9, nan_ok=True)
        seen += 1
    assert seen > 5


def curves(axes):
    """Return the lines with markers in the units of the axes."""
    lines = [line for line in axes.lines if line.get_transform() == axes.transData]
    # Published values have open markers.
    lines = [line for line in lines if line.get_markerfacecolor() != "white"]
    return [line for line in lines if line.get_marker() not in ("", "None", "x")]


def like(axes, look):
    """Return the one curve of a look."""
    (line,) = [
        line
        for line in curves(axes)
        if (to_hex(line.get_color()), line.get_marker()) == (to_hex(look.colour), look.marker)
    ]
    return line


def is_curve(line, x, y):
    """Return whether a line has these numbers: no curve is moved aside."""
    near = np.allclose(line.get_xdata(), x, rtol=1e-9)
    return near and np.allclose(line.get_ydata(), y, rtol=1e-9, equal_nan=True)


def uppers(axes, colour):
    """Return the upper ends of the bands of a colour."""
    return [
        point[1]
        for part in axes.collections
        if isinstance(part, PolyCollection) and to_hex(part.get_facecolor()[0]) == to_hex(colour)
        for path in part.get_paths()
        for point in path.vertices
    ]


def open_markers(axes):
    """Return places of the published values in the axes."""
    bars = [part.lines[0] for part in axes.containers if isinstance(part, ErrorbarContainer)]
    return [line.get_xydata()[0] for line in bars if line.get_markerfacecolor() == "white"]


def mechanism_of(label, names):
    """Return the mechanism whose label a text begins with."""
    fitting = [name for name in names if label.startswith(catalogue.label(name))]
    return max(fitting, key=lambda name: len(catalogue.label(name)))


@pytest.mark.parametrize("name", [name for name in FIGURES if name.startswith("curves")])
def test_a_leading_curve_has_the_numbers_of_its_name(name, pictures):
    frame, drawing = pictures(name)
    frame, drawn = frame[frame["leading"]], set()
    ours = frame[frame["role"].eq("mechanism")]
    (axes,) = drawing.axes
    legend = axes.get_legend()
    keys = {
        " ".join(text.get_text().split()): (handle.get_color(), handle.get_marker())
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
    }
    for line in (line for line in curves(axes) if not line.get_label().startswith("_")):
        assert keys[line.get_label()] == (line.get_color(), line.get_marker())
        mechanism = mechanism_of(line.get_label(), {*ours["mechanism"]})
        rows = ours[ours["mechanism"].eq(mechanism)]
        assert is_curve(line, rows["epsilon"], rows["mean"])
        assert to_hex(line.get_color()) == to_hex(catalogue.look(mechanism).colour)
        drawn.add(mechanism)
    assert drawn == {*ours["mechanism"]}
    theirs = frame[frame["role"].eq("published")]
    inside = theirs["mean"].between(*axes.get_ylim())
    assert sorted(y for _, y in open_markers(axes)) == pytest.approx(
        sorted(theirs.loc[inside, "mean"])
    )
    beyond = [text.get_text() for text in axes.texts if "published" in text.get_text()]
    assert bool(beyond) == (~inside).any()
    conjectured = catalogue.experiment(frame["experiment"].iloc[0]).conjecture
    assert all(("a conjectured unit" in text) == bool(conjectured) for text in beyond)


@pytest.mark.parametrize("name", [name for name in FIGURES if name.startswith("figure4")])
def test_a_direction_has_its_numbers_intervals_and_name(name, pictures):
    frame, drawing = pictures(name)
    given = distinctrun.SETTINGS["experiments"][frame["experiment"].iloc[0]]["directions"]
    ours = frame[frame["role"].eq("mechanism")]
    texts = [text.get_text() for text in drawing.legends[0].get_texts()]
    for axes, column in zip(drawing.axes, ("mean", "mean", "ratio"), strict=False):
        title, half = axes.get_title(loc="left"), {"mean": "ci95"}.get(column, "ratio_ci95")
        relative = column == "ratio"
        mechanism = (
            "directional_gaussian" if relative else mechanism_of(title, {*ours["mechanism"]})
        )
        for place, (direction, features) in enumerate(given.items()):
            rows = ours[ours["mechanism"].eq(mechanism) & ours["direction"].eq(direction)]
            look = style.direction(mechanism, place)
            assert is_curve(like(axes, look), rows["epsilon"], rows[column])
            ends = rows[column] + rows[half]
            drawn = uppers(axes, look.colour)
            assert all(np.isclose(drawn, end, rtol=1e-6, atol=0).any() for end in ends)
            label = f"({direction}) {', '.join(map(catalogue.column, features))}"
            assert {*rows["favours"], texts[place]} == {label}
    titles = [axes.get_title(loc="left") for axes in drawing.axes]
    assert titles[1] == catalogue.label("directional_gaussian")


@pytest.mark.parametrize("name", ["figure1", "imgm_gradients"])
def test_accuracy_stands_over_claimed_epsilon_above_and_over_the_tight_one_below(name, pictures):
    frame, drawing = pictures(name)
    experiments = list(dict.fromkeys(frame["experiment"]))
    legend = drawing.legends[0]
    keys = {
        text.get_text(): (to_hex(handle.get_color()), handle.get_marker())
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
    }
    for place, experiment in enumerate(experiments):
        above, below = drawing.axes[place :: len(experiments)]
        perturbation = catalogue.experiment(experiment).perturbation
        ours = frame[frame["experiment"].eq(experiment) & frame["role"].eq("mechanism")]
        for scheme, rows in ours[~ours["_twin"].eq(True)].groupby("mechanism"):
            rows, look = rows[rows["mean"].notna()], catalogue.look(scheme)
            assert is_curve(like(above, look), rows["epsilon"], rows["mean"])
            rows = rows.sort_values("epsilon_delivered")
            tight = rows["epsilon_delivered"].clip(LEAST, MOST)
            assert is_curve(like(below, look), tight, rows["mean"])
            label = catalogue.label(scheme, perturbation)
            (key,) = [key for text, key in keys.items() if text.partition(" = ")[0] == label]
            assert key == (to_hex(look.colour), look.marker)


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_levels_are_those_of_their_reference_rows(name, pictures):
    frame, drawing = pictures(name)
    rows = frame[frame["role"].eq("level")]
    looks = [(row.mean, to_hex(catalogue.look(row.mechanism).colour)) for row in rows.itertuples()]
    for line in (line for axes in drawing.axes for line in axes.lines):
        # What lies beyond an axis has a name at its end, and no line.
        if list(line.get_xdata()) == [0, 1] and line.get_linewidth():
            place, colour = line.get_ydata()[0], to_hex(line.get_color())
            assert any(np.isclose(place, mean) and colour == hue for mean, hue in looks)


def test_a_budget_without_a_guarantee_is_a_cross_and_no_point(pictures):
    _, drawing = pictures("curves_regression")
    colour = catalogue.look("gaussian_2006").colour
    lines = [line for axes in drawing.axes for line in axes.lines if line.get_color() == colour]
    assert [list(line.get_xdata()) for line in lines if line.get_marker() == "x"] == [[10]]
    assert any(np.isnan(line.get_ydata()).tolist() == [False, False, True] for line in lines)


def test_noise_levels_stand_with_their_names_numbers_and_ranges(root):
    frame = runfiles.frame(root, "noise_levels")
    with style.context():
        drawing = runfiles.entry("figures/noise_levels").render(frame)
    panels = [axes for axes in drawing.axes if axes.axison]
    groups = frame.groupby("experiment", sort=False)
    for axes, (_, rows) in zip(panels, groups, strict=True):
        names = [text.get_text() for text in axes.get_yticklabels()]
        lines = [line for line in axes.lines if line.get_marker() not in ("", "None")]
        full = {
            line.get_ydata()[0]: line.get_xdata()[0]
            for line in lines
            if line.get_markerfacecolor() != "white"
        }
        hollow = {
            line.get_ydata()[0]: line.get_xdata()[0]
            for line in lines
            if line.get_markerfacecolor() == "white"
        }
        texts = {
            text.xy[1]: text.get_text()
            for text in axes.texts
            if getattr(text, "xycoords", "") == "data"
        }
        assert len(full) == len(names) == rows["mechanism"].nunique()
        for mechanism, part in rows.groupby("mechanism"):
            equal = " = IMGM" * int(part["also"].eq("imgm").all())
            place = names.index(catalogue.label(mechanism) + equal)
            assert full[place] == pytest.approx(part["noise_std"].min())
            if part["noise_inflation"].max() <= 1:
                assert place not in {*texts, *hollow}
                continue
            assert hollow[place] == pytest.approx(part["rescaled_std"].min())
            low, _, high = texts[place].removeprefix("× ").partition(" to ")
            for shown, factor in (
                (low, part["noise_inflation"].min()),
                (high, part["noise_inflation"].max()),
            ):
                assert float(shown.replace(",", "")) == pytest.approx(factor, rel=6e-3)
        width = rows["upper"].iloc[0] - rows["lower"].iloc[0]
        lines = [line for line in axes.lines if list(line.get_ydata()) == [0, 1]]
        assert [line.get_xdata()[0] for line in lines] == [width] * int(np.isfinite(width))
