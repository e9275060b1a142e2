"""Bounds in Python: each form has one meaning, and what can be two things is refused."""

from decimal import Decimal

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
        ([[*map(Decimal, sides)] for sides in PAIRS], range(3)),
        (dict(enumerate(PAIRS)), range(3)),
        (dict(reversed([*enumerate(PAIRS)])), range(3)),
        (BY_NAME, [*BY_NAME]),
    ],
)
def test_every_form_says_the_same(form, columns):
    assert [*bounds.by_column(form, [*columns]).values()] == PAIRS


def test_names_decide_wherever_a_column_stands():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.uniform(*sides, 20_000) for name, sides in BY_NAME.items()})
    given = {"bounds": BY_NAME, "epsilon": 9.0}
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
    estimate = mdp.Covariance(bounds={0: (60, 80), 1: (140, 160)}, epsilon=9.0).fit(frame)
    assert estimate.location_ == pytest.approx([150, 70], abs=2)
