"""Whole people: which of their rows count, what neighbours may change, and what is said of it."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import product

import harness
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matrixdp as mdp
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.noise import safe
from matrixdp.privacy import exact_sums
from matrixdp.release import choices, outlooks, people, tables
from matrixdp.release.records import read_records

BOUNDS = {"age": [20, 120], "income": [0, 200_000]}
LOWER, UPPER = np.transpose([*BOUNDS.values()]).astype(float)


def specified(folder, query="mean", relation="add_or_remove", records=40, **keys):
    """Return a specification of a release that protects whole patients."""
    if query == "regression":
        keys["target"] = "income"
    return harness.spec(
        folder,
        file="visits.csv",
        query=query,
        adjacency=relation,
        records=records,
        epsilon=3.0,
        person="patient",
        per_person=3,
        bounds=BOUNDS,
        **keys,
    )


def visits(rows, names):
    frame = pd.DataFrame(np.reshape(rows, (-1, 2)), columns=["age", "income"])
    frame.insert(1, "patient", names)
    return frame


# --- Which rows count -------------------------------------------------------------------------


@given(st.lists(st.integers(0, 5)), st.integers(1, 4), st.integers(1, 5))
def test_the_first_records_of_each_person_count_whatever_the_blocks(names, most, size):
    expected = pd.Series(names, dtype=int).groupby(names).cumcount() < most if names else []
    assert people.bound_contributions(names, most).tolist() == list(expected)
    counts = people.FirstRecords(most)
    blocks = [counts.keep(names[k : k + size]) for k in range(0, len(names), size)]
    assert [one for block in blocks for one in block.tolist()] == list(expected)


@pytest.mark.parametrize(
    ("suffix", "text"),
    [*product([".csv", ".parquet"], [True, False]), *product([".npy"], [False])],
)
def test_the_same_records_of_every_kind_of_file_count(tmp_path, monkeypatch, suffix, text):
    monkeypatch.setattr("matrixdp.release.columns._ROWS", 7)
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
    assert people.bound_contributions(names, 1).tolist() == expected


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
    (["1500", "8", "8", "1'500"], "an identifier before in another spelling"),
    (["0.5", "8", "8", ".5"], "an identifier before in another spelling"),
    (["7", "8", "7", "\uff17"], "an identifier before in another spelling"),
    (["Ann\u200b", "8", "8", "Ann"], "an identifier before in another spelling"),
    (["Ann", "8", "8", "\ufeffAnn"], "an identifier before in another spelling"),
    (["Ann", "8", "8", "Ann\ufe0f"], "an identifier before in another spelling"),
    (["Ann", "8", "8", "Ann\u3164"], "an identifier before in another spelling"),
    (["Ann\x07", "8", "8", "Ann"], "an identifier before in another spelling"),
    (["Ann Lee", "8", "8", "Ann  Lee"], "an identifier before in another spelling"),
    (["Ann\tLee", "8", "8", "Ann Lee"], "an identifier before in another spelling"),
    (["-7", "8", "8", "\u22127"], "an identifier before in another spelling"),
    (["7", "8", "8", "\u0667"], "an identifier before in another spelling"),
    (["1500", "8", "8", "1'500.00"], "an identifier before in another spelling"),
    (["1500.5", "8", "8", "1.500,5"], "an identifier before in another spelling"),
    (["1,234,567", "8", "8", "12,34,567"], "an identifier before in another spelling"),
    (["1000", "8", "8", "1e00003"], "an identifier before in another spelling"),
    (["a", "8", "8", "\u200b"], "no identifier"),
    (["a", "8", "8", "N\u200b/A"], "no identifier"),
    ([7.0, 8.0, 7.0, 2.0**53], "an identifier with more digits than its type holds"),
    (["1500", "8", "8", "1,500"], "an identifier before in another spelling"),
    (["a", "b", "a", b"a"], "an identifier of the type bytes, no text and no number"),
    (["a", "b", "a", date(2026, 1, 1)], "an identifier of the type date, no text and no number"),
]


#: Those of one type, as columns of files are, without a separator of CSV.
OF_ONE_TYPE = [
    (names, sentence)
    for names, sentence in OF_TWO_KINDS
    if all(isinstance(name, str) and "," not in name for name in names)
]


def read_in_python(folder, names):
    people.bound_contributions(names, 1)


def read_in_a_frame(folder, names):
    frame = pd.DataFrame({"a": range(4), "person": pd.Series(names, dtype=object)})
    list(tables.blocks(folder, ("a",), None, people.People("person", 1), frame=frame))


def read_in_an_array(folder, names):
    array = np.empty((4, 2), object)
    array[:, 0], array[:, 1] = range(4), names
    list(tables.blocks(folder, ("0",), None, people.People("1", 1), frame=array))


def read_in_csv(folder, names):
    text = "".join(f"{k},{name}\n" for k, name in enumerate(names))
    (folder / "rows.csv").write_text(f"a,person\n{text}")
    list(tables.blocks(folder / "rows.csv", ("a",), None, people.People("person", 1)))


def read_in_parquet(folder, names):
    pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
    pd.DataFrame({"a": range(4), "person": names}).to_parquet(folder / "rows.parquet")
    list(tables.blocks(folder / "rows.parquet", ("a",), None, people.People("person", 1)))


def fit(folder, names):
    estimator = mdp.Covariance(
        epsilon=1, delta=1e-6, bounds=(0, 1), per_person=1, even_if_useless=True
    )
    estimator.fit(np.zeros((4, 2)), groups=names)


PERSON = people.People("person", 1)
IN_MEMORY = [read_in_python, read_in_a_frame, read_in_an_array, fit]


@pytest.mark.parametrize(
    ("read", "names", "sentence"),
    [
        *((read, *case) for read, case in product(IN_MEMORY, OF_TWO_KINDS)),
        # A column of a file has one type.
        *((read_in_csv, *case) for case in OF_ONE_TYPE),
        *((read_in_parquet, *case) for case in OF_ONE_TYPE),
    ],
)
def test_identifiers_of_two_kinds_are_refused_at_every_door(
    tmp_path, monkeypatch, read, names, sentence
):
    monkeypatch.setattr("matrixdp.release.columns._ROWS", 3)
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
            lambda names=names: people.bound_contributions(names, 1),
            lambda names=names: people.bound_contributions(pd.Series(names), 1),
            lambda frame=frame: [*tables.blocks(tmp_path, ("a",), None, PERSON, frame=frame)],
            lambda: [*tables.blocks(tmp_path / "rows.npy", ("0",), [0.0], people.People("1", 1))],
        ):
            if kept:
                read()
            else:
                with pytest.raises(mdp.InputError, match="more digits than its type holds in rec"):
                    read()


# --- Neighbours -------------------------------------------------------------------------------

QUERIES = ["mean", "covariance", "components", "regression"]
CASES = [
    *product(QUERIES, [{}, {"max_norm": 1e5}], ["add_or_remove"]),
    *product(["records", "second_moments", "mean", "components", "regression"], [{}], ["replace"]),
]


def values(spec, rows, names, adjacency=None):
    """Return what gets noise, from a file of these rows; as another relation has it, if any."""
    visits(rows, names).to_csv(spec.file, index=False)
    if adjacency is None:
        return exact_sums.value(spec.query, map(spec.scaled, read_records(spec)))
    blocks = tables.blocks(spec.file, spec.columns, spec.fill, spec.people)
    return exact_sums.value(replace(spec.query, adjacency=adjacency), map(spec.scaled, blocks))


def neighbours(spec, rng, count):
    """Yield pairs of values: of a file, and of the same but for one person of up to seven rows.

    That of a null record is of a file without it. Another person has more rows than count.
    """
    corners, relation = np.array([LOWER - 5, UPPER + 5]), spec.adjacency
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
    order = 2 if unit == safe.NORMAL else 1
    white = [distribution.whiten(one) - distribution.whiten(other) for one, other in pairs]
    return max(np.linalg.norm(change.ravel(), order) for change in white) / budget


@pytest.mark.parametrize(("query", "more", "relation"), CASES)
def test_no_people_are_further_apart_than_the_noise_is_made_for(tmp_path, query, more, relation):
    spec = specified(tmp_path, query, relation, 9, **more)
    pairs = list(neighbours(spec, np.random.default_rng(0), 48))
    for option in choices.by_noise(spec):
        # What has a null record is rounded to another lattice.
        assert widest(pairs, option.release) <= 1 + 1e-6
        if "max_norm" not in more:
            least = 0.6 if relation == "replace" else 0.99
            assert widest(pairs, option.release) > least


def test_a_limit_that_is_not_kept_is_seen_and_so_is_noise_for_one_record(tmp_path, monkeypatch):
    spec = specified(tmp_path, records=9)
    (option, *_) = choices.by_noise(spec)
    pairs = list(neighbours(spec, np.random.default_rng(0), 48))
    assert widest(pairs, option.release) <= 1 + 1e-6
    single = replace(spec, per_person=None)
    assert widest(pairs, choices.by_noise(single)[0].release) > 2.9
    keep = people.FirstRecords.keep
    monkeypatch.setattr(people.FirstRecords, "keep", lambda self, names: keep(self, names) | True)
    pairs = list(neighbours(spec, np.random.default_rng(0), 48))
    assert widest(pairs, option.release) > 2


@pytest.mark.parametrize(
    ("query_type", "mechanism", "factor"),
    [
        (mdp.MeanQuery, mdp.Gaussian(), 4),
        (mdp.SecondMomentQuery, mdp.AnalyzeGauss(), 4),
        (mdp.RecordsQuery, mdp.Laplace(), 4),
        (mdp.RecordsQuery, mdp.Gaussian(), 2),
    ],
)
def test_the_noise_of_people_is_that_of_the_page(query_type, mechanism, factor):
    one, several = (
        mechanism.calibrate(
            query_type(mdp.Box.cube(2, 0, 1), 99, per_person=k), epsilon=1, delta=1e-6
        )
        for k in (None, 4)
    )
    assert several.noise_std == pytest.approx(factor * one.noise_std, rel=1e-4)


# --- The account ------------------------------------------------------------------------------


def test_an_account_in_python_protects_people_or_records(tmp_path):
    terms = {"epsilon": 1, "delta": 1e-6, "adjacency": "add_or_remove"}
    of_people = mdp.Account(tmp_path / "a.json", **terms, person="patient")
    of_records = mdp.Account(tmp_path / "b.json", **terms)
    whole, single = (
        mdp.Gaussian().calibrate(
            mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 400, "add_or_remove", per_person=most),
            epsilon=0.5,
            delta=1e-7,
        )
        for most in (4, None)
    )
    of_people.spend(whole)
    of_records.spend(single)
    assert whole.statement.per_person == 4
    assert "all records of one person, 4 at most, are added or removed" in whole.explain()
    assert whole.noise_std == pytest.approx(4 * single.noise_std)
    assert whole.interval() == pytest.approx(4 * single.interval(), rel=1e-4)
    with pytest.raises(mdp.InputError, match="protects single records, and the account was begun"):
        of_people.spend(single)
    with pytest.raises(mdp.InputError, match="whole people, .* begun with person"):
        of_records.spend(whole)
    with pytest.raises(mdp.InputError, match="person = patient, not none"):
        mdp.Account(tmp_path / "a.json", adjacency="add_or_remove")


# --- From Python ------------------------------------------------------------------------------


def test_rounding_is_paid_for_in_all_columns_of_a_person():
    box = mdp.Box.cube(50, 0.0, 1.0)
    one, several = (
        mdp.Gaussian().calibrate(mdp.RecordsQuery(box, 100, per_person=k), epsilon=1.0, delta=1e-6)
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
    first = mdp.bound_contributions(names, 4)
    whole = kind(**bounds, per_person=4, **given).fit(X, X.sum(axis=1), groups=names)
    alone = kind(**bounds, **given).fit(X[first], X[first].sum(axis=1))
    return whole, alone


ESTIMATORS = [one for one in map(mdp.__getattr__, mdp.__all__) if hasattr(one, "fit")]


FITS = [*product(ESTIMATORS, ["recommend", "clipped"])]


@pytest.mark.parametrize(("kind", "mechanism"), FITS)
def test_estimators_fit_the_records_that_count(kind, mechanism, monkeypatch):
    seen = []
    # Without a comparison, so that both have additive noise where it is not named.
    monkeypatch.setattr(outlooks, "MOST_COLUMNS", 0)
    monkeypatch.setattr(choices, "_listed", choices._listed.__wrapped__)
    monkeypatch.setattr(
        AdditiveMechanism, "release_value", lambda _, value: (seen.append(value), value)[1]
    )
    sample = ComposedMoments.prepare
    monkeypatch.setattr(
        ComposedMoments, "prepare", lambda self, rows: (seen.extend(rows()), sample(self, rows))[1]
    )
    whole, alone = fitted(kind, mechanism=mechanism)
    assert len(seen) == 2
    assert np.allclose(*seen)
    assert (whole.mechanism_.query.per_person, alone.mechanism_.query.per_person) == (4, None)
    assert whole.mechanism_.noise_std == pytest.approx(4 * alone.mechanism_.noise_std, rel=1e-6)
