"""Every figure read back: names, places, colours and numbers are those of the run.

No two results of the run are alike, so that whatever is drawn can be traced to one cell. A new
figure of results is covered from the day that it is kept.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import distinctrun
import drawn
import numpy as np
import pytest
from distinctrun import Key
from matplotlib.colors import to_hex

from matrixdp import catalogue
from matrixdp.report import figures
from matrixdp.report.comparisons import BASES
from matrixdp.report.figures import curves, style
from matrixdp.report.figures.training import LEAST, MOST

KEPT = Path(__file__).parents[3] / "results" / "reference" / "figures"
FIGURES = {
    name: figure
    for name, figure in figures.registry(distinctrun.KINDS).items()
    # Those drawn from one table are tested beside it.
    if (KEPT / f"{name}.svg").is_file()
    and not any(
        source.startswith(("theory/", "tables/price", "tables/effective"))
        for source in figure.inputs
    )
}
DRAWN = sorted(FIGURES)


@pytest.fixture(scope="module")
def pictures(root):
    """Return a function that gives frame and drawing of a figure, made once."""
    made = {}

    def picture(name):
        if name not in made:
            frame = FIGURES[name].frame(root)
            with style.context():
                made[name] = frame, FIGURES[name].render(frame)
        return made[name]

    return picture


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_the_data_of_a_figure_are_those_of_the_run(name, pictures, cells):
    frame, _ = pictures(name)
    chosen = distinctrun.chosen(cells)
    seen = 0
    for row in frame[frame["kind"].isin(["mechanism", "level"])].to_dict("records"):
        if "reading" in row:
            cell = distinctrun._cell(
                Key(row["experiment"], row["mechanism"], "sweep", READINGS[row["reading"]], "1")
            )
            shown = ("mean", "ci95")
        else:
            epsilon = "" if np.isnan(row["epsilon"]) else f"{row['epsilon']:g}"
            key = Key(
                row["experiment"], row["mechanism"], row["direction"], row["variant"], epsilon
            )
            if (key.mechanism, epsilon) in distinctrun.REFUSED:
                assert np.isnan(row["mean"])
                continue
            assert bool(row["chosen"]) == (key in chosen)
            fixed = {f"{parameter}={value}" for parameter, value in BASES.items()}
            public = name == "noise_levels" and row["variant"] in fixed
            assert row["chosen"] or public
            cell = cells[key]
            shown = ("mean", "ci95", "noise_std", "mu_actual", "epsilon_actual")
        for column in shown:
            if column == "noise_std" and row.get("_elsewhere"):
                # Noise in another unit than that of the query is not shown.
                assert np.isnan(row[column])
            elif column in row:
                assert row[column] == pytest.approx(getattr(cell, column), rel=1e-9, nan_ok=True)
        seen += 1
    assert seen > 5


READINGS = {"default": "default", "zeta=literal": "zeta_literal", "gamma=data": "gamma_of_data"}


def matches(axes, point, frame, name):
    """Return the rows that a point may be: those that have its numbers on both axes."""
    x, y = drawn.meaning(axes, "x"), drawn.meaning(axes, "y")
    found = []
    for row in frame.itertuples():
        fits = bool(x or y)
        if x:
            place = getattr(row, x)
            if x == "epsilon_actual":
                place = min(max(place, LEAST), MOST)
            fits &= drawn.same(point.x, place, drawn.ASIDE if x == "epsilon" else 1e-9)
        elif "x" in frame:
            fits &= drawn.same(point.x, row.x)
        if y:
            fits &= drawn.same(point.y, getattr(row, y))
        else:
            ticks = dict(zip(axes.get_yticks(), axes.get_yticklabels(), strict=True))
            fits &= ticks[point.y].get_text().startswith(catalogue.label(row.mechanism))
            fits &= name != "section10_2" or in_part(ticks, point.y) == row.features
        if fits:
            found.append(row)
    return found


def in_part(ticks, place):
    """Return the last heading above a row."""
    return [t.get_text() for y, t in sorted(ticks.items()) if y < place and is_bold(t)][-1].lower()


def is_bold(text):
    return text.get_fontweight() == "bold"


def in_panel(axes, row, frame):
    """Return whether a row belongs into a panel, by the title of that."""
    title = axes.get_title(loc="left")
    if "panel" in frame and title in {*frame["panel"]}:
        return row.panel == title or row.kind == "level"
    if "_twin" in frame:
        # A column of panels per experiment, the upper one under its title.
        columns = axes.get_gridspec().ncols
        upper = axes.figure.axes[axes.get_subplotspec().num1 % columns]
        title = upper.get_title(loc="left")
    experiments = {catalogue.experiment(e).title for e in frame["experiment"]}
    named = [one for one in experiments if title.startswith(one)]
    if named:
        return catalogue.experiment(row.experiment).title in named
    labels = [m for m in frame["mechanism"].unique() if title.startswith(catalogue.label(m))]
    return not labels or row.mechanism in labels or row.kind != "mechanism"


def looks_like(line, row, frame):
    """Return whether a line is drawn as its row asks, and in its panel."""
    if in_panel(line.axes, row, frame) == (to_hex(line.get_color()) == to_hex(style.FAINT)):
        return False
    colour, marker, kind = to_hex(line.get_color()), line.get_marker(), line.get_linestyle()
    own = drawn.look(row, frame)
    if line.get_markerfacecolor() == "none":
        return row.epsilon == 1 and row.kind == "mechanism"
    if colour == to_hex(style.FAINT):
        return row.kind == "mechanism"
    if "reading" in frame:
        if marker == "D":
            return row.reading == "default"
        return colour == to_hex(own.colour if row.private else style.ALARM)
    return (
        colour == to_hex(own.colour)
        and marker in ("", "None", own.marker)
        # A thin line connects what is shown by markers.
        and (kind in ("None", own.line) or line.get_linewidth() < 1)
    )


@pytest.mark.parametrize("name", DRAWN)
def test_every_curve_has_the_numbers_and_the_look_of_what_it_is_named_for(name, pictures):
    frame, drawing = pictures(name)
    rows = frame[frame["kind"].eq("mechanism")]
    schemes = catalogue.schemes(catalogue.experiment(frame["experiment"].iloc[0]).kind)
    words = {one: scheme.label for one, scheme in schemes.items()}
    seen: dict[tuple, set] = {}
    for axes in drawing.axes:
        for line in drawn.curves(axes):
            if "reading" in frame and line.get_marker() == "None":
                is_published(line, frame)
                continue
            found = [
                [row for row in matches(axes, point, rows, name) if looks_like(line, row, frame)]
                for point in drawn.points(line)
            ]
            assert all(found), (axes.get_title(loc="left"), line.get_label(), line.get_color())
            owners = set.intersection(
                *({(row.mechanism, row.direction) for row in some} for some in found)
            )
            if line.get_markerfacecolor() != "none" and "reading" not in frame:
                assert owners, "points of several mechanisms on one curve"
            label = str(line.get_label())
            if label and not label.startswith("_"):
                named = [{catalogue.label(one), words.get(one, "?")} for one, _ in owners]
                assert any(label.startswith(one) for some in named for one in some), label
            if to_hex(line.get_color()) != to_hex(style.FAINT):
                for row in itertools.chain(*found):
                    seen.setdefault((axes, row.mechanism, row.direction), set()).add(row.Index)
        for bar in drawn.bars(axes):
            (point,) = drawn.points(bar.lines[0])
            is_ours = bar.lines[0].get_markerfacecolor() != "white"
            kinds = ["mechanism", "level"] if is_ours else ["published"]
            own = frame[frame["kind"].isin(kinds)]
            if not is_ours:
                # Side by side.
                own = own.assign(epsilon=own["epsilon"] * np.where(own["epsilon"] > 0, 1, np.nan))
                point = point._replace(x=1.0) if drawn.meaning(axes, "x") == "epsilon" else point
            found = [
                row
                for row in matches(axes, point, own, name)
                if to_hex(bar.lines[0].get_color()) == to_hex(catalogue.look(row.mechanism).colour)
                and in_panel(axes, row, frame)
            ]
            assert found, point
            for row in found:
                if is_ours:
                    seen.setdefault((axes, row.mechanism, row.direction), set()).add(row.Index)
    shown = {*itertools.chain(*seen.values())}
    value = "noise_std" if name == "noise_levels" else "mean"
    there = rows[rows[value].notna()]
    if "_twin" in there:
        # One law is drawn once.
        there = there[~there["_twin"].eq(True)]
    if name == "section10_2":
        there = there[there["epsilon"].eq(1)]
    assert {*there.index} <= shown


def is_published(line, frame):
    """Check that a line stands at a published value, dashed where its unit is conjectured."""
    ((left, place), (right, _)) = drawn.points(line)
    theirs = frame[frame["kind"].eq("published")]
    title = line.axes.get_title(loc="left")
    theirs = theirs[[catalogue.experiment(e).title == title for e in theirs["experiment"]]]
    (own,) = theirs[theirs["x"].between(left, right)].itertuples()
    assert drawn.same(place, own.printed if line.get_linestyle() == "-" else own.mean)


@pytest.mark.parametrize("name", DRAWN)
def test_every_interval_is_that_of_its_mean(name, pictures):
    frame, drawing = pictures(name)
    count = 0
    for axes in drawing.axes:
        upright = bool(drawn.meaning(axes, "y"))
        column = drawn.meaning(axes, "y" if upright else "x")
        half = {"mean": "ci95", "ratio": "ratio_ci95"}.get(column)
        if half is None:
            continue
        own = frame[frame[column].notna()]
        for colour, at, low, high in drawn.intervals(axes, upright):
            if "reading" in frame and colour not in {
                to_hex(catalogue.look(one).colour) for one in own["mechanism"]
            } | {to_hex(style.ALARM)}:
                continue
            ends = [
                row
                for row in own.itertuples()
                if drawn.same(high, getattr(row, column) + getattr(row, half), 1e-6)
                and ("reading" in frame or colour == to_hex(drawn.look(row, frame).colour))
            ]
            if "reading" in frame and not ends:
                # Bands of published values.
                continue
            assert ends, (at, low, high)
            for row in ends:
                middle, width = getattr(row, column), getattr(row, half)
                shortest = {"reading": middle / 2}.get("reading" if "reading" in frame else "", 0)
                assert low == pytest.approx(
                    max(
                        middle - width,
                        shortest or (middle / 100 if row.kind == "mechanism" else -9),
                    ),
                    rel=1e-6,
                ) or low == pytest.approx(middle - width, rel=1e-6)
                if drawn.meaning(axes, "x") == "epsilon" and row.kind == "mechanism":
                    assert drawn.same(at, row.epsilon, drawn.ASIDE)
            count += 1
    assert count > 4 or name == "noise_levels"


@pytest.mark.parametrize("name", DRAWN)
def test_levels_are_those_of_their_reference_rows(name, pictures):
    frame, drawing = pictures(name)
    rows = frame[frame["kind"].eq("level")]
    for axes in drawing.axes:
        for place, colour, label in drawn.levels(axes):
            if colour == to_hex(style.FAINT) or name == "noise_levels":
                continue
            found = [
                row
                for row in rows.itertuples()
                if drawn.same(place, row.mean)
                and colour == to_hex(catalogue.look(row.mechanism).colour)
            ]
            assert found, (place, label)
            if label and not label.startswith("_"):
                assert label.startswith(catalogue.label(found[0].mechanism))


def legends(drawing):
    """Yield every legend entry: its text, and what is drawn beside it."""
    for one in (*drawing.legends, *filter(None, (axes.get_legend() for axes in drawing.axes))):
        yield from zip(
            (text.get_text() for text in one.get_texts()), one.legend_handles, strict=True
        )
    # Names at the ends of lines.
    for axes in drawing.axes:
        lines = {" ".join(str(line.get_label()).split()): line for line in axes.lines}
        for text in axes.texts:
            if (plain := " ".join(text.get_text().split())) in lines:
                yield plain, lines[plain]


@pytest.mark.parametrize("name", DRAWN)
def test_legends_name_each_look_by_what_has_it(name, pictures):
    frame, drawing = pictures(name)
    experiment = frame["experiment"].iloc[0]
    words = {one: catalogue.label(one) for one in frame["mechanism"]}
    known = catalogue.schemes(catalogue.experiment(experiment).kind)
    words |= {one: known[one].label for one in words if one in known}
    named = set()
    for text, handle in legends(drawing):
        plain, *others = " ".join(text.split()).split(" = ")
        # Two names of one law stand at one curve.
        named |= {one for one in words if words[one] in others}
        mine = [one for one in words if re.match(re.escape(words[one]) + r"($|[,:;])", plain)]
        mine = [one for one in mine if len(words[one]) == max(len(words[m]) for m in mine)]
        if mine and handle.get_linestyle() not in (" ",) and hasattr(handle, "get_color"):
            (one,) = mine
            assert to_hex(handle.get_color()) == to_hex(catalogue.look(one).colour), plain
            assert handle.get_marker() in ("", "None", catalogue.look(one).marker), plain
        named |= {*mine}
    if name.startswith(("curves", "imgm", "figure1")):
        ran = frame.loc[frame["kind"].ne("published"), "mechanism"]
        assert {*ran} == named


@pytest.mark.parametrize("name", [one for one in DRAWN if one.startswith("figure4")])
def test_directions_are_named_by_what_they_favour(name, pictures):
    frame, drawing = pictures(name)
    given = distinctrun.SETTINGS["experiments"][frame["experiment"].iloc[0]]["directions"]
    ours = frame[frame["kind"].eq("mechanism")]
    texts = [text for text, _ in legends(drawing)]
    for place, (direction, features) in enumerate(given.items()):
        text = f"({direction}) {', '.join(map(catalogue.column, features))}"
        assert {*ours.loc[ours["direction"].eq(direction), "favours"]} == {text}
        assert texts[place] == text


def test_noise_levels_print_the_numbers_where_they_stand(pictures):
    frame, drawing = pictures("noise_levels")
    count = 0
    for axes in drawing.axes:
        dots = [point for line in drawn.curves(axes) for point in drawn.points(line)]
        for text in axes.texts:
            value = drawn.number(text.get_text().replace(",", ""))
            if value is not None:
                (dot,) = [point for point in dots if point.y == text.xy[1]]
                assert value == pytest.approx(dot.x, rel=6e-3)
                (own,) = frame[
                    frame["noise_std"].sub(dot.x).abs().lt(1e-9 * dot.x)
                    & frame["most"].sub(text.xy[0]).abs().le(1e-9 * text.xy[0])
                ].itertuples()
                assert own.least <= own.noise_std <= own.most
                count += 1
        order = [point.x for point in sorted(dots, key=lambda point: point.y)]
        assert order == sorted(order, reverse=True)
    assert (
        count == sum(len(drawn.curves(axes)) for axes in drawing.axes) == frame["noise_std"].count()
    )


def test_published_values_stand_with_their_features_in_the_unit_that_is_suspected(pictures):
    frame, _ = pictures("section10_2")
    theirs = frame[frame["kind"].eq("published")].set_index(["features", "mechanism"])["mean"]
    two, every = "two features", "all features"
    printed = {(every, "mvg_binary"): 0.01624, (two, "gaussian_2006"): 0.02538}
    for key, value in (printed | {(two, "jl_2012"): 0.02863}).items():
        assert theirs[key] == pytest.approx(value * np.sqrt(248))


def test_a_budget_without_a_guarantee_is_a_cross_and_no_point(pictures):
    _, drawing = pictures("curves_regression")
    axes = next(one for one in drawing.axes if one.get_title(loc="left") == curves.PAPERS)
    colour = catalogue.look("gaussian_2006").colour
    lines = [line for line in axes.lines if line.get_color() == colour]
    assert [list(line.get_xdata()) for line in lines if line.get_marker() == "x"] == [[10]]
    assert any(np.isnan(line.get_ydata()).tolist() == [False, False, True] for line in lines)


def test_the_range_of_an_entry_is_drawn_where_all_features_have_one(pictures):
    frame, drawing = pictures("noise_levels")
    widths = frame.groupby("experiment", sort=False)[["lower", "upper"]].first()
    panels = [axes for axes in drawing.axes if axes.axison]
    for axes, (_, (lower, upper)) in zip(panels, widths.iterrows(), strict=True):
        place = [line for line in axes.lines if list(line.get_ydata()) == [0, 1]]
        assert [line.get_xdata()[0] for line in place] == [upper - lower] * np.isfinite(upper)
    assert widths["upper"].isna().sum() == 1


def test_the_judge_of_curves_has_power(pictures):
    """Curves with another's numbers, epsilons reversed, or in another panel are told apart."""
    frame, drawing = pictures("curves_first_pc")
    axes = next(one for one in drawing.axes if one.get_title(loc="left") == curves.PAPERS)
    (line,) = [
        one for one in drawn.curves(axes) if one.get_color() == catalogue.look("laplace").colour
    ]
    rows = frame[frame["kind"].eq("mechanism")]
    at = drawn.points(line)

    def told(points, panel=axes):
        return [
            any(
                in_panel(panel, row, frame) for row in matches(axes, point, rows, "curves_first_pc")
            )
            for point in points
        ]

    assert told(at) == [True] * 3
    moved = [point._replace(x=other.x) for point, other in zip(at, reversed(at), strict=True)]
    assert told(moved) == [False, True, False]
    assert told([point._replace(y=1.001 * point.y) for point in at]) == [False] * 3
    other = next(one for one in drawing.axes if one.get_title(loc="left") == curves.BEYOND)
    assert told(at, other) == [False] * 3
