"""What the figures show, against summaries with known means."""

import itertools

import numpy as np
import pytest
import synthetic
from matplotlib.colors import to_hex, to_rgb
from matplotlib.container import ErrorbarContainer

from matrixdp import catalogue
from matrixdp.report import figures
from matrixdp.report.figures import curves, style

FIGURES = figures.registry(synthetic.KINDS)


@pytest.fixture
def drawn(results):
    """Return a function that gives a figure's frame and drawing."""

    def draw(name):
        figure = FIGURES[name]
        frame = figure.frame(results)
        with style.context():
            return frame, figure.render(frame)

    return draw


def line(axes, colour, x=None):
    """Return the one curve of a colour with as many points as there are epsilons."""
    found = [
        one
        for one in axes.lines
        if one.get_color() == colour and len(one.get_xdata()) == len(synthetic.EPSILONS)
    ]
    assert len(found) == 1
    return found[0]


def open_markers(axes):
    """Return place, and interval along y and x, of all published values in the axes."""
    bars = [one for one in axes.containers if isinstance(one, ErrorbarContainer)]
    return [
        (bar.lines[0].get_xdata()[0], bar.lines[0].get_ydata()[0])
        for bar in bars
        if bar.lines[0].get_markerfacecolor() == "white"
    ]


def test_looks_are_told_apart_and_a_new_mechanism_has_a_plain_one():
    looks = [(one.look.colour, one.look.marker) for one in catalogue.legends().values()]
    assert len({*looks}) == len(looks)
    assert (catalogue.look("of_tomorrow").colour, catalogue.look("of_tomorrow").marker) not in looks


def test_what_the_catalogue_does_not_know_is_drawn_all_the_same(tmp_path):
    rows = synthetic.experiment("regression") + synthetic.curve("of_tomorrow", "regression")
    rows = [one | {"experiment": "mine", "metric": "loss"} for one in rows]
    results = synthetic.write(tmp_path, mine=rows)
    known = figures.registry({"mine": "releases"})
    assert "curves_mine" in known
    for name in ("curves_mine", "noise_levels"):
        frame = known[name].frame(results)
        assert "of_tomorrow" in {*frame["mechanism"]}
        with style.context():
            assert known[name].render(frame).axes
        assert known[name].describe(frame)


#: Machado, Oliveira and Fernandes (2009): full dichromacy, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "no green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "no red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
}


@pytest.mark.parametrize("vision", VISION)
def test_families_are_told_apart_by_colour_blind_readers(vision):
    def lab(colour):
        rgb = np.array(to_rgb(colour))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        seen = np.clip(np.asarray(VISION[vision]) @ linear, 0, 1)
        matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
        white = np.asarray(matrix) @ seen / [0.9505, 1, 1.089]
        f = np.where(white > 0.008856, np.cbrt(white), 7.787 * white + 16 / 116)
        return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

    seen = {name: lab(one.look.colour) for name, one in catalogue.legends().items()}
    for level in catalogue.REFERENCES:
        del seen[level]
    close = {
        (one, other): np.linalg.norm(seen[one] - seen[other])
        for one, other in itertools.combinations(seen, 2)
        if catalogue.family(one) != catalogue.family(other)
    }
    # A difference of 2.3 is just noticeable; thin lines need several times that.
    assert min(close.values()) > 10, min(close, key=close.get)


def test_settings_are_ours_inside_the_context_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    with style.context("name"):
        assert matplotlib.rcParams["svg.hashsalt"] == "name"
    assert dict(matplotlib.rcParams) == before


def test_figure_4_has_the_chosen_share_of_each_direction_above_and_below(drawn):
    frame, drawing = drawn("figure4_right")
    upper, lower, ratio = drawing.axes
    ours = frame[frame["kind"].eq("mechanism")]
    assert ours["variant"].eq("tau=0.55").all()
    assert {*ours["favours"]} == {"(a) LB, ASTV", "(b) the 5 others"}
    for axes, mechanism, base in (
        (upper, "mvg_binary", 5.0),
        (lower, "directional_gaussian", 0.3),
    ):
        for place, factor in enumerate((1, 2)):
            curve = line(axes, style.direction(mechanism, place).colour)
            np.testing.assert_allclose(curve.get_ydata(), base * factor / np.array([0.1, 1, 10]))
            np.testing.assert_allclose(curve.get_xdata(), [0.1, 1, 10], rtol=0.04)
    second = line(ratio, style.direction("directional_gaussian", 1).colour)
    np.testing.assert_allclose(second.get_ydata(), 2)
    # 6.657e-2 in print; in the unit that we suspect, 100 times that.
    ((x, y),) = open_markers(upper)
    assert (x, y) == (1, pytest.approx(6.657))
    assert open_markers(lower) == []
    chance = [one for one in upper.lines if one.get_linestyle() == "--"]
    assert any(np.allclose(one.get_ydata(), 9) for one in chance)


def test_figure_4_says_how_often_the_papers_direction_is_best(drawn):
    frame, _ = drawn("figure4_left")
    figure = FIGURES["figure4_left"]
    assert figure.headline(frame) == figure.title  # Nothing is compared.
    exact = frame["mechanism"].eq("directional_gaussian")
    compared = frame.assign(verdict=np.where(exact, "worse", "better"), n_trials=100)
    words = "(a) wins 0 and loses 3 of 3 comparisons with MVG, 3 and 0 of 3 calibrated exactly"
    assert figure.headline(compared) == words
    assert {*frame["favours"].dropna()} == {"(a) ALT, drinks", "(b) ALT"}


def test_curves_have_gaps_and_published_values(drawn):
    frame, drawing = drawn("curves_first_pc")
    panels = {axes.get_title(loc="left"): axes for axes in drawing.axes if axes.axison}
    assert [*panels] == [curves.PAPERS]
    classic = panels[curves.PAPERS]
    curve = line(classic, catalogue.look("analyze_gauss").colour)
    np.testing.assert_allclose(curve.get_ydata(), [7, 0.7, np.nan])
    crosses = [one for one in classic.lines if one.get_marker() == "x" and len(one.get_xdata())]
    assert [list(one.get_xdata()) for one in crosses] == [[10]]
    # Table 4 as printed: MVG with Theorem 3, 1.434e-1, and with Theorem 2, 2.138e-1.
    values = [y for _, y in open_markers(classic)]
    assert {0.1434, 0.2138} <= {round(y, 6) for y in values}
    assert len(values) == 6
    for axes in panels.values():
        assert axes.get_yscale() == "log"
    assert "ppca" not in {*frame.loc[frame["kind"].eq("mechanism"), "mechanism"]}


def test_a_band_is_the_interval_and_colours_are_the_mechanisms(drawn):
    _frame, drawing = drawn("curves_covariance")
    panel = next(axes for axes in drawing.axes if axes.get_title(loc="left") == curves.PAPERS)
    curve = line(panel, catalogue.look("laplace").colour)
    assert curve.get_marker() == catalogue.look("laplace").marker
    filled = [part for part in panel.collections if len(part.get_facecolor())]
    bands = [to_hex(part.get_facecolor()[0]) for part in filled]
    place = bands.index(to_hex(catalogue.look("laplace").colour))
    vertices = filled[place].get_paths()[0].vertices
    for x, y in zip(curve.get_xdata(), curve.get_ydata(), strict=True):
        band = vertices[np.isclose(vertices[:, 0], x), 1]
        np.testing.assert_allclose([band.min(), band.max()], [0.98 * y, 1.02 * y])


def test_noise_levels_stand_at_the_noise_and_the_range(drawn):
    frame, drawing = drawn("noise_levels")
    first, *_, third = (axes for axes in drawing.axes if axes.axison)
    (mark,) = [
        one for one in first.lines if one.get_color() == catalogue.look("analytic_gaussian").colour
    ]
    assert mark.get_xdata()[0] == pytest.approx(2.0)
    rows = dict(zip(*reversed(_ticks(first)), strict=True))
    assert mark.get_ydata()[0] == rows[catalogue.label("analytic_gaussian")]
    widths = [one for one in first.lines if list(one.get_xdata()) == [2, 2]]
    assert len(widths) == 1
    # Different bounds per feature have no one width.
    assert frame.loc[frame["experiment"].eq("covariance"), "upper"].isna().all()
    (note,) = [text.get_text() for text in third.texts if text.get_text().startswith("No fixed")]
    assert all(catalogue.label(one) in " ".join(note.split()) for one in ("jl_2012", "jl_exact"))


def _ticks(axes):
    return list(axes.get_yticks()), [text.get_text() for text in axes.get_yticklabels()]


def test_section_10_2_has_both_sets_and_published_values(drawn):
    _, drawing = drawn("section10_2")
    dots, lines = drawing.axes
    published = sorted(x for x, _ in open_markers(dots))
    root = np.sqrt(248)
    np.testing.assert_allclose(published, np.array([0.01624, 0.02538, 0.02863]) * root)
    labels = [text.get_text() for text in dots.get_yticklabels()]
    assert labels.count(catalogue.label("nonprivate")) == 2
    assert labels.index("Two features") < labels.index("All features")
    levels = [one for one in lines.lines if np.allclose(one.get_ydata(), 0.05)]
    assert len(levels) == 2
