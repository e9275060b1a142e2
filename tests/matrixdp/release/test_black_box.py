"""A release as a black box, from the request to the number that is published, on neighbours.

Both neighbours get the same noise, pair by pair, and the event to look for is fixed in advance.
Honest noise must not be refuted, and prove part of its epsilon; noise that is made for a larger
epsilon than claimed, or that has a defect on the way, must be refuted.
"""

import os
import tomllib

import harness
import numpy as np
import pandas as pd
import pytest

import matrixdp as mdp
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.histogram import thresholds
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.mechanisms.moments import CONSTANT
from matrixdp.noise import safe
from matrixdp.privacy import exact_sums
from matrixdp.privacy.groups import GroupMeanQuery
from matrixdp.release import choices, tables
from matrixdp.release.outputs.covariance import RAW
from matrixdp.release.outputs.noisy import reader
from matrixdp.release.outputs.output import UNCLIPPED

CLAIMED, DELTA = 1.0, 0.01
#: A release of 20 records in [0, 1], in Python.
RECORDS = {"bounds": {"x": (0, 1)}, "missing": {"x": 0}, "query": "mean", "delta": DELTA}
UPPER = np.array([120.0, 2e5])


def keys(epsilon, delta, **others):
    """Return the keys of a release of a mean, whose total does not matter."""
    total = {"epsilon": 9, "delta": delta}
    return {"epsilon": epsilon, "delta": delta, "total": total, **others}


def file_of_records(folder, epsilon, mechanism="laplace", delta=0.0, words=False):
    """One record of a file is replaced; its words and commas are those of a hospital."""
    dialect = {"separator": ";", "decimal": ","} if words else {}
    stated = keys(epsilon, delta, mechanism=mechanism, records=20, bounds={"x": [0, 1]}, **dialect)

    def release(pair, first):
        text = f"x,y\n{int(first)},{int(first)}\n" + "0,0\n" * 19
        if words:
            text = f"x;y\n{first};0,5\n" + "false;0,5\n-0,0;0,5\n" * 9 + "FALSE;NA\n"
        name, out = f"{int(first)}.csv", f"{first}-{pair}"
        (folder / name).write_text(text)
        assert harness.run(folder, out, insist=True, file=name, **stated) == 0
        # Every pair stands for the same file, released once.
        (folder / f"{name}.privacy.json").unlink()
        return harness.read(folder, out=out).numbers[0, 0]

    return release


def frame(folder, epsilon, person=False, records=20, per_person=2):
    """One record of a data frame is replaced, or the six of one person, of whom two count."""
    settings = {**RECORDS, "mechanism": "gaussian", "epsilon": epsilon, "even_if_useless": True}
    if person:
        settings |= {"person": "name", "per_person": per_person, "adjacency": "replace"}
        settings["records"] = records

    def release(pair, first):
        rows = pd.DataFrame({"x": [1.0 if first else None, *[0.0] * 19]})
        if person:
            names = np.repeat(np.arange(10), 6)
            values = np.where(names == 0, 1.0 if first else np.nan, 0.0)
            rows = pd.DataFrame({"x": values, "name": names})
        return mdp.make_release(rows, **settings).answer["x"][0]

    return release


def group(folder, epsilon, mechanism="laplace", delta=0.0, each=9):
    """One record of a data frame moves from one group to another; both have ``each`` others."""
    settings = {"query": "counts", "by": "g", "categories": {"g": ["a", "b"]}, "delta": delta}
    names = [*"ab" * each, "c"]

    def release(pair, first):
        rows = pd.DataFrame({"g": ["a" if first else "b", *names]})
        answer = mdp.make_release(
            rows, **settings, epsilon=epsilon, mechanism=mechanism, even_if_useless=True
        )
        counts = answer.details["interval_95"]["count"]
        return sum(counts["a"]) - sum(counts["b"])

    return release


def number_of_records(folder, epsilon, delta=DELTA):
    """One record more or less, in the sum whose noise covers it."""
    bounds = {"age": [20, 120], "income": [0, 200_000]}
    stated = keys(epsilon, delta, mechanism="gaussian", records=20, bounds=bounds)
    spec = harness.spec(folder, adjacency="add_or_remove", **stated)
    (option, *_) = choices.by_noise(spec)

    def release(pair, first):
        rows = spec.scaled(np.tile(UPPER, (20 if first else 19, 1)))
        return option.release.release_value(exact_sums.value(spec.query, [rows])).sum()

    return release


def whole_person(folder, epsilon, delta=DELTA):
    """A person of seven rows comes or goes, of which three count."""
    bounds = {"age": [20, 120], "income": [0, 200_000]}
    stated = keys(epsilon, delta, mechanism="gaussian", records=20, bounds=bounds)
    people = {"person": "patient", "per_person": 3, "adjacency": "add_or_remove"}
    spec = harness.spec(folder, **people, **stated)
    (option, *_) = choices.by_noise(spec)

    def release(pair, first):
        names = ["x"] * (7 if first else 0) + [f"y{k}" for k in range(17)]
        counting = np.tile(UPPER, (len(names), 1))[mdp.bound_contributions(names, 3)]
        value = exact_sums.value(spec.query, [spec.scaled(counting)])
        return option.release.release_value(value).sum()

    return release


def clipped_moments(folder, epsilon, delta=DELTA):
    """One record of second moments that are clipped to a private radius is replaced."""
    query = mdp.SecondMomentQuery(mdp.Box.cube(1, -1.0, 1.0), 20)
    budget = {"epsilon": epsilon, "delta": delta}
    composed = ComposedMoments.calibrated(PrivatelyClipped(), query, **budget)

    def release(pair, first):
        outcome = composed.release(np.array([[float(first)]] + [[1.0]] * 10 + [[0.0]] * 9))
        return outcome.moments[0, 0] / outcome.radius**2

    return release


def several_answers(folder, epsilon, delta=DELTA):
    """One record is replaced, and all answers of a list are looked at together.

    The published means and covariances have the noisy moments again, whose likelihoods under both
    neighbours, which differ as far as any, an event compares.
    """
    bounds = {name: [-1, 1] for name in "abcd"}
    stated = keys(epsilon, delta, mechanism="gaussian", records=20, bounds=bounds)
    spec = harness.spec(folder, query=["mean", "covariance"], **stated)
    (option,) = choices.by_noise(spec)
    noise, others = option.release.noise, np.zeros((19, 4))
    exact = [
        exact_sums.value(spec.query, [spec.scaled(np.vstack([row, others]))])
        for row in ([1.0, 1, 1, 1], [1.0, -1, -1, -1])
    ]
    changed = noise.whiten(exact[1] - exact[0])
    # As far apart as the charge says.
    assert np.linalg.norm(changed) == pytest.approx(option.release.mu, rel=0.01)
    mean, covariance = spec.readings
    reads = [reader(one, option.release, spec.columns) for one in (mean, covariance)]

    def release(pair, first):
        drawn = option.release.release_value(exact[int(first)])
        first_answer, second = (read(drawn) for read in reads)
        means = mean.answer(first_answer)[0]
        for name, value in mean.details(first_answer).get(UNCLIPPED, {}).items():
            means[spec.columns.index(name)] = value
        table = covariance.details(second)[RAW]
        products = np.array([[*row.values()] for row in table.values()]) + np.outer(means, means)
        moments = exact[0].copy()
        columns = np.delete(np.arange(5), CONSTANT)
        moments[np.ix_(columns, columns)] = products
        moments[CONSTANT, columns] = moments[columns, CONSTANT] = means
        return noise.whiten(moments - exact[0]) @ changed / np.linalg.norm(changed)

    return release


def private_bounds(folder, epsilon, delta=0.0):
    """The first record decides which of two bins is above the threshold, and so the bounds."""
    names = {"query": "bounds", "bounds": None, "columns": ["x"], "mechanism": None}
    (option, *_) = harness.options(
        harness.spec(folder, **keys(epsilon, delta, records=100, **names))
    )
    half = int(thresholds(option.release)[0])
    stated = keys(epsilon, delta, records=2 * half + 1, **names)

    def release(pair, first):
        sides = (1000, 1) if first else (1, 1000)
        rows = [sides[0], *[*sides] * half]
        name, out = f"{int(first)}.csv", f"{first}-{pair}"
        harness.save(folder / name, np.array(rows, float)[:, None], ["x"])
        assert harness.run(folder, out, insist=True, file=name, **stated) == 0
        (folder / f"{name}.privacy.json").unlink()
        sides = tomllib.loads((folder / out / "bounds.toml").read_text())["bounds"]
        return float(sides.get("x") == [512, 1024])

    return release


def smaller(share):
    """Return a defect: noise that is too small by a share."""

    def break_noise(monkeypatch):
        whole = safe.noise
        monkeypatch.setattr(safe, "noise", lambda *given: whole(*given) // share)

    return break_noise


def a_record_too_many(monkeypatch):
    monkeypatch.setattr(tables.FirstRecords, "keep", lambda self, names: np.array(names) < 2)


def noise_of_one_record(monkeypatch):
    monkeypatch.setattr(mdp.MeanQuery, "group", 1)


def records_that_leave(monkeypatch):
    """The sensitivity of another relation, whose records leave a group and enter none."""
    whole = GroupMeanQuery.l1_sensitivity.fget
    monkeypatch.setattr(GroupMeanQuery, "l1_sensitivity", property(lambda self: whole(self) / 2))


def exact_counts(monkeypatch):
    noisy = AdditiveMechanism.add_noise

    def add(self, value, bits):
        return value if self.query.name == "sizes" else noisy(self, value, bits)

    monkeypatch.setattr(AdditiveMechanism, "add_noise", add)


GAUSSIAN = {"mechanism": "gaussian", "delta": DELTA}
#: Doors whose noise is honest: keys, the event, pairs every day and every night.
HONEST = [
    (file_of_records, {}, 1 / 20, 60, 2000),
    (file_of_records, GAUSSIAN, 1 / 20, 60, 2000),
    (file_of_records, {"words": True}, 1 / 20, 60, 2000),
    (frame, {}, 1 / 20, 60, 2000),
    (frame, {"person": True}, 1 / 10, 60, 2000),
    (group, {}, 0, 40, 2000),
    (group, GAUSSIAN, 0, 40, 2000),
    (number_of_records, {}, 3 * 19.8 / 20, 200, 3000),
    (whole_person, {}, 3.02, 200, 3000),
    (clipped_moments, {}, 0.55, 200, 3000),
    (several_answers, {}, 0.4, 60, 3000),
    (private_bounds, {}, 0.5, 0, 600),
    (private_bounds, {"delta": DELTA}, 0.5, 60, 600),
]
#: Doors with a defect, or with noise for another epsilon than claimed.
DEFECTS = [
    (file_of_records, {}, 4, None, 0.05, 80, 400),
    (file_of_records, {}, 2, None, 0.05, 0, 1000),
    (file_of_records, GAUSSIAN, 4, None, 0.05, 0, 600),
    (file_of_records, GAUSSIAN, 2, None, 0.106, 0, 3000),
    (file_of_records, GAUSSIAN, 1, smaller(4), 0.05, 100, 400),
    (file_of_records, GAUSSIAN, 1, smaller(2), 0.08, 0, 1500),
    (file_of_records, {"words": True}, 4, None, 0.05, 80, 400),
    (frame, {}, 1, smaller(8), 1 / 40, 100, 100),
    (
        frame,
        {"person": True, "records": 12, "per_person": 1},
        1,
        a_record_too_many,
        1 / 4,
        100,
        100,
    ),
    (group, {}, 1, smaller(8), 0, 80, 300),
    # Other numbers of records than elsewhere: a mechanism that is calibrated once is kept.
    (group, {"each": 90}, 1, records_that_leave, 4, 0, 2000),
    (number_of_records, {}, 1, smaller(4), 3 * 19.8 / 20, 200, 600),
    (number_of_records, {}, 1, smaller(2), 3 * 20.7 / 20, 0, 3000),
    (whole_person, {}, 1, noise_of_one_record, 3.02, 200, 600),
    (clipped_moments, {}, 1, smaller(6), 0.53, 200, 600),
    (clipped_moments, {}, 1, smaller(2), 0.58, 0, 6000),
    (several_answers, {}, 1, smaller(4), 0.4, 100, 600),
    (several_answers, {}, 4, None, 1.8, 0, 1500),
    (private_bounds, {}, 4, None, 0.5, 0, 300),
    (private_bounds, {}, 1, smaller(8), 0.5, 0, 200),
    (private_bounds, {"delta": DELTA}, 1, smaller(8), 0.5, 0, 200),
    (private_bounds, {}, 1, exact_counts, 0.5, 0, 60),
    (private_bounds, {"delta": DELTA}, 1, exact_counts, 0.5, 60, 60),
]


@pytest.fixture
def prove(tmp_path, monkeypatch):
    """Return a function that releases pairs, each with random bits of its own."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)

    def run(door, changes, epsilon, above, pairs):
        release = door(tmp_path, epsilon, **changes)

        def seeded(pair, first):
            monkeypatch.setattr(os, "urandom", np.random.default_rng(pair).bytes)
            return release(pair, first)

        doors = frame, number_of_records, whole_person, clipped_moments, several_answers
        python = DELTA if door in doors else 0.0
        delta = changes.get("delta", python)
        return harness.prove(seeded, pairs, above, delta, CLAIMED)

    return run


def every_day(rows):
    """Return rows, those nightly that have no pairs every day."""
    return [pytest.param(*row, marks=[pytest.mark.nightly] * (not row[-2])) for row in rows]


@pytest.mark.parametrize(("door", "changes", "above", "day", "night"), every_day(HONEST))
def test_honest_noise_is_not_refuted(prove, door, changes, above, day, night, request):
    nightly = request.config.getoption("--nightly")
    proof = prove(door, changes, CLAIMED, above, night if nightly else day)
    assert not proof.refuted
    assert proof.epsilon <= CLAIMED
    assert not nightly or door is not file_of_records or proof.epsilon > 0.3


@pytest.mark.parametrize(
    ("door", "changes", "epsilon", "defect", "above", "day", "night"),
    every_day(DEFECTS),
)
def test_a_defect_is_refuted(
    prove, monkeypatch, request, door, changes, epsilon, defect, above, day, night
):
    if defect:
        defect(monkeypatch)
    pairs = night if request.config.getoption("--nightly") else day
    proof = prove(door, changes, epsilon, above, pairs)
    assert proof.refuted
    assert defect or CLAIMED < proof.epsilon <= epsilon
