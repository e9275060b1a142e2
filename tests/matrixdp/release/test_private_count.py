"""Neighbours that have one record more or less: noise for it, and nothing that tells how many."""

import json

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp import cli
from matrixdp.noise import safe
from matrixdp.privacy import exact_sums
from matrixdp.release import choices, specification

SPECIFICATION = """
file = "people.csv"
query = "QUERY"
records = RECORDS
epsilon = 3.0
delta = 1e-6
adjacency = "add_or_remove"
total = {epsilon = 3.0, delta = 1e-6}
MORE
missing = "refuse"
[bounds]
age = [20, 120]
income = [0, 200000]
"""
QUERIES = ["mean", "covariance", "components", "regression"]
CLIPPED = 'mechanism = "clipped"'
#: Of mechanisms of one part, and of releases in parts.
CASES = [(query, "") for query in QUERIES] + [
    (query, CLIPPED) for query in ("second_moments", *QUERIES[1:])
]
LOWER, UPPER = np.array([20.0, 0.0]), np.array([120.0, 2e5])


def people(count):
    rng = np.random.default_rng(1)
    age = 40 + 10 * rng.standard_normal(count)
    return np.clip(np.column_stack([age, 3e4 + 500 * age + 1e4 * rng.normal(size=count)]), 20, 2e5)


def written(folder, query, rows, records=400, more=""):
    folder.mkdir(exist_ok=True)
    np.savetxt(folder / "people.csv", rows, delimiter=",", header="age,income", comments="")
    if query == "regression":
        more = f'target = "income"\n{more}'
    text = SPECIFICATION.replace("QUERY", query).replace("MORE", more)
    (folder / "s.toml").write_text(text.replace("RECORDS", str(records)))
    return folder / "s.toml"


def run(folder, query, rows, options=(), **given):
    path = written(folder, query, rows, **given)
    words = ["release", str(path), "--out", str(folder / "out"), *options]
    assert cli.main(words) == 0
    lines = (folder / f"out/{query}.csv").read_text().splitlines()
    return [line.split(",") for line in lines], (folder / f"out/{query}.receipt.json").read_text()


def neighbours(spec, rng, count):
    """Yield pairs of values: of some records, and of the same with one record more."""
    for number in range(count):
        rows = rng.uniform(LOWER - 9, UPPER + 9, (rng.integers(0, 9), 2))
        extra = rng.uniform(LOWER, UPPER) if number % 3 else np.where(rng.random(2) < 0.5, *SIDES)
        pair = []
        for block in (rows, np.vstack([rows, extra])):
            scaled = spec.scaled(rng.permutation(block))
            pair.append(exact_sums.value(spec.query, [scaled]))
        yield pair


SIDES = LOWER - 5, UPPER + 5


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("more", ["", "max_norm = 1e5"])
def test_no_neighbours_are_further_apart_than_the_noise_is_made_for(tmp_path, query, more):
    spec = specification.read(written(tmp_path, query, people(3), 5, more))
    for option in choices.by_noise(spec):
        distribution, unit, budget = option.release.whitened
        order = 2 if unit is safe.NORMAL else 1
        apart = [
            np.linalg.norm(distribution.whiten(one) - distribution.whiten(other), order)
            for one, other in neighbours(spec, np.random.default_rng(0), 200)
        ]
        assert max(apart) <= budget * (1 + 1e-9)
        # The bound is that of a corner, which the search reaches.
        assert "max_norm" in more or max(apart) > 0.9 * budget


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


@pytest.mark.parametrize(("query", "more"), CASES)
def test_nothing_but_the_noisy_answer_depends_on_the_number(tmp_path, query, more, capsys):
    receipts, told = set(), set()
    for count in (0, 1, 399, 401, 3000):
        folder = tmp_path / str(count)
        _, receipt = run(folder, query, people(count), ["--even-if-useless"], more=more)
        receipts.add(receipt)
        output = capsys.readouterr()
        lines = (output.out + output.err).replace(str(folder), "").splitlines()
        # A mean beyond its bounds, which the answer shows, has a note and details.
        told.add(tuple(one for one in lines if not one.startswith(("note: noise", "details:"))))
        account = json.loads((folder / "people.csv.privacy.json").read_text())
        assert account["total"]["neighbours"] == "add_or_remove"
    assert len(receipts) == len(told) == 1
    assert "their number is private" in receipts.pop()


@pytest.mark.parametrize("count", [300, 2000])
def test_answers_are_those_of_the_records_whatever_number_is_stated(tmp_path, monkeypatch, count):
    LinearRegression = pytest.importorskip("sklearn.linear_model").LinearRegression
    monkeypatch.setattr(safe, "noise", lambda distribution, count, bits: np.zeros(count, np.int64))
    rows = np.clip(people(count), LOWER, UPPER)
    lines, _ = run(tmp_path / "mean", "mean", rows, ["--even-if-useless"])
    assert [float(cell) for cell in lines[1]] == pytest.approx(rows.mean(axis=0), rel=1e-5)
    lines, _ = run(
        tmp_path / "covariance", "covariance", rows, ["--even-if-useless"], more='mechanism = "goe"'
    )
    table = np.array([[float(cell) for cell in line[1:]] for line in lines[1:]])
    assert table[:, 0] == pytest.approx(rows.mean(axis=0), rel=1e-5)
    assert table[:, 1:] == pytest.approx(np.cov(rows.T, bias=True), rel=1e-3)
    # The ridge of the noise falls with the true number.
    rows, stated = np.clip(people(60_000), LOWER, UPPER), {"records": 100 * count}
    lines, _ = run(tmp_path / "line", "regression", rows, ["--even-if-useless"], **stated)
    line = LinearRegression().fit(rows[:, :1], rows[:, 1])
    assert float(lines[1][0]) == pytest.approx(line.coef_[0], rel=0.1)


@pytest.mark.parametrize("count", [300, 2000])
def test_releases_in_parts_are_divided_by_the_noisy_number(tmp_path, monkeypatch, count):
    monkeypatch.setattr(safe, "noise", lambda distribution, count, bits: np.zeros(count, np.int64))
    rows, half = np.clip(people(count), LOWER, UPPER), (UPPER - LOWER) / 2
    lines, _ = run(tmp_path / "c", "covariance", rows, ["--even-if-useless"], more=CLIPPED)
    table = np.array([[float(cell) for cell in line[1:]] for line in lines[1:]])
    details = json.loads((tmp_path / "c/out/covariance.details.json").read_text())
    assert details["records"] == pytest.approx(count, rel=1e-5)
    assert not any(name.startswith("interval") for name in details)
    assert table[:, 0] == pytest.approx(rows.mean(axis=0), rel=1e-5)
    about = (rows - rows.mean(axis=0)) / half
    lengths = np.linalg.norm(about, axis=1, keepdims=True)
    about *= np.minimum(1, details["radius_in_half_ranges"] / lengths)
    expected = about.T @ about / count * np.outer(half, half)
    assert table[:, 1:] == pytest.approx(expected, rel=1e-3)
    lines, _ = run(tmp_path / "s", "second_moments", rows, ["--even-if-useless"], more=CLIPPED)
    radius = json.loads((tmp_path / "s/out/second_moments.details.json").read_text())
    about = rows / UPPER
    about *= np.minimum(1, radius["radius_in_half_ranges"] / np.linalg.norm(about, axis=1))[:, None]
    table = np.array([[float(cell) for cell in line[1:]] for line in lines[1:]])
    assert table == pytest.approx(about.T @ about / count * np.outer(UPPER, UPPER), rel=1e-3)


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
    with pytest.raises(mdp.InputError, match="the records themselves show their number"):
        mdp.IdentityQuery(mdp.Box((0.0,), (1.0,)), 400, "add_or_remove")


def test_an_account_keeps_its_relation(tmp_path, capsys):
    run(tmp_path, "mean", people(400), ["--even-if-useless"])
    path = tmp_path / "s.toml"
    path.write_text(path.read_text().replace("add_or_remove", "replace"))
    assert cli.main(["release", str(path), "--out", str(tmp_path / "second")]) == 2
    assert "neighbours = add_or_remove, not replace" in capsys.readouterr().err
    account = mdp.Account(tmp_path / "people.csv.privacy.json", adjacency="add_or_remove")
    assert account.events()["neighboring_relation"] == "ADD_OR_REMOVE_ONE"
    query = mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 400, "zero_out")
    with pytest.raises(mdp.InputError, match="begun for 'add_or_remove'"):
        account.spend(mdp.Gaussian().calibrate(query, epsilon=0.1, delta=1e-7))
