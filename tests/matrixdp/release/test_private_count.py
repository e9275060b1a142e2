"""Neighbours that have one record more or less: noise for it, and nothing that tells how many."""

import harness
import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.noise import safe
from matrixdp.privacy import exact_sums

BOUNDS = {"age": [20, 120], "income": [0, 200_000]}
LOWER, UPPER = np.transpose([*BOUNDS.values()]).astype(float)


def people(count):
    rng = np.random.default_rng(1)
    age = 40 + 10 * rng.standard_normal(count)
    return np.clip(np.column_stack([age, 3e4 + 500 * age + 1e4 * rng.normal(size=count)]), 20, 2e5)


def stated(query, records=400, **keys):
    """Return the keys of a release whose neighbours have one record more or less."""
    target = {"target": "income"} if query == "regression" else {}
    relation = {"adjacency": "add_or_remove", "epsilon": 3.0, "bounds": BOUNDS}
    return {"query": query, "records": records, **relation, **target, **keys}


def release(folder, query, rows, **keys):
    folder.mkdir()
    harness.save(folder / "people.csv", rows)
    assert harness.run(folder, insist=True, **stated(query, **keys)) == 0
    return harness.read(folder, query)


def test_a_sum_has_no_origin_that_depends_on_the_stated_number():
    query = mdp.MeanQuery(mdp.Box((5.0,), (6.0,)), 10, "add_or_remove")
    values = [exact_sums.value(query, [np.full((count, 1), 6.0)])[0, 0] for count in range(4)]
    assert np.diff(values) == pytest.approx(0.6, rel=1e-9)
    assert exact_sums.value(query, []).shape == (1, 1)
    assert query.l2_sensitivity == 0.6


def test_more_records_than_float64_holds_exactly_are_as_close(monkeypatch):
    monkeypatch.setattr(safe, "noise", lambda distribution, count, bits: np.zeros(count, np.int64))
    query = mdp.SecondMomentQuery(mdp.Box.cube(2, -1.0, 1.0), 10, "add_or_remove")
    calibrated = mdp.Gaussian().calibrate(query, epsilon=1, delta=1e-6)
    distribution, _, budget = calibrated.whitened
    for count in (10, 1e6, 1e8, 1e10, 1e15):
        one, other = (calibrated.release_value(np.full((2, 2), n / 10)) for n in (count, count + 1))
        assert np.linalg.norm(distribution.whiten(other - one)) <= budget * (1 + 1e-6)
    assert np.isfinite(other).all()


@pytest.mark.parametrize("count", [300, 2000])
def test_answers_are_those_of_the_records_whatever_number_is_stated(tmp_path, silent, count):
    LinearRegression = pytest.importorskip("sklearn.linear_model").LinearRegression
    rows = np.clip(people(count), LOWER, UPPER)
    mean = release(tmp_path / "mean", "mean", rows)
    assert mean.numbers[0] == pytest.approx(rows.mean(axis=0), rel=1e-5)
    table = release(tmp_path / "covariance", "covariance", rows, mechanism="gaussian").numbers
    assert table[:, 0] == pytest.approx(rows.mean(axis=0), rel=1e-5)
    assert table[:, 1:] == pytest.approx(np.cov(rows.T, bias=True), rel=1e-3)
    # The ridge of the noise falls with the true number.
    rows = np.clip(people(60_000), LOWER, UPPER)
    answer = release(tmp_path / "line", "regression", rows, records=100 * count)
    line = LinearRegression().fit(rows[:, :1], rows[:, 1])
    assert answer.numbers[0, 0] == pytest.approx(line.coef_[0], rel=0.1)


@pytest.mark.parametrize("count", [300, 2000])
def test_releases_in_parts_are_divided_by_the_noisy_number(tmp_path, silent, count):
    rows, half = np.clip(people(count), LOWER, UPPER), (UPPER - LOWER) / 2
    answer = release(tmp_path / "c", "covariance", rows, mechanism="clipped")
    assert answer.details["records"] == pytest.approx(count, rel=1e-5)
    assert not any(name.startswith("interval") for name in answer.details)
    assert answer.numbers[:, 0] == pytest.approx(rows.mean(axis=0), rel=1e-5)
    about = (rows - rows.mean(axis=0)) / half
    expected = clipped_moments(about, answer) * np.outer(half, half)
    assert answer.numbers[:, 1:] == pytest.approx(expected, rel=1e-3)
    answer = release(tmp_path / "s", "second_moments", rows, mechanism="clipped")
    expected = clipped_moments(rows / UPPER, answer) * np.outer(UPPER, UPPER)
    assert answer.numbers == pytest.approx(expected, rel=1e-3)


def clipped_moments(rows, answer):
    """Return second moments of records that are clipped to the radius of an answer."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows * np.minimum(1, answer.details["radius_in_half_ranges"] / lengths)
    return rows.T @ rows / len(rows)


def test_in_python_a_sum_is_over_the_stated_number(tmp_path):
    query = mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 400, "add_or_remove")
    added = mdp.Gaussian().calibrate(query, epsilon=1, delta=1e-6)
    assert added.statement.adjacency == "add_or_remove"
    assert "one record is added or removed" in added.explain()
    for count in (0, 100, 1000):
        (entry,) = added.release(np.ones((count, 1)))[0]
        assert entry == pytest.approx(count / 400, abs=6 * added.noise_std)
    path = tmp_path / "a.json"
    account = mdp.Account(path, epsilon=2, delta=1e-5, adjacency="add_or_remove")
    account.spend(added)
    assert account.events()["events"][0]["noise_multiplier"] == pytest.approx(1 / added.mu)
