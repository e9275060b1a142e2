"""Whole people: which of their rows count, what neighbours may change, and what is said of it."""

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

import matrixdp as mdp
from matrixdp import cli
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.mechanisms.composed import Composed
from matrixdp.noise import safe
from matrixdp.privacy import exact_sums
from matrixdp.release import choices, outlooks, people, release, specification, tables

SPECIFICATION = """
file = "visits.csv"
query = "QUERY"
records = RECORDS
epsilon = 3.0
delta = 1e-6
person = "patient"
per_person = 3
adjacency = "RELATION"
total = {epsilon = 6.0, delta = 1e-5}
MORE
missing = "refuse"
[bounds]
age = [20, 120]
income = [0, 200000]
"""
RELATIONS = ["replace", "add_or_remove"]
LOWER, UPPER = np.array([20.0, 0.0]), np.array([120.0, 2e5])
CLIPPED = 'mechanism = "clipped"'


def visits(rows, names):
    frame = pd.DataFrame(np.reshape(rows, (-1, 2)), columns=["age", "income"])
    frame.insert(1, "patient", names)
    return frame


def specified(folder, query="mean", relation="add_or_remove", records=40, more="", **replaced):
    if query == "regression":
        more = f'target = "income"\n{more}'
    text = SPECIFICATION.replace("QUERY", query).replace("MORE", more)
    text = text.replace("RELATION", relation).replace("RECORDS", str(records))
    for old, new in replaced.items():
        lines = text.splitlines()
        text = "\n".join(
            (f"{old} = {new}" if new else "") if line.startswith(f"{old} =") else line
            for line in lines
        )
    (folder / "s.toml").write_text(text)
    return folder / "s.toml"


def run(folder, out="out", verb="release", **given):
    words = ["--out", str(folder / out), "--even-if-useless"] if verb == "release" else []
    return cli.main([verb, str(specified(folder, **given)), *words])


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(1)
    names = [f"p{k}" for k in rng.integers(0, 12, 60)]
    visits(rng.uniform(LOWER, UPPER, (60, 2)), names).to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path


def kept(folder, most=3):
    frame = pd.read_csv(folder / "visits.csv")
    return frame[frame.groupby("patient").cumcount() < most]


# --- Which rows count -------------------------------------------------------------------------


@given(st.lists(st.integers(0, 5)), st.integers(1, 4), st.integers(1, 5))
def test_the_first_records_of_each_person_count_whatever_the_blocks(names, most, size):
    expected = pd.Series(names, dtype=int).groupby(names).cumcount() < most if names else []
    assert people.first_records(names, most).tolist() == list(expected)
    counts = people.FirstRecords(most)
    blocks = [counts.keep(names[k : k + size]) for k in range(0, len(names), size)]
    assert [one for block in blocks for one in block.tolist()] == list(expected)


@pytest.mark.parametrize(
    ("suffix", "text"),
    [*product([".csv", ".parquet"], [True, False]), *product([".npy"], [False])],
)
def test_the_same_records_of_every_kind_of_file_count(tmp_path, monkeypatch, suffix, text):
    monkeypatch.setattr(tables, "_ROWS", 7)
    rng, path = np.random.default_rng(2), tmp_path / f"rows{suffix}"
    numbers, rows = rng.integers(0, 9, 50), rng.uniform(LOWER, UPPER, (50, 2))
    columns, person = ("age", "income"), "patient"
    names = [f"Øre, {k}" for k in numbers] if text else numbers
    if suffix == ".csv":
        visits(rows, names).to_csv(path, index=False)
    elif suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
        frame = visits(rows, names)
        frame["patient"] = frame["patient"].astype("category" if text else int)
        frame.to_parquet(path)
    else:
        columns, person = ("0", "2"), "1"
        table = np.column_stack([rows[:, 0], numbers, rows[:, 1]])
        np.save(path, table)
    blocks = list(tables.blocks(path, columns, None, people.People(person, 2)))
    assert len(blocks) > 3
    first = pd.Series(numbers).groupby(numbers).cumcount() < 2
    assert np.concatenate(blocks) == pytest.approx(rows[first])


def test_people_are_told_apart_by_whole_numbers_that_float64_does_not_tell_apart(tmp_path):
    names = np.array([2**53, 2**53 + 1] * 3)
    np.save(tmp_path / "rows.npy", np.column_stack([np.arange(6), names]))
    limit = people.People("1", 2)
    (block,) = tables.blocks(tmp_path / "rows.npy", ("0",), None, limit)
    assert block.ravel().tolist() == [0, 1, 2, 3]
    pd.DataFrame({"0": range(6), "1": names}).to_csv(tmp_path / "rows.csv", index=False)
    (block,) = tables.blocks(tmp_path / "rows.csv", ("0",), None, limit)
    assert block.ravel().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Ann", " Ann ", "ann", np.str_("Ann")], [True, False, True, False]),
        (["Zoe\u0301", "Zo\u00e9"], [True, False]),
        ([2**53, 2**53 + 1, np.int64(2**53), np.int8(1)], [True, True, False, True]),
        ([0.5, 2.0**52, np.float64(0.5), -0.5], [True, True, False, True]),
        ([np.longdouble(2**62) + 1, np.longdouble(2**62), np.longdouble(2**62)], [1, 1, 0]),
        ([Decimal("1.5"), Decimal("1.50"), Decimal(2)], [True, False, True]),
        ([True, False, np.True_], [True, True, False]),
        (pd.Series([2**53, 2**53 + 1, 2**53], dtype="Int64"), [True, True, False]),
        (pd.Series(["b", "a", "b"], dtype="category"), [True, True, False]),
        (np.array([2**53, 2**53 + 1, 2**53]), [True, True, False]),
    ],
)
def test_people_of_one_type_are_told_apart_as_they_are(names, expected):
    if np.finfo(np.longdouble).nmant < 63 and any(isinstance(n, np.longdouble) for n in names):
        pytest.skip("this machine has no wider numbers")
    assert people.first_records(names, 1).tolist() == expected


#: Identifiers, the last of which could be one of the first people once more, or another.
OF_TWO_KINDS = [
    ([7, 8, 7, "7"], "a text where identifiers before are each a whole number"),
    (["7", "8", "7", 7], "a whole number where identifiers before are each a text"),
    ([1, 2, 1, True], "a truth value where identifiers before are each a whole number"),
    ([7, 8, 7, 7.0], "a number of the type float where identifiers before"),
    ([np.int64(7), 8, 7, np.float32(7)], "a float32 where identifiers before"),
    ([0.1, 0.2, 0.1, Decimal("0.1")], "a Decimal where identifiers before"),
    (["7", "8", "7", "7.0"], "an identifier before in another spelling"),
    (["07", "8", "07", "7"], "an identifier before in another spelling"),
    (["1500", "8", "8", "1.5E+03"], "an identifier before in another spelling"),
    ([7.0, 8.0, 7.0, 2.0**53], "an identifier with more digits than its type holds"),
    (["a", "b", "a", b"a"], "an identifier of the type bytes, no text and no number"),
    (["a", "b", "a", date(2026, 1, 1)], "an identifier of the type date, no text and no number"),
]


def read_in_python(folder, names):
    people.first_records(names, 1)


def read_in_a_frame(folder, names):
    frame = pd.DataFrame({"a": range(4), "person": pd.Series(names, dtype=object)})
    list(tables.frame_blocks(frame, folder, ("a",), None, people.People("person", 1)))


def read_in_an_array(folder, names):
    array = np.empty((4, 2), object)
    array[:, 0], array[:, 1] = range(4), names
    list(tables.frame_blocks(array, folder, ("0",), None, people.People("1", 1)))


def read_in_csv(folder, names):
    text = "".join(f"{k},{name}\n" for k, name in enumerate(names))
    (folder / "rows.csv").write_text(f"a,person\n{text}")
    list(tables.blocks(folder / "rows.csv", ("a",), None, people.People("person", 1)))


def read_in_parquet(folder, names):
    pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
    pd.DataFrame({"a": range(4), "person": names}).to_parquet(folder / "rows.parquet")
    list(tables.blocks(folder / "rows.parquet", ("a",), None, people.People("person", 1)))


def fit(folder, names):
    estimator = mdp.Covariance(epsilon=1, delta=1e-6, bounds=(0, 1), per_person=1)
    estimator.fit(np.zeros((4, 2)), people=names)


PERSON = people.People("person", 1)
IN_MEMORY = [read_in_python, read_in_a_frame, read_in_an_array, fit]


@pytest.mark.parametrize(
    ("read", "names", "sentence"),
    [
        *((read, *case) for read, case in product(IN_MEMORY, OF_TWO_KINDS)),
        # A column of a file has one type.
        *((read_in_csv, *case) for case in OF_TWO_KINDS[6:9]),
        *((read_in_parquet, *case) for case in OF_TWO_KINDS[6:9]),
    ],
)
def test_identifiers_of_two_kinds_are_refused_at_every_door(
    tmp_path, monkeypatch, read, names, sentence
):
    monkeypatch.setattr(tables, "_ROWS", 3)
    with pytest.raises(mdp.InputError, match=sentence) as refusal:
        read(tmp_path, names)
    assert "in record 4" in str(refusal.value)
    # The same without the last one is read.
    read(tmp_path, [*names[:3], names[0]])


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_floats_that_hold_no_more_digits_are_no_people(tmp_path, kind):
    """Two people would be one, and one who leaves would let a record of the other count."""
    most = 2 ** (np.finfo(kind).nmant + 1)
    for last, kept in ((most - 1, True), (most, False), (np.inf, False)):
        names = np.array([1, last], dtype=kind)
        np.save(tmp_path / "rows.npy", np.column_stack([names, names]))
        frame = pd.DataFrame({"a": [1, 2], "person": names})
        for read in (
            lambda names=names: people.first_records(names, 1),
            lambda names=names: people.first_records(pd.Series(names), 1),
            lambda frame=frame: [*tables.frame_blocks(frame, tmp_path, ("a",), None, PERSON)],
            lambda: [*tables.blocks(tmp_path / "rows.npy", ("0",), [0.0], people.People("1", 1))],
        ):
            if kept:
                read()
            else:
                with pytest.raises(mdp.InputError, match="more digits than its type holds in rec"):
                    read()


@pytest.mark.parametrize("unit", ["ns", "s"])
def test_dates_are_no_people_whatever_their_unit(tmp_path, unit):
    dates = np.array(["2026-01-01"] * 4, dtype=f"datetime64[{unit}]")
    frame, limit = pd.DataFrame({"a": range(4), "person": dates}), people.People("person", 1)
    for read in (
        lambda: people.first_records(dates, 1),
        lambda: people.first_records(frame["person"], 1),
        lambda: list(tables.frame_blocks(frame, tmp_path, ("a",), None, limit)),
    ):
        with pytest.raises(mdp.InputError, match="no text and no number, in record 1"):
            read()


@pytest.mark.parametrize("names", [[[1], [2]], 5, "abc", {"a", "b"}, [["a", "b"]]])
def test_people_are_one_per_record(names):
    with pytest.raises(mdp.InputError, match=r"people have shape .*; give one identifier per"):
        people.first_records(names, 1)


@pytest.mark.parametrize("missing", [Decimal("sNaN"), Decimal("NaN"), 1j * np.nan])
def test_what_is_no_number_is_no_person(missing):
    names = np.empty(2, dtype=object)
    names[:] = ["Ann", missing]
    with pytest.raises(mdp.InputError, match="no identifier in record 2"):
        people.first_records(names, 2)


@pytest.mark.parametrize("missing", ["", "NA", "nan", " None ", None, np.nan, pd.NA, pd.NaT])
def test_a_missing_identifier_is_no_person(missing):
    with pytest.raises(mdp.InputError, match="no identifier in record 2; give every record"):
        people.first_records(np.array(["Ann", missing], dtype=object), 2)


@pytest.mark.parametrize("kind", [int, float, str, object])
def test_a_masked_identifier_is_missing(kind):
    names = np.ma.array(np.array([1, 2, 1]).astype(kind), mask=[False, True, False])
    listed = [names[0], names[1], names[2]]
    for masked in (names, listed):
        with pytest.raises(mdp.InputError, match="no identifier in record 2; give every record"):
            people.first_records(masked, 1)
    unmasked = np.ma.array(np.array([1, 2, 1]).astype(kind))
    assert people.first_records(unmasked, 1).tolist() == [True, True, False]


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".parquet"])
def test_a_missing_identifier_of_a_file_is_refused_with_its_record(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(tables, "_ROWS", 2)
    path = tmp_path / f"rows{suffix}"
    if suffix == ".csv":
        path.write_text("patient,age\nAnn,1\nAnn,2\nBob,3\n,4\n")
    elif suffix == ".npy":
        np.save(path, [[1, 1], [1, 2], [2, 3], [np.nan, 4]])
    else:
        pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
        frame = pd.DataFrame({"patient": ["Ann", "Ann", "Bob", None], "age": [1, 2, 3, 4]})
        frame.to_parquet(path)
    names = ("1", "0") if suffix == ".npy" else ("age", "patient")
    with pytest.raises(mdp.InputError, match=f"no identifier in record 4, column '{names[1]}'"):
        list(tables.blocks(path, names[:1], None, people.People(names[1], 1)))


def test_a_missing_identifier_spends_nothing_and_shows_no_name(folder, capsys):
    text = (folder / "visits.csv").read_text().splitlines()
    text[9] = text[9].replace(text[9].split(",")[1], " ")
    (folder / "visits.csv").write_text("\n".join(text))
    assert run(folder) == 2
    message = capsys.readouterr().err
    assert "no identifier in record 9, column 'patient'" in message
    assert message.count("\n") == 1
    assert not [*folder.glob("*.privacy.json")]


# --- What a specification may say -------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"person": '"age"'}, "person is 'age', which is among the bounds"),
        ({"person": '"nobody"'}, "has no 'nobody' among 3 column names; correct the name"),
        ({"person": '"patiemt"'}, "did you mean 'patient'?"),
        ({"person": "3"}, "person is 3; it must be a text"),
        ({"person": ""}, "person is missing; person names the column"),
        ({"per_person": ""}, "per_person is missing; person names the column"),
        ({"per_person": "0"}, "per_person is 0"),
        ({"per_person": "1.5"}, "per_person is 1.5"),
        ({"adjacency": ""}, "adjacency is missing beside person; add_or_remove hides who"),
        ({"query": "second_moments"}, "adjacency is 'add_or_remove', which serves"),
    ],
)
def test_bad_keys_are_one_sentence_and_spend_nothing(folder, capsys, changes, sentence):
    assert run(folder, **changes) == 2
    message = capsys.readouterr().err
    assert sentence in message
    assert message.count("\n") == 1
    assert not [*folder.glob("*.privacy.json")]


@pytest.mark.parametrize("relation", RELATIONS[:1])
def test_a_public_number_is_that_of_the_records_that_count(folder, capsys, relation):
    count = len(kept(folder))
    assert count < 60
    assert run(folder, relation=relation, records=60) == 2
    message = f"has {count} records, at most 3 of each 'patient', and the specification says"
    assert message in capsys.readouterr().err
    assert run(folder, relation=relation, records=count) == 0


# --- Neighbours -------------------------------------------------------------------------------

QUERIES = ["mean", "covariance", "components", "regression"]
CASES = [
    *product(QUERIES, ["", "max_norm = 1e5"], ["add_or_remove"]),
    *product(["records", "second_moments", "mean", "components", "regression"], [""], ["replace"]),
]


def values(spec, rows, names, adjacency=None):
    """Return what gets noise, from a file of these rows; as another relation has it, if any."""
    visits(rows, names).to_csv(spec.file, index=False)
    if adjacency is None:
        return exact_sums.value(spec.query, release._records(spec))
    blocks = tables.blocks(spec.file, spec.columns, spec.fill, spec.people)
    return exact_sums.value(replace(spec.query, adjacency=adjacency), map(spec.scaled, blocks))


def neighbours(spec, rng, count):
    """Yield pairs of values: of a file, and of the same but for one person of up to seven rows.

    That of a null record is of a file without it. Another person has more rows than count.
    """
    corners, relation = np.array([LOWER - 5, UPPER + 5]), spec.query.adjacency
    for number in range(count):
        mine = rng.integers(1, 8) if relation == "add_or_remove" else 5
        names = np.array(["x"] * mine + ["y0"] * 4 + ["y1", "y2", "y3"])
        rows = rng.uniform(LOWER - 9, UPPER + 9, (len(names), 2))
        other = rows.copy()
        for side, table in enumerate((rows, other)):
            # Rows that are all alike, at a corner, are the worst ones.
            corner = corners[[number % 2 ^ side, number // 2 % 2 ^ side], [0, 1]]
            table[:mine] = corner if number % 3 else rng.uniform(*corners, (mine, 2))
        order = rng.permutation(len(names))
        whole = values(spec, rows[order], names[order])
        if relation == "replace":
            yield whole, values(spec, other[order], names[order])
        else:
            order = order[order >= mine]
            yield whole, values(spec, rows[order], names[order], "add_or_remove")


def widest(pairs, query_release):
    """Return how far apart a release has pairs of values, at most, over what it says."""
    distribution, unit, budget = query_release.whitened
    order = 2 if unit is safe.NORMAL else 1
    white = [distribution.whiten(one) - distribution.whiten(other) for one, other in pairs]
    return max(np.linalg.norm(change.ravel(), order) for change in white) / budget


@pytest.mark.parametrize(("query", "more", "relation"), CASES)
def test_no_people_are_further_apart_than_the_noise_is_made_for(tmp_path, query, more, relation):
    spec = specification.read(specified(tmp_path, query, relation, 9, more))
    pairs = list(neighbours(spec, np.random.default_rng(0), 48))
    for option in choices.by_noise(spec):
        # What has a null record is rounded to another lattice.
        assert widest(pairs, option.release) <= 1 + 1e-6
        if "max_norm" not in more:
            least = 0.6 if relation == "replace" else 0.99
            assert widest(pairs, option.release) > least


def test_a_limit_that_is_not_kept_is_seen_and_so_is_noise_for_one_record(tmp_path, monkeypatch):
    spec = specification.read(specified(tmp_path, "mean", records=9))
    (option, *_) = choices.by_noise(spec)
    pairs = list(neighbours(spec, np.random.default_rng(0), 48))
    assert widest(pairs, option.release) <= 1 + 1e-6
    single = replace(spec, query=replace(spec.query, per_person=None))
    assert widest(pairs, choices.by_noise(single)[0].release) > 2.9
    keep = people.FirstRecords.keep
    monkeypatch.setattr(people.FirstRecords, "keep", lambda self, names: keep(self, names) | True)
    pairs = list(neighbours(spec, np.random.default_rng(0), 48))
    assert widest(pairs, option.release) > 2


# --- The account ------------------------------------------------------------------------------


def test_an_account_protects_either_people_or_records(folder, capsys):
    assert run(folder, query="mean", epsilon="1.0") == 0
    single = {"person": "", "per_person": "", "query": "covariance", "epsilon": "1.0"}
    assert run(folder, "second", **single) == 2
    assert "person = patient, not none; state the same" in capsys.readouterr().err
    assert run(folder, "third", query="covariance", person='"income2"', epsilon="1.0") == 2
    assert "person = patient, not income2" in capsys.readouterr().err
    # How many rows count is a matter of each release.
    assert run(folder, "fourth", query="covariance", per_person="2", epsilon="1.0") == 0
    account = json.loads((folder / "visits.csv.privacy.json").read_text())
    assert account["total"]["person"] == "patient"
    assert len(account["releases"]) == 2
    assert cli.main(["account", str(folder / "visits.csv")]) == 0
    words = capsys.readouterr().out
    assert "neighbours add_or_remove of whole people, by the column 'patient'" in words


def test_an_account_of_records_takes_no_people(folder, capsys):
    single = {"person": "", "per_person": "", "epsilon": "1.0"}
    assert run(folder, **single) == 0
    assert run(folder, "second", query="covariance", epsilon="1.0") == 2
    assert "person = none, not patient; state the same" in capsys.readouterr().err
    assert run(folder, "third", query="covariance", **single) == 0


def test_an_account_in_python_protects_either_too(folder):
    assert run(folder, epsilon="1.0") == 0
    path = folder / "visits.csv.privacy.json"
    with pytest.raises(mdp.InputError, match="person = patient, not none"):
        mdp.Account(path, adjacency="add_or_remove")
    account = mdp.Account(path, adjacency="add_or_remove", person="patient")
    box = mdp.Box((0.0,), (1.0,))
    whole, single = (
        mdp.Gaussian().calibrate(
            mdp.MeanQuery(box, 400, "add_or_remove", per_person=most), epsilon=0.5, delta=1e-6
        )
        for most in (4, None)
    )
    account.spend(whole)
    assert whole.statement.per_person == 4
    assert "all records of one person, 4 at most, are added or removed" in whole.explain()
    assert whole.noise_std == pytest.approx(4 * single.noise_std)
    with pytest.raises(mdp.InputError, match="protects single records, and the account was begun"):
        account.spend(single)
    terms = {"epsilon": 1, "delta": 1e-6, "adjacency": "add_or_remove"}
    of_records = mdp.Account(folder / "records.json", **terms)
    with pytest.raises(mdp.InputError, match="protects whole people, and the account was begun"):
        of_records.spend(whole)
    assert mdp.Account(path, adjacency="add_or_remove", person="patient").total == account.total


def test_how_many_count_is_part_of_a_request(folder):
    assert run(folder, epsilon="1.0") == 0
    first = (folder / "out/mean.csv").read_bytes()
    assert run(folder, "again", epsilon="1.0") == 0
    assert (folder / "again/mean.csv").read_bytes() == first
    assert run(folder, "other", epsilon="1.0", per_person="2") == 0
    account = json.loads((folder / "visits.csv.privacy.json").read_text())
    assert len(account["releases"]) == 2


# --- What is said -----------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("more", ["", CLIPPED])
def test_a_receipt_states_the_unit(folder, relation, more, capsys):
    count = 40 if relation == "add_or_remove" else len(kept(folder))
    given = {"query": "covariance", "relation": relation, "records": count, "more": more}
    assert run(folder, verb="recommend", **given) == 0
    words = "the first 3 of each person, by the column 'patient' and in the order of the file"
    assert f"records that count: {words}" in capsys.readouterr().out
    assert run(folder, **given) == 0
    receipt = json.loads((folder / "out/covariance.receipt.json").read_text())
    assert (receipt["person"], receipt["per_person"]) == ("patient", 3)
    assert "one person" in receipt["neighbours"]
    assert receipt["records_that_count"].startswith(words)
    assert words in (folder / "out/covariance.receipt.md").read_text()


@pytest.mark.parametrize("more", ["", CLIPPED])
def test_nothing_but_the_noisy_answer_depends_on_who_is_there(tmp_path, more, capsys):
    receipts, told = set(), set()
    rng = np.random.default_rng(1)
    for count in (0, 1, 40, 300):
        folder = tmp_path / str(count)
        folder.mkdir()
        frame = visits(rng.uniform(LOWER, UPPER, (count, 2)), rng.integers(0, 30, count))
        frame.to_csv(folder / "visits.csv", index=False)
        assert run(folder, query="covariance", more=more) == 0
        receipts.add((folder / "out/covariance.receipt.json").read_text())
        output = capsys.readouterr()
        lines = (output.out + output.err).replace(str(folder), "").splitlines()
        # A mean beyond its bounds, which the answer shows, has a note and details.
        told.add(tuple(one for one in lines if not one.startswith(("note: noise", "details:"))))
    assert len(receipts) == len(told) == 1


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_file_of_people_from_question_to_answer(tmp_path, relation):
    """Breast cancer's cells, as if one patient had several."""
    data = load_breast_cancer(as_frame=True).data.iloc[:, :3].round(3)
    data.columns = ["radius", "texture", "perimeter"]
    rng = np.random.default_rng(3)
    data["patient"] = [f"patient {k}" for k in rng.integers(0, 180, len(data))]
    # The first records of a person are the smallest.
    data = data.sort_values("radius", kind="stable")
    data.to_csv(tmp_path / "cells.csv", index=False)
    counting = data[data.groupby("patient").cumcount() < 2]
    assert 300 < len(counting) < 400 < len(data)
    (tmp_path / "cells.toml").write_text(
        f'file = "cells.csv"\nquery = "covariance"\nrecords = {len(counting)}\nepsilon = 15.0\n'
        f'delta = 1e-3\nperson = "patient"\nper_person = 2\nadjacency = "{relation}"\n'
        "total = {epsilon = 15.0, delta = 1e-3}\n"
        "missing = 'refuse'\n[bounds]\nradius = [5, 30]\ntexture = [5, 40]\nperimeter = [40, 200]\n"
    )
    out = tmp_path / "out"
    assert cli.main(["release", str(tmp_path / "cells.toml"), "--out", str(out)]) == 0
    lines = (out / "covariance.csv").read_text().splitlines()[1:]
    table = np.array([[float(cell) for cell in line.split(",")[1:]] for line in lines])
    rows, half = counting.iloc[:, :3].to_numpy(), np.array([12.5, 17.5, 80.0])
    everybody = data.iloc[:, :3].mean().to_numpy()
    off = np.abs(table[:, 0] - rows.mean(axis=0)) / half
    assert off.max() < 0.05 < (np.abs(table[:, 0] - everybody) / half).max()
    covariance = np.cov(rows.T, bias=True)
    assert (np.abs(table[:, 1:] - covariance) / np.outer(half, half)).max() < 0.06
    if relation != "add_or_remove":
        details = json.loads((out / "covariance.details.json").read_text())["interval_95"]
        limits = np.array([details["mean"][name] for name in data.columns[:3]])
        assert (limits[:, 0] <= rows.mean(axis=0)).all()
        assert (rows.mean(axis=0) <= limits[:, 1]).all()


# --- From Python ------------------------------------------------------------------------------


def test_intervals_are_those_of_noise_for_a_whole_person():
    query = mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 400)
    wide, narrow = (
        mdp.Laplace().calibrate(mdp.MeanQuery(query.domain, 400, per_person=k), epsilon=1)
        for k in (5, None)
    )
    assert wide.interval(0.95) == pytest.approx(5 * narrow.interval(0.95), rel=1e-4)


def test_rounding_is_paid_for_in_all_columns_of_a_person():
    box = mdp.Box.cube(50, 0.0, 1.0)
    one, several = (
        mdp.Gaussian().calibrate(mdp.IdentityQuery(box, 100, per_person=k), epsilon=1.0, delta=1e-6)
        for k in (None, 4)
    )
    moved = [
        release._limit - release.whitened[2] / release.rounding_factor for release in (one, several)
    ]
    assert moved[1] == pytest.approx(2 * moved[0], rel=0.1)


def fitted(kind, **given):
    """Return an estimator without noise, after a fit to rows of people."""
    rng = np.random.default_rng(1)
    X, names = rng.uniform(0, 1, (300, 3)), rng.integers(0, 40, 300)
    bounds = {"bounds": (0, 1)}
    if hasattr(kind, "target_bounds"):
        bounds["target_bounds"] = (0, 3)
    first = mdp.first_records(names, 4)
    whole = kind(**bounds, per_person=4, **given).fit(X, X.sum(axis=1), people=names)
    alone = kind(**bounds, **given).fit(X[first], X[first].sum(axis=1))
    return whole, alone


ESTIMATORS = [one for one in map(mdp.__getattr__, mdp.__all__) if hasattr(one, "fit")]


FITS = [*product(ESTIMATORS, ["recommend", "clipped"])]


@pytest.mark.parametrize(("kind", "mechanism"), FITS)
def test_estimators_fit_the_records_that_count(kind, mechanism, monkeypatch):
    seen = []
    # Without a comparison, so that both have additive noise where it is not named.
    monkeypatch.setattr(outlooks, "MANY", 0)
    monkeypatch.setattr(choices, "of_fit", choices.of_fit.__wrapped__)
    monkeypatch.setattr(
        AdditiveMechanism, "release_value", lambda _, value: (seen.append(value), value)[1]
    )
    sample = Composed.release
    monkeypatch.setattr(
        Composed, "release", lambda self, rows: (seen.append(rows), sample(self, rows))[1]
    )
    whole, alone = fitted(kind, mechanism=mechanism)
    assert len(seen) == 2
    assert np.allclose(*seen)
    assert (whole.release_.query.per_person, alone.release_.query.per_person) == (4, None)
    assert whole.release_.noise_std == pytest.approx(4 * alone.release_.noise_std, rel=1e-6)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_estimators_refuse_what_does_not_fit_their_people(kind, tmp_path):
    X = np.random.default_rng(1).uniform(0, 1, (40, 3))
    given = {"bounds": (0, 1), "epsilon": 5}
    if hasattr(kind, "target_bounds"):
        given["target_bounds"] = (0, 1)
    account = mdp.Account(tmp_path / "a.json", epsilon=9, delta=1e-3, person="patient")
    for per_person, names, sentence in (
        (None, np.arange(40), "per_person is None and people are given"),
        (2, None, "per_person is 2 and people are missing"),
        (2, np.arange(39), "inconsistent numbers of samples"),
        (0, np.arange(40), "per_person is 0"),
        (2, [None, *range(39)], "no identifier in record 1"),
    ):
        estimator = kind(**given, per_person=per_person, account=account)
        with pytest.raises(ValueError, match=sentence):
            estimator.fit(X, X[:, 0], people=names)
    assert not account.releases
    kind(**given, per_person=2, account=account).fit(X, X[:, 0], people=np.arange(40) % 30)
    assert len(account.releases) == 1
    with pytest.raises(mdp.InputError, match="protects single records"):
        kind(**given, account=account).fit(X, X[:, 0])
