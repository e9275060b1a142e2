"""One class per output: a new one is served everywhere, and no useless answer passes quietly."""

import os
import warnings
from dataclasses import dataclass
from functools import partial

import harness
import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.checks import Array
from matrixdp.release import choices, outlooks, outputs
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import DOUBTS, SHRUNK
from matrixdp.release.words import plain

BOUNDS = {"age": [0, 120], "income": [0, 200_000]}
#: Incomes of 400 people, most of them far below what the bounds allow.
STREAM = np.random.default_rng(1)
INCOMES = np.column_stack([STREAM.uniform(0, 120, 400), STREAM.lognormal(10.3, 0.5, 400)])


@dataclass(frozen=True, kw_only=True)
class Total(outputs.Mean):
    """An output of another author, in one class: sums of the columns."""

    name = "total"
    title = "sums"

    def answer(self, noisy: Noisy) -> Array:
        """Return sums (1, m)."""
        return super().answer(noisy) * self.query.n_records


def test_a_new_output_is_a_class_and_its_name(tmp_path, monkeypatch, silent, capsys):
    monkeypatch.setitem(outputs.OUTPUTS, "total", Total)
    rows = harness.ROWS.clip(0, [120, 200_000])
    harness.save(tmp_path / "people.csv", rows)
    assert harness.run(tmp_path, verb="recommend", query="total") == 0
    assert "noise of +- 0.424 in the mean of age" in capsys.readouterr().out
    assert harness.run(tmp_path, query="total") == 0
    answer = harness.read(tmp_path, "total")
    assert answer.numbers[0] == pytest.approx(rows.sum(axis=0), rel=1e-6)
    assert "sums, of 400 records" in answer.page
    bounds = {0: (0, 120), 1: (0, 200_000)}
    settings = {"bounds": bounds, "epsilon": 2, "delta": 1e-6, "missing": "refuse"}
    release = mdp.make_release(rows, query="total", **settings)
    table = release.answer
    values = table["values"] if isinstance(table, dict) else table.to_numpy()
    assert values[0] == pytest.approx(answer.numbers[0])


#: Requests of an answer that noise may be all of, and what is said of it before and after.
HIDDEN = [
    ({"query": "covariance"}, "noise hides standard deviations of age below", "of income, "),
    ({"query": "components"}, "noise takes about", "in component 2: its eigenvalue"),
    ({"query": "second_moments", "epsilon": 0.1}, "noise hides root mean squares", "of income, "),
    ({"query": "regression", "target": "income"}, "R^2 of about", "coefficient of age"),
]


@pytest.mark.parametrize(("keys", "before", "after"), HIDDEN)
@pytest.mark.parametrize("mechanism", ["recommend", "gaussian"])
def test_an_answer_that_may_be_noise_says_so(
    tmp_path, monkeypatch, capsys, keys, before, after, mechanism
):
    harness.save(tmp_path / "people.csv", INCOMES)
    monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)
    keys = {"epsilon": 0.5, "mechanism": mechanism, **keys}
    assert harness.run(tmp_path, **keys) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(before)
    answer = harness.read(tmp_path, keys["query"])
    (*_, doubt) = answer.details[DOUBTS]
    assert after in doubt
    assert f"note: {doubt}\n" in printed.err
    if keys["query"] == "covariance":
        # It is the number of the answer, of whatever the noise made of it.
        assert f"{plain(np.sqrt(answer.numbers[1, 2]), 3)}: it hides" in doubt


def test_a_coefficient_within_two_standard_errors_of_0_may_be_noise():
    box = mdp.Box.cube(4, 0, 1)
    line = harness.fit("regression", box, 400, epsilon=1.0, delta=1e-6)
    (doubt,) = line.doubts_of(np.array([2.1, -2.1, -1.9]), np.ones(3))
    assert "the coefficient of 2:" in doubt


@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
def test_what_may_be_noise_is_below_what_line_1_says_to_be_hidden(
    tmp_path, monkeypatch, capsys, adjacency
):
    monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)
    harness.save(tmp_path / "people.csv", INCOMES)
    keys = {"query": "covariance", "mechanism": "laplace", "adjacency": adjacency, "epsilon": 0.5}
    assert harness.run(tmp_path, **keys) == 0
    line, *_ = capsys.readouterr().out.splitlines()
    for doubt in harness.read(tmp_path, "covariance").details[DOUBTS]:
        name, limit = doubt.split(" of ")[1].split(",")[0], doubt.split("below ")[1]
        assert f"of {name} below {limit}" in line


def test_a_noisy_number_of_records_hides_no_small_moment_in_parts():
    """It takes a share of each moment alone."""
    box, shares = mdp.Box.cube(2, -1.0, 1.0), []
    for adjacency in ("replace", "add_or_remove"):
        keys = {"mechanism": "clipped", "adjacency": adjacency}
        spec = harness.fit("covariance", box, 4000, epsilon=1.0, delta=1e-6, **keys)
        (option,) = harness.options(spec)
        output, release = spec, option.release
        part = min(release.radii, key=lambda one: one.noise_std)
        shares.append(output._hidden(release, part) / output.deviations(release, part)[1])
    assert shares[0] == pytest.approx(2.0)
    assert (shares[1] < 1.0).all()


@pytest.mark.parametrize("keys", [keys for keys, *_ in HIDDEN])
def test_an_answer_far_above_its_noise_says_nothing(tmp_path, capsys, keys):
    rows = INCOMES / INCOMES.max(axis=0) * [120, 200_000]
    rows[:, 1] = 0.5 * rows[:, 1] + 800 * rows[:, 0]
    harness.save(tmp_path / "people.csv", np.repeat(rows, 50, axis=0))
    assert harness.run(tmp_path, **{**keys, "epsilon": 9.0, "records": 20_000}) == 0
    assert DOUBTS not in harness.read(tmp_path, keys["query"]).details
    assert "noise may be" not in capsys.readouterr().err


def test_an_estimator_names_the_column_of_a_number_that_may_be_noise():
    pytest.importorskip("sklearn")
    frame = pytest.importorskip("pandas").DataFrame(INCOMES, columns=["age", "income"])
    bounds = {"age": (0, 120), "income": (0, 200_000)}
    weak = mdp.Covariance(epsilon=0.5, bounds=bounds, mechanism="analyze_gauss")
    assert "the standard deviation of income" in " ".join(weak.fit(frame).notes_)


def test_an_estimator_notes_that_clipping_takes_from_records(monkeypatch):
    pytest.importorskip("sklearn")
    # The mechanism is named: little is simulated, and kept from other tests.
    monkeypatch.setattr(outlooks, "_WORK", 1)
    monkeypatch.setattr(choices, "_listed", choices._listed.__wrapped__)
    rows = np.random.default_rng(0).normal(0.5, 0.05, (5000, 4))
    rows[:1500] = np.random.default_rng(1).choice([0.0, 1.0], (1500, 4))
    keys = {"epsilon": 1.0, "delta": 1e-6, "bounds": (0, 1)}
    line = partial(mdp.PrivateRidge, target_bounds=(0, 1))
    parts = (rows[:, :3], rows[:, 3])
    for kind, data in ((mdp.Covariance, (rows,)), (mdp.PrivatePCA, (rows,)), (line, parts)):
        assert SHRUNK in kind(**keys, mechanism="clipped").fit(*data).notes_
        assert SHRUNK not in kind(**keys, mechanism="analyze_gauss").fit(*data).notes_


def test_an_estimator_notes_what_other_doors_note(monkeypatch):
    """A doubt that depends on the answer is a note, never a warning: the fit is paid for."""
    pytest.importorskip("sklearn")
    bounds, target = {0: (0, 120), 1: (0, 200_000)}, {"target_bounds": (0, 200_000)}
    keys = {"mechanism": "gaussian", "even_if_useless": True, "delta": 1e-6}
    for query, kind, epsilon, more, asked in (
        ("covariance", mdp.Covariance, 0.5, {}, {}),
        ("components", mdp.PrivatePCA, 0.5, {"n_components": 2}, {"number": 2}),
        ("regression", mdp.PrivateRidge, 0.05, target, {"target": 1}),
    ):
        line = query == "regression"
        sides = {0: (0, 120)} if line else bounds
        estimator = kind(**keys, **more, epsilon=epsilon, bounds=sides, missing="refuse")
        records = (INCOMES[:, :1], INCOMES[:, 1]) if line else (INCOMES,)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)
            notes = estimator.fit(*records).notes_
            monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)
            stated = {"query": query, "bounds": bounds, "epsilon": epsilon, "missing": "refuse"}
            made = mdp.make_release(INCOMES, **stated, **asked, **keys)
        assert notes == made.notes
        assert any("noise may be all there is in" in note for note in notes)
    rows = np.random.default_rng(0).uniform(0, [120, 200_000], (20_000, 2))
    for kind in (mdp.Covariance, mdp.PrivatePCA):
        assert not kind(epsilon=9.0, bounds=bounds, mechanism="gaussian").fit(rows).notes_
