"""Bounds in Python: each form has one meaning, and what can be two things is refused."""

import numpy as np
import pandas as pd
import pytest

import matrixdp as mdp
from matrixdp.release import bounds

LOW, HIGH = (0.0, 60.0, -3.0), (120.0, 240.0, 5.0)
PAIRS = [*zip(LOW, HIGH, strict=True)]
BY_NAME = dict(zip(["age", "height", "score"], PAIRS, strict=True))


@pytest.mark.parametrize(
    ("form", "columns"),
    [
        (PAIRS, range(3)),
        (np.array(PAIRS), range(3)),
        (dict(enumerate(PAIRS)), range(3)),
        (dict(reversed([*enumerate(PAIRS)])), range(3)),
        (BY_NAME, [*BY_NAME]),
    ],
)
def test_every_form_says_the_same(form, columns):
    assert [*bounds.by_column(form, [*columns]).values()] == PAIRS


def test_a_pair_of_numbers_holds_for_all_columns():
    assert bounds.by_column((0, 1), ["a", "b"]) == {"a": (0, 1), "b": (0, 1)}
    assert bounds.by_column([(0, 1)], ["a"]) == {"a": (0, 1)}


@pytest.mark.parametrize(
    "form",
    [
        [(0, 120), (60, 240)],
        ((0, 0), (120, 240)),
        np.array([[0, 120], [60, 240]]),
        ([0, 60], [120, 240]),
    ],
)
def test_two_pairs_for_two_columns_are_refused(form):
    with pytest.raises(mdp.InputError, match=r"can be a pair per column, or the lowest .*\{0: \("):
        mdp.Covariance(bounds=form).fit(np.zeros((9, 2)))


@pytest.mark.parametrize(
    "form",
    [
        (LOW, HIGH),
        (0, HIGH),
        ([0], [1]),
        PAIRS[:2],
        [*PAIRS, (0, 1)],
        (1, 0),
        (0, np.inf),
        (0, np.nan),
        ("0", "1"),
        (False, True),
        (0, 1, 2),
        5,
        {**dict(enumerate(PAIRS)), 3: (0, 1)},
        dict(enumerate(PAIRS[:2])),
        {**dict(enumerate(PAIRS)), 1: 5},
        {**dict(enumerate(PAIRS)), 1: (5, 5)},
        BY_NAME,
    ],
)
def test_other_forms_are_refused_in_one_sentence(form):
    with pytest.raises(mdp.InputError, match=r"^bounds.*; ") as caught:
        mdp.Covariance(bounds=form).fit(np.zeros((9, 3)))
    assert "\n" not in str(caught.value)


def test_names_decide_wherever_a_column_stands():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.uniform(*sides, 20_000) for name, sides in BY_NAME.items()})
    given = {"bounds": BY_NAME, "epsilon": 15.0}
    estimate = mdp.Covariance(**given).fit(frame)
    assert estimate.location_ == pytest.approx(frame.mean().to_numpy(), abs=0.2)
    frame = frame[["score", "age", "height"]]
    estimate = mdp.Covariance(**given).fit(frame)
    assert estimate.location_ == pytest.approx(frame.mean().to_numpy(), abs=0.2)
    ridge = mdp.PrivateRidge(**given | {"bounds": {"age": (0, 120)}}, target_bounds=(60, 240))
    assert ridge.fit(frame[["age"]], frame["height"]).coef_.shape == (1,)
    with pytest.raises(mdp.InputError, match="lacks the column 'score'"):
        mdp.Covariance(bounds={name: BY_NAME[name] for name in ("age", "height")}).fit(frame)


def test_labels_that_are_numbers_are_names():
    frame = pd.DataFrame(np.full((20_000, 2), [150.0, 70.0]), columns=[1, 0])
    estimate = mdp.Covariance(bounds={0: (60, 80), 1: (140, 160)}, epsilon=15.0).fit(frame)
    assert estimate.location_ == pytest.approx([150, 70], abs=2)


@pytest.mark.parametrize("form", [None, 5, (0,), (1, 0), ([0], [1]), "ab", [(0, 1), (2, 3)]])
def test_bounds_of_a_target_are_one_pair(form):
    with pytest.raises(mdp.InputError, match="^target_bounds is"):
        mdp.PrivateRidge(bounds=(0, 1), target_bounds=form).fit(np.zeros((9, 2)), np.zeros(9))
