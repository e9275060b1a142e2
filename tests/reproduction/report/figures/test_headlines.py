"""Headlines of the kept figures: what they say, and that they fit."""

import numpy as np
import pytest
import runfiles
from packages import KEPT

from reproduction import catalogue
from reproduction.report import audit_status
from reproduction.report.figures import curves, style


def entry_of(name):
    return runfiles.entry(f"figures/{name}")


def kept(name):
    return runfiles.frame(KEPT, name)


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


@pytest.mark.parametrize("name", ["regression", "first_pc", "covariance"])
def test_a_best_mechanism_says_that_it_is_tuned(name):
    figure, frame = entry_of(f"curves_{name}"), kept(f"curves_{name}")
    at = frame["role"].eq("mechanism") & frame["epsilon"].eq(1)
    (best,) = curves.best(frame[at], 1.0)
    said = figure.headline(frame)
    if ("the best" in said or "rule made here" in said) and "times the best" not in said:
        assert ("rule made here" in said) == (best in catalogue.tuned()), said


@pytest.mark.parametrize("name", ["regression", "first_pc", "covariance"])
def test_a_refuted_mechanism_is_not_the_best(name):
    frame = kept(f"curves_{name}")
    rows = frame[frame["role"].eq("mechanism") & frame["epsilon"].eq(1)]
    (best,) = curves.best(rows, 1.0)
    status = rows["audit_status"].mask(rows["mechanism"].eq(best), audit_status.REFUTED)
    assert best not in curves.best(rows.assign(audit_status=status), 1.0)


def test_noise_beside_a_search_is_not_what_mvg_would_serve():
    figure, frame = entry_of("nominal"), kept("nominal")
    assert figure.headline(frame).endswith("MVG's noise in I to III serves ε = 0.0028")
    search = frame["mechanism"].eq("mvg_maxpnr")
    assert frame.loc[search, "search"].eq(True).all()
    assert figure.headline(frame.assign(search=False)).endswith("serves ε = 0.13")
    once = frame[["experiment", "scheme", "batch"]].assign(
        tight=frame["epsilon_delivered"].round(6)
    )
    assert not once.duplicated().any()


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
