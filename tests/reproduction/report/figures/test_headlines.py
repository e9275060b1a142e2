"""Headlines of the kept figures: what they say, and that they fit."""

import numpy as np
import pytest
import runfiles
from packages import KEPT

from reproduction.report.figures import style


def test_a_headline_is_broken_before_it_leaves_the_figure():
    finding = "some words that go on " * 8
    with style.context():
        drawing, _ = style.canvas(2.0)
        style.headline(drawing, finding, "topic")
        drawing.draw_without_rendering()
        ends = [text.get_window_extent().x1 for text in drawing.texts]
    assert max(ends) <= drawing.bbox.x1


@pytest.mark.parametrize("name", sorted(path.stem for path in KEPT.glob("figures/*.svg")))
def test_a_headline_is_short_and_follows_from_the_frame(name):
    figure, frame = runfiles.entry(f"figures/{name}"), runfiles.frame(KEPT, name)
    said = figure.headline(frame)
    assert len(said) <= 90
    few = "n_trials" in frame and frame["n_trials"].between(1, 9).any()
    assert said != figure.topic(frame) or few


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("noise_levels", "noise_inflation"),
        ("nominal", "epsilon_delivered"),
    ],
)
def test_other_numbers_give_another_headline(name, column):
    figure, frame = runfiles.entry(f"figures/{name}"), runfiles.frame(KEPT, name)
    largest = frame[column].eq(frame[column].max())
    other = frame.assign(**{column: np.where(largest, 7 * frame[column], frame[column])})
    assert figure.headline(other) != figure.headline(frame)
