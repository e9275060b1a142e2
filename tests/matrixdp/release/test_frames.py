"""Data frames and arrays: what estimators and releases in Python take from them, and give back."""

import os
import sys
from decimal import Decimal

import harness
import numpy as np
import pandas as pd
import pytest

import matrixdp as mdp
from matrixdp.release import storage

BOUNDS = {"age": (0, 120), "income": (0, 200_000), "score": (-3, 5)}


@pytest.fixture
def people():
    rng = np.random.default_rng(1)
    return pd.DataFrame({name: rng.uniform(*sides, 400) for name, sides in BOUNDS.items()})


def test_an_estimator_keeps_names_of_columns_and_names_its_components(people):
    pca = mdp.PrivatePCA(2, bounds=BOUNDS).set_output(transform="pandas").fit(people)
    assert [*pca.feature_names_in_] == [*BOUNDS]
    coordinates = pca.transform(people)
    assert (
        [*coordinates.columns] == [*pca.get_feature_names_out()] == ["privatepca0", "privatepca1"]
    )
    assert coordinates.index is not None
    assert len(coordinates) == len(people)
    with pytest.raises(ValueError, match="feature names"):
        pca.transform(people[["score", "age", "income"]])


PUBLIC = {"bounds": BOUNDS, "epsilon": 2.0, "delta": 1e-6, "missing": "refuse"}
TOTAL = {"epsilon": 2.0, "delta": 1e-6}


REQUESTS = [
    {"query": "mean"},
    {"query": "covariance"},
    {"query": "components", "mechanism": "clipped"},
    {"query": "regression", "target": "score", "mechanism": "clipped"},
    {
        "query": "second_moments",
        "delta": 0,
        "total": {**TOTAL, "delta": 0},
    },
    {"query": "mean", "adjacency": "add_or_remove", "records": 390},
    {"query": "mean", "person": "patient", "per_person": 2, "adjacency": "replace", "records": 400},
]


def stated(frame, folder, keys):
    """Write records; return the keys of the same release in a specification."""
    frame.to_csv(folder / "people.csv", index=False)
    return {"records": len(frame), "total": TOTAL, **PUBLIC, **keys}


@pytest.mark.parametrize("keys", REQUESTS)
def test_a_release_of_a_data_frame_is_that_of_the_command_line(people, tmp_path, monkeypatch, keys):
    people["patient"] = np.arange(400) // 2
    path = harness.write(tmp_path, **stated(people, tmp_path, keys))
    answers = []
    for source in (path, people):
        monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)
        settings = {"total": TOTAL, **PUBLIC, **keys, "account": tmp_path / "a.json"}
        settings = {} if source is path else settings
        answers.append(mdp.make_release(source, even_if_useless=True, **settings))
    stored, memory = answers
    pd.testing.assert_frame_equal(stored.answer, memory.answer)
    assert harness.leaves(stored.details) == pytest.approx(harness.leaves(memory.details))
    same = ("mechanism", "neighbours", "epsilon", "delta", "mu", "curve", "says", "missing")
    first, second = ({key: made.receipt[key] for key in same} for made in (stored, memory))
    assert harness.leaves(first) == pytest.approx(harness.leaves(second))
    assert memory.page.startswith("# ")
    (charge,), (other,) = (
        harness.charges(tmp_path),
        storage.read(tmp_path / "a.json")["releases"],
    )
    assert charge["mu"] == pytest.approx(other["mu"])
    assert charge["numbers"] == other["numbers"]


def test_a_repeat_of_a_file_is_free_and_needs_no_output_folder(people, tmp_path):
    path = harness.write(tmp_path, **stated(people, tmp_path, {"query": "mean"}))
    before = {*tmp_path.iterdir()}
    first, again = mdp.make_release(path), mdp.make_release(path)
    pd.testing.assert_frame_equal(first.answer, again.answer)
    assert again.notes
    assert {file.name[:18] for file in {*tmp_path.iterdir()} - before} == {"people.csv.privacy"}
    mdp.make_release(path, out=tmp_path / "out")
    assert (tmp_path / "out" / "mean.receipt.md").read_text() == first.page


def test_each_call_of_a_data_frame_is_charged_before_noise_is_drawn(people, tmp_path, monkeypatch):
    account = mdp.Account(tmp_path / "a.json", epsilon=2.0, delta=1e-6)
    given = {**PUBLIC, "query": "mean", "epsilon": 0.6, "account": account}
    mdp.make_release(people, **given)
    assert account.releases[0]["query"] == "mean"

    def fail(count):
        raise OSError("no bits")

    urandom = os.urandom
    monkeypatch.setattr(os, "urandom", fail)
    with monkeypatch.context() as context, pytest.raises(OSError, match="no bits"):
        context.setattr("secrets.token_hex", lambda count: "0" * 16)
        mdp.make_release(people, **given)
    assert len(account.releases) == 2
    monkeypatch.setattr(os, "urandom", urandom)
    with pytest.raises(mdp.InputError, match="with this release epsilon"):
        mdp.make_release(people, **{**given, "epsilon": 1.9})
    assert len(account.releases) == 2
    with pytest.raises(mdp.InputError, match="begun for 'replace'"):
        mdp.make_release(people, **given, adjacency="add_or_remove", records=400)
    with pytest.raises(mdp.InputError, match="person = none, not patient"):
        whole = {"person": "patient", "per_person": 2, "adjacency": "replace", "records": 400}
        mdp.make_release(people.assign(patient=1), **given, **whole)


def test_a_column_in_the_index_and_its_remedy(people):
    given = {**PUBLIC, "query": "mean", "missing": "refuse"}
    frame = people.set_index("age")
    with pytest.raises(mdp.InputError, match=r"'age' as its index; give its \.reset_index\(\)"):
        mdp.make_release(frame, **given)
    mdp.make_release(frame.reset_index(), **given)


@pytest.mark.parametrize("kind", ["float", "object", "Float64", "masked"])
def test_cells_that_are_missing_are_those_of_a_file(people, kind, monkeypatch):
    answers = []
    hidden = np.arange(1200).reshape(400, 3) % 7 == 0
    for source in (people.mask(hidden), other(people, hidden, kind)):
        monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)
        given = {**PUBLIC, "missing": {"age": 30}, "query": "mean"}
        if kind == "masked" and source is not people and isinstance(source, np.ndarray):
            given |= {"bounds": [*BOUNDS.values()], "missing": {0: 30}}
        answers.append(mdp.make_release(source, **given).answer.to_numpy())
        with pytest.raises(mdp.InputError, match=r"no finite number in record 1, column '(age|0)'"):
            mdp.make_release(source, **{**given, "missing": "refuse"})
    assert answers[0] == pytest.approx(answers[1])


def other(people, hidden, kind):
    """Return the records with missing cells of another kind."""
    if kind == "masked":
        return np.ma.array(people.to_numpy(), mask=hidden)
    if kind == "object":
        cells = people.astype(object).mask(hidden, None)
        return cells.assign(age=[Decimal(cell) if cell else cell for cell in cells["age"]])
    return people.mask(hidden).astype(kind)


def test_columns_of_an_array_go_by_their_numbers(people):
    given = {**PUBLIC, "bounds": [*BOUNDS.values()], "query": "regression", "target": 2}
    answer = mdp.make_release(people.to_numpy(), **given).answer
    assert [*answer.columns] == ["0", "1", "intercept"]
    named = np.column_stack([people["age"], np.arange(400) // 2])
    more = {"person": 1, "per_person": 2, "adjacency": "replace", "records": 400}
    assert (
        len(
            mdp.make_release(
                named, **{**PUBLIC, "bounds": (0, 120), "query": "mean"}, **more
            ).answer
        )
        == 1
    )


def test_without_pandas_the_answer_is_a_dictionary(people, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    array = people.to_numpy()
    given = {**PUBLIC, "bounds": [*BOUNDS.values()], "query": "covariance"}
    answer = mdp.make_release(array, **given).answer
    assert answer["columns"] == ["mean", "0", "1", "2"]
    assert answer["index"] == ["0", "1", "2"]
    assert answer["values"].shape == (3, 4)
