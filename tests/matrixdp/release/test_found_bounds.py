"""A release whose bounds a part of it finds: the charge, the answer, and what is not called so."""

import os
from pathlib import Path

import harness
import numpy as np
import pytest
from harness import charges

import matrixdp
from matrixdp.mechanisms.private_bounds import MISSING, SHARE, PrivatelyBounded
from matrixdp.release import choices, ledger, private_bounds, receipt, release

QUERIES = ("mean", "second_moments", "covariance", "components", "regression")
PACKAGE = Path(matrixdp.__file__).parent
#: Releases of 2,000 records, whose bounds are private.
KEYS = {
    "records": 2000,
    "epsilon": 1.0,
    "delta": 1e-5,
    "missing": "middle",
    "bounds": "private",
    "columns": ["age", "income"],
}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.uniform(20, 80, 2000), rng.lognormal(10, 0.35, 2000)])
    harness.save(tmp_path / "people.csv", rows)
    return tmp_path


def stated(query="mean", **keys):
    target = {"target": "income"} if query == "regression" else {}
    return {**KEYS, "query": query, **target, **keys}


def run(folder, query="mean", out="out", **keys):
    """Release; return what was written."""
    assert harness.run(folder, out, **stated(query, **keys)) == 0
    return harness.read(folder, query, out)


def spec(folder, query="mean", **keys):
    return harness.spec(folder, **stated(query, **keys))


def of_one_column(folder, records, delta):
    """Return a specification of a mean of one column whose bounds are private."""
    keys = {"columns": ["x"], "epsilon": 1.0, "delta": delta, "missing": "refuse"}
    return spec(folder, records=records, **keys)


def are_near(details, sides):
    """Return whether these are the bounds, or wider ones by an empty bin at either end."""
    bounds = details["private_bounds"]
    return set(bounds) == set(sides) and all(
        bounds[name] == side
        or (
            (side and bounds[name][0] in (side[0], side[0] / 2))
            and bounds[name][1] in (side[1], side[1] * 2)
        )
        for name, side in sides.items()
    )


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("delta", [0, 1e-5])
def test_every_query_is_answered_and_charged_once_in_whole(folder, query, delta):
    answer = run(folder, query, delta=delta)
    (charge,) = charges(folder)
    account = ledger.read(folder / "people.csv.privacy.json")
    assert 0.99 < ledger.total_epsilon(account) <= 1
    shares = [part["share"] for part in charge["parts"]]
    assert shares == pytest.approx([SHARE, 1 - SHARE], rel=0.01)
    assert are_near(answer.details, {"age": [16, 128], "income": [8192, 65536]})
    if query == "mean":
        age, income = answer.numbers[0]
        assert age == pytest.approx(50, abs=2)
        assert income == pytest.approx(np.exp(10.06), rel=0.1)
    # Nothing is called an interval of the answer.
    texts = "".join(file.read_text() for file in (folder / "out").iterdir())
    assert "interval_" not in texts
    assert "clipped" in texts
    if query in ("mean", "second_moments"):
        assert {*answer.details["noise_alone_95_plus_or_minus"]} == {"age", "income"}


def test_without_bounds_nothing_is_released_and_the_charge_stays(folder, capsys):
    harness.save(folder / "people.csv", [[50.0, np.nan]] * 2000)
    for out in ("out", "again"):
        assert harness.run(folder, out, **stated()) == 0
        assert "no bounds were found for 'income', so that nothing" in capsys.readouterr().out
        assert not (folder / out / "mean.csv").exists()
    (charge,) = charges(folder)
    assert charge["mu"] > 0
    assert ledger.total_epsilon(ledger.read(folder / "people.csv.privacy.json")) > 0.99


def test_public_bounds_may_stand_beside_private_ones(folder):
    keys = {"bounds": {"age": [0, 100], "income": "private"}, "columns": None}
    answer = run(folder, "second_moments", **keys)
    assert are_near(answer.details, {"income": [8192, 65536]})
    (option, *_) = choices.options(spec(folder, "second_moments", **keys))
    assert option.release.search.query.columns == 1


def test_missing_values_are_filled_once_bounds_are_known(folder):
    rows = np.full((2000, 2), np.nan)
    rows[:1000] = [40.0, 20000.0]
    harness.save(folder / "people.csv", rows)
    middles = (40 + 48) / 2, (20000 + 24576) / 2
    assert run(folder).numbers[0] == pytest.approx(middles, rel=0.05)
    assert spec(folder, missing={"age": 40}).fill.tolist() == [40, MISSING]
    assert harness.run(folder, "refused", **stated(missing="refuse", label="refused")) == 2


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_the_mean_of_values_present_leaves_them_out_within_private_bounds(
    tmp_path, monkeypatch, delta
):
    monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
    stream = np.random.default_rng(1)
    rows = stream.uniform(6, 8, (5000, 2))
    rows[stream.random((5000, 2)) < 0.5] = np.nan
    harness.save(tmp_path / "people.csv", rows, ("x", "y"))
    keys = {"bounds": {"x": "private", "y": [4, 8]}, "columns": None, "missing": "present"}
    answer = run(tmp_path, records=5000, epsilon=4.0, delta=delta, **keys)
    # The middle of [4, 8] in place of the missing half would give 6.5.
    assert answer.numbers[0] == pytest.approx(np.nanmean(rows, axis=0), abs=0.15)
    assert "counts in no column" in answer.page


@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
def test_both_parts_protect_the_records_of_a_person(folder, relation):
    rows = np.column_stack([np.full((4000, 2), 50.0), np.arange(4000) // 2])
    harness.save(folder / "people.csv", rows, ("age", "income", "who"))
    people = {"person": "who", "adjacency": relation}
    # Half of the records count, in both parts, and none of the others.
    run(folder, per_person=1, **people)
    one, three = (
        choices.options(spec(folder, per_person=most, **people))[0].release for most in (1, 3)
    )
    assert three.search.noise_std == pytest.approx(3 * one.search.noise_std, rel=1e-6)
    assert three.inner.noise_std == pytest.approx(3 * one.inner.noise_std, rel=1e-6)
    assert one.inner.query.adjacency == one.search.query.adjacency == relation


@pytest.mark.parametrize("query", QUERIES)
def test_records_within_any_bounds_are_records_of_the_calibration(folder, query):
    intercept = {"intercept": False} if query == "regression" else {}
    request = spec(folder, query, **intercept)
    rows = np.array([[-np.inf, 1e308], [0.0, -5.0], [MISSING, 3.0], [np.inf, -1e-300], [7.0, 9.0]])
    for sides in ([(-8.0, -4.0), (0.0, 2.0)], [(4.0, 8.0), (-(2.0**64), 2.0**64)]):
        bounded = private_bounds.within(request, sides)
        assert bounded.query == request.query
        assert (np.abs(bounded.output.scaled(rows)) <= 1).all()
        assert bounded.fill.tolist() == [*bounded.box.middle]


@pytest.mark.nightly
@pytest.mark.parametrize(("delta", "rmse"), [(0, 630), (1e-5, 500)])
def test_the_mean_of_skewed_incomes_is_as_near_as_the_docs_say(tmp_path, delta, rmse):
    rows = np.random.default_rng(5).lognormal(10, 1, (5000, 1))
    harness.save(tmp_path / "people.csv", rows, ["x"])
    request = of_one_column(tmp_path, 5000, delta)
    draw = release.prepare(request, choices.options(request)[0].release, request.output)
    errors = [draw()[0][0, 0] - rows.mean() for _ in range(200)]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(rmse, rel=0.2)
    assert f" {rmse} |" in (PACKAGE / "own_matrix.md").read_text(encoding="utf-8")


def test_too_few_records_are_refused_before_they_are_charged(folder, capsys):
    harness.save(folder / "people.csv", np.ones((50, 2)))
    assert harness.run(folder, **stated(records=50)) == 2
    sentence = capsys.readouterr().err
    assert "need about 60 records that share a power of two, and there are 50" in sentence
    assert not charges(folder)


@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_both_parts_are_calibrated_to_the_whole_before_records_are_read(folder, query):
    request = spec(folder, query)
    (folder / "people.csv").unlink()
    option = choices.rank(request)[0][0]
    assert isinstance(option.release, PrivatelyBounded)
    assert ledger.entry(option.release)["mu"] == ledger.cost(option.release)
    assert receipt.build(request, option, "")["parts"] == option.release.costs


@pytest.mark.parametrize("delta", [0, 1e-5])
def test_noise_decides_on_bounds_of_counts_at_the_threshold(tmp_path, delta):
    request = of_one_column(tmp_path, 200, delta)
    chosen = choices.options(request)[0].release
    rows = 2.0 ** (1 + np.arange(200)[:, None] % 60)
    rows[: int(chosen.thresholds[0])] = 1.0
    harness.save(tmp_path / "people.csv", rows, ["x"])
    draw = release.prepare(request, chosen, request.output)
    assert 5 < sum(draw()[0].size for _ in range(40)) < 35
