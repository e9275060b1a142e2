"""Looks of mechanisms: told apart by every reader, and the same whatever matplotlib's settings."""

import itertools
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from reproduction import catalogue
from reproduction.report import page
from reproduction.report.figures import style

ARTICLE = Path(__file__).parents[4] / "workflow/article/style.typ"


def kind(look):
    return look.colour, look.marker


UNLISTED = [f"of_tomorrow_{number}" for number in range(7)]


def test_looks_are_told_apart_and_new_mechanisms_have_others():
    looks = [kind(entry.look) for entry in catalogue.legends().values()]
    assert len({*looks}) == len(looks)
    for number in range(100):
        look = catalogue.look(f"of_tomorrow_{number}")
        assert look.marker not in [marker for _, marker in looks]
        assert look.line not in [entry.look.line for entry in catalogue.legends().values()]
    new = catalogue.unlisted(["laplace", *UNLISTED])
    assert [*new] == UNLISTED
    assert len({look.colour for look in new.values()}) == 7
    assert len({look.marker for look in new.values()}) == 7
    # Then colours come again, with other lines.
    assert len({*catalogue.unlisted(map(str, range(21))).values()}) == 21
    assert len({*catalogue.unlisted(map(str, range(30))).values()}) == 21


def test_another_mechanism_leaves_the_look_of_a_new_one():
    looks = catalogue.unlisted(UNLISTED[:4])
    assert catalogue.unlisted([*UNLISTED[:4], "one_more"]).items() >= looks.items()
    with catalogue.looks_of(UNLISTED):
        drawn = {name: catalogue.look(name) for name in UNLISTED}
    assert drawn == catalogue.unlisted(UNLISTED)
    alone = [catalogue.look(name) for name in UNLISTED]
    assert len({*alone}) < 7, "without the run their places collide"


#: Machado, Oliveira and Fernandes (2009): full dichromacy, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "no green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "no red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
}


#: What style.css does to figures in the dark: invert(.9), then hue-rotate(180deg), on sRGB.
FILTER = "invert(.9) hue-rotate(180deg)"
ROTATION = [[-0.574, 1.430, 0.144], [0.426, 0.430, 0.144], [0.426, 1.430, -0.856]]


def dark(rgb):
    return np.clip(np.asarray(ROTATION) @ (0.9 - 0.8 * np.asarray(rgb)), 0, 1)


def linear(rgb):
    rgb = np.asarray(rgb)
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def test_the_page_turns_figures_as_this_test_does():
    assert FILTER in (page.FOLDER / "style.css").read_text(encoding="utf-8")


@pytest.mark.parametrize("turned", [np.asarray, dark])
@pytest.mark.parametrize("vision", VISION)
def test_families_are_told_apart_by_colour_blind_readers(vision, turned):
    def lab(colour):
        light = np.clip(np.asarray(VISION[vision]) @ linear(turned(to_rgb(colour))), 0, 1)
        matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
        white = np.asarray(matrix) @ light / [0.9505, 1, 1.089]
        f = np.where(white > 0.008856, np.cbrt(white), 7.787 * white + 16 / 116)
        return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

    looks = {name: entry.look for name, entry in catalogue.legends().items()}
    for level in catalogue.BASELINES:
        del looks[level]
    new = catalogue.unlisted(UNLISTED)
    colours = {name: lab(look.colour) for name, look in {**looks, **new}.items()}
    close = {
        (first, second): np.linalg.norm(colours[first] - colours[second])
        for first, second in itertools.combinations(colours, 2)
        if catalogue.family(first) != catalogue.family(second) or {first, second} <= new.keys()
    }
    # A difference of 2.3 is just noticeable; thin lines need several times that.
    near = [pair for pair, distance in close.items() if distance <= 10]
    if turned is dark:
        # In the dark a filter brings some colours together, and markers tell these apart.
        every = {**looks, **new}
        near = [pair for pair in near if every[pair[0]].marker == every[pair[1]].marker]
    assert near == []


def luminance(rgb):
    return linear(rgb) @ [0.2126, 0.7152, 0.0722]


def contrast(colour):
    """Return the contrast of a colour to its ground, the lesser of both themes."""
    pairs = [(luminance(turned(to_rgb(colour))), luminance(turned((1, 1, 1)))) for turned in TURNS]
    return min((max(pair) + 0.05) / (min(pair) + 0.05) for pair in pairs)


TURNS = (np.asarray, dark)


def test_lines_have_a_contrast_of_three_in_both_themes():
    looks = [entry.look for entry in catalogue.legends().values()]
    looks += [entry.look for entry in style.legends("ellipses").values()]
    looks += catalogue.unlisted(UNLISTED).values()
    looks += [style.direction(name, n) for name in catalogue.legends() for n in range(4)]
    colours = {look.colour for look in looks} | {style.FAINT, style.ALARM, style.BLUE}
    assert {colour for colour in colours if contrast(colour) < 3} == set()
    # Sky blue and yellow of Okabe and Ito are fainter on white.
    assert max(contrast("#56B4E9"), contrast("#E69F00")) < 3


def test_the_smallest_text_has_seven_points_in_the_article():
    width = (21 - 2 * 1.9) / 2.54
    assert "margin: (x: 1.9cm" in ARTICLE.read_text(encoding="utf-8")
    names = ("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize")
    with style.context():
        smallest = min([style.SMALL, *(matplotlib.rcParams[name] for name in names)])
    assert smallest * width / style.WIDTH >= 7


def test_figures_in_the_dark_are_dark_and_their_text_is_light():
    ground = luminance(dark((1, 1, 1)))
    assert ground < 0.02
    for colour in (style.INK, "#555555", "#666666"):
        assert (luminance(dark(to_rgb(colour))) + 0.05) / (ground + 0.05) > 4.5, colour


def test_settings_are_ours_inside_the_context_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    with style.context("name"):
        assert matplotlib.rcParams["svg.hashsalt"] == "name"
    assert dict(matplotlib.rcParams) == before
