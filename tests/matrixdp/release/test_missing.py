"""What becomes of missing values: a new account states it before a record is read."""

import itertools

import harness
import numpy as np
import pandas as pd
import pytest
from harness import charges, run

import matrixdp as mdp
from matrixdp import cli
from matrixdp.cli import release as verb
from matrixdp.privacy import exact_sums
from matrixdp.release import storage, tables
from matrixdp.release.records import read_records

#: A mean of four ages.
AGES = {
    "file": "ages.csv",
    "records": 4,
    "delta": None,
    "missing": None,
    "total": {"epsilon": 9, "delta": 1e-2},
    "bounds": {"age": [0, 10]},
}
LACKING = np.array([[1.0], [np.nan], [3.0], [4.0]])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ages.csv").write_text("age\n1\n\n3\n4\n")
    return tmp_path


@pytest.mark.parametrize(
    "several", [[], [{"query": "mean", "label": "a"}, {"query": "mean", "label": "b"}]]
)
def test_a_new_account_states_the_rule_before_a_record_is_read(
    folder, capsys, monkeypatch, several
):
    monkeypatch.setattr(tables, "blocks", lambda *_, **__: pytest.fail("a record was read"))
    assert run(folder, releases=several, **AGES) == 2
    sentence = capsys.readouterr().err
    assert 'add missing = "refuse"' in sentence
    assert sentence.count("\n") == 1
    assert not charges(folder, "ages.csv")


def test_recommend_says_so_too_by_the_suffix_where_there_is_no_file(tmp_path, capsys):
    for file, column in (("ages.csv", "age"), ("ages.parquet", "age"), ("ages.npy", "0")):
        keys = {**AGES, "file": file, "bounds": {column: [0, 10]}}
        assert run(tmp_path, verb="recommend", **keys) == 0
        assert 'add missing = "refuse"' in capsys.readouterr().err
    assert 'missing = "refuse"' in (verb.__doc__ or "")


@pytest.mark.parametrize(("kind", "status"), [(float, 2), (np.float32, 2), (int, 0), (bool, 0)])
def test_only_an_array_of_whole_numbers_needs_no_rule_for_missing_values(tmp_path, kind, status):
    np.save(tmp_path / "ages.npy", np.array([[1], [2], [3], [4]], dtype=kind))
    assert run(tmp_path, **{**AGES, "file": "ages.npy", "bounds": {"0": [0, 10]}}) == status


def by_a_later_command(folder):
    """Release for an account whose first release stated the rule, and then unstated."""
    assert run(folder, "first", **{**AGES, "missing": "middle"}) == 0
    return run(folder, label="again", **AGES)


DOORS = {
    "command": lambda folder: run(folder, **AGES),
    "later command": by_a_later_command,
    "file": lambda folder: mdp.make_release(harness.write(folder, **AGES)),
    "array": lambda _: mdp.make_release(LACKING, query="mean", bounds=(0, 10), epsilon=2),
    "none": lambda _: mdp.make_release(
        LACKING, query="mean", bounds=(0, 10), epsilon=2, missing=None
    ),
    "list": lambda folder: run(folder, **{**AGES, "query": ["mean", "components"]}),
    "list of an array": lambda _: mdp.make_release(
        LACKING, query=["mean", "components"], bounds=(0, 10), epsilon=2
    ),
    "norm": lambda folder: run(folder, max_norm=9, **AGES),
    "sums": lambda _: mdp.sums("mean", LACKING, bounds=(0, 10), records=4, account="a.json"),
    "covariance": lambda _: mdp.Covariance(bounds=(0, 10)).fit(LACKING),
    "components": lambda _: mdp.PrivatePCA(bounds=(0, 10), missing=None).fit(LACKING),
    "regression": lambda _: mdp.PrivateRidge(bounds=(0, 10), target_bounds=(0, 10)).fit(
        np.ones((4, 1)), LACKING[:, 0]
    ),
}


#: Doors to a mean, which can leave missing values out.
OF_MEANS = ("command", "later command", "file", "array", "none")


@pytest.mark.parametrize("door", DOORS)
def test_no_door_puts_a_value_in_place_of_a_missing_one_unstated(folder, capsys, door):
    try:
        assert DOORS[door](folder) == 2
        sentence = capsys.readouterr().err
    except mdp.InputError as error:
        sentence = str(error)
    assert "missing is not stated" in sentence or "missing is None" in sentence
    assert "middle" in sentence
    assert ("present" in sentence) == (door in OF_MEANS)
    assert not (folder / "out").exists()


@pytest.mark.parametrize("rules", [(None, "middle", {"age": 5}), ({"age": 0.0}, {"age": -0.0})])
def test_a_rule_that_is_stated_leaves_the_request_as_it_was(folder, rules):
    requests = [harness.spec(folder, **{**AGES, "missing": rule}).request(folder) for rule in rules]
    assert len({*map(storage.digest, requests)}) == 1


#: Codes, and cells of CSV that they make missing beside those that always are.
CODED = [
    (None, []),
    (["-9", "?"], ["-9", " -9.00 ", "-9e0", "?", " ? "]),
    ([-9, "Unknown"], ["-9", "unknown", "UNKNOWN "]),
    ({"age": [99.5]}, ["99.5", "9.95e1"]),
    (["NA", "nan", ""], []),
]
OTHERS = ["-9.5", "99", "3", "inf"]


def first_number(spec):
    """Return the number of the first record; None where it has none."""
    try:
        return next(read_records(spec))[0, 0]
    except mdp.InputError:
        return None


@pytest.mark.parametrize(("codes", "cells"), CODED)
def test_what_stands_for_a_missing_value_is_stated(tmp_path, codes, cells):
    """The control is in the rows: without a code, or beside one, a cell is no missing value."""
    keys = {**AGES, "missing": "middle", "missing_values": codes, "file": "ages.csv"}
    for cell in ["-9", "?", *cells, *OTHERS]:
        (tmp_path / "ages.csv").write_text(f"age\n{cell}\n4\n4\n4\n")
        spec = harness.spec(tmp_path, **keys)
        first = first_number(spec)
        if cell in cells:
            assert first == 5.0
        else:
            assert first == (None if cell == "?" else float(cell))


@pytest.mark.parametrize("kind", ["float32", "int64", "object", "frame", "parquet", "npy"])
def test_a_code_is_found_in_every_type_of_a_column(tmp_path, kind):
    column = np.array([4.0, -999, 4, 4]) if kind == "int64" else np.array([4.0, -999.9, 4, 4])
    codes = [np.int64(-999)] if kind == "int64" else [-999.9]
    stored = {"object": object, "int64": int}.get(kind, np.float32)
    array = column.astype(stored)[:, None]
    if kind == "object":
        array[2, 0], codes = "?", [-999.9, "?"]
    name = "age" if kind in ("frame", "parquet") else "0"
    keys = {**AGES, "bounds": {name: [0, 10]}, "mechanism": "laplace", "missing": "refuse"}
    if kind in ("parquet", "npy"):
        if kind == "npy":
            np.save(tmp_path / "ages.npy", array)
        else:
            pd.DataFrame({name: array[:, 0]}).to_parquet(tmp_path / "ages.parquet")
        keys |= {"file": f"ages.{kind}", "missing_values": codes}
        with pytest.raises(mdp.InputError, match="no finite number in record 2"):
            mdp.make_release(harness.write(tmp_path, **keys))
        return
    source = pd.DataFrame({name: array[:, 0]}) if kind == "frame" else array
    settings = {"query": "mean", "bounds": {name: (0, 10)}, "epsilon": 2, "missing": "refuse"}
    with pytest.raises(mdp.InputError, match="no finite number in record 2"):
        mdp.make_release(source, **settings, missing_values=codes)
    if kind != "object":
        # The control: without the code it is a number, and clipped.
        assert mdp.make_release(source, **settings).receipt["epsilon"] == 2


def test_codes_are_part_of_a_request_and_of_its_receipt(folder, capsys):
    keys = {**AGES, "missing": "middle"}
    stated = [["-9", "?"], ["?", -9.0, "NA"], {"age": ["?", "-9e0"]}, ["-9"], None, ["null"]]
    requests = [
        harness.spec(folder, **keys, missing_values=codes).request(folder) for codes in stated
    ]
    digests = [*map(storage.digest, requests)]
    assert len({*digests[:3]}) == 1
    assert len({*digests}) == 3
    # One without codes has the digest that it had before there were any.
    assert digests[4] == digests[5]
    assert "missing_values" not in requests[4]
    codes = ["-9", "-8", "-7", "-6", 123456789012, "?"]
    assert run(folder, **keys, missing_values=codes) == 0
    # All of them, with all their digits.
    stated = "as missing count also -9, -8, -7, -6, 123456789012, '?' of age"
    assert stated in capsys.readouterr().err


def test_an_array_of_whole_numbers_with_codes_needs_a_rule(tmp_path):
    np.save(tmp_path / "ages.npy", np.array([[1], [2], [-9], [4]]))
    keys = {**AGES, "file": "ages.npy", "bounds": {"0": [0, 10]}}
    assert run(tmp_path, **keys, missing_values=[-9]) == 2
    assert run(tmp_path, **keys) == 0


def test_the_console_and_the_receipt_say_what_a_missing_value_becomes(tmp_path, capsys):
    harness.save(tmp_path / "people.csv")
    assert run(tmp_path, missing={"age": 40}) == 0
    sentence = "a missing value counts as age 40, income 100000"
    assert sentence in capsys.readouterr().err
    receipt = harness.read(tmp_path).receipt
    assert receipt["rule_for_missing_values"].startswith(sentence)
    assert receipt["missing"] == {"age": 40, "income": 100_000}


@pytest.mark.parametrize(("norm", "verb"), [(None, "counts as"), (9.0, "becomes")])
def test_what_a_missing_value_becomes_is_shortened_with_its_record(norm, verb):
    keys = {"query": "mean", "bounds": (0, 10), "epsilon": 2, "missing": "middle"}
    (note,) = mdp.make_release(LACKING, max_norm=norm, **keys).notes
    assert note.startswith(f"a missing value {verb} 0 5")
    assert ("before its record is shortened to max_norm" in note) == bool(norm)


RECORDS = 4000
PRESENT = {"missing": "present", "bounds": {"age": [0, 120], "income": [0, 200]}}
RELATIONS = ["replace", "add_or_remove"]


def lacking():
    """Return records of which a quarter have no age and none has an income."""
    rows = np.column_stack([np.linspace(10, 50, RECORDS), np.full(RECORDS, np.nan)])
    rows[::4, 0] = np.nan
    rows[1, 0] = np.inf
    return rows


@pytest.mark.parametrize("adjacency", RELATIONS)
@pytest.mark.parametrize(
    ("mechanism", "delta"),
    # Of the recommended noise the last is Gaussian, whose counts have another weight.
    [("laplace", 1e-6), ("gaussian", 1e-6), ("recommend", 1e-6), ("recommend", 0.01)],
)
def test_the_mean_of_the_values_present_and_its_interval(
    tmp_path, capsys, adjacency, mechanism, delta
):
    harness.save(tmp_path / "people.csv", lacking())
    keys = {**PRESENT, "records": RECORDS, "mechanism": mechanism, "adjacency": adjacency}
    keys["delta"] = delta
    assert cli.main(["recommend", str(harness.write(tmp_path, **keys))]) == 0
    assert run(tmp_path, **keys) == 0
    answer, error = harness.read(tmp_path), capsys.readouterr().err
    age, income = answer.numbers[0]
    low, high = answer.details["interval_95"]["mean"]["age"]
    exact = np.nanmean(np.clip(lacking()[:, 0], 0, 120))
    assert low < age < high
    assert abs(age - exact) < high - low < 3
    assert np.isnan(income)
    assert "income" not in answer.details["interval_95"]["mean"]
    assert "income has no mean" in error
    assert "counts in no column" in error
    assert answer.receipt["missing"] == "present"
    assert "interval_95_plus_or_minus" not in answer.receipt


@pytest.mark.parametrize(("mechanism", "factor"), [("laplace", 2**0.5), ("gaussian", 2 / 3**0.5)])
def test_the_noise_of_a_mean_of_values_present_is_that_of_the_page(mechanism, factor):
    rows = np.random.default_rng(0).uniform(0, 1, (RECORDS, 2))
    keys = {"query": "mean", "bounds": (0, 1), "epsilon": 1, "delta": 1e-6, "mechanism": mechanism}
    refuse, present = (
        mdp.make_release(rows, **keys, missing=rule).receipt["noise_std"]["0"]
        for rule in ("refuse", "present")
    )
    assert present == pytest.approx(factor * refuse, rel=1e-3)
    widths = []
    for share in (1, 2):
        rows[::share] = np.where(share > 1, np.nan, rows[::share])
        made = mdp.make_release(rows, **keys, missing="present")
        widths.append(np.diff(made.details["interval_95"]["mean"]["0"])[0])
    assert widths[1] == pytest.approx(2 * widths[0], rel=0.05)


CELLS = ["", "NA", "nan", "-1e999", "-5", "0", "60", "119", "121", "inf"]


@pytest.mark.parametrize("adjacency", RELATIONS)
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_neighbouring_files_are_no_further_apart_than_the_noise_covers(
    tmp_path, adjacency, mechanism
):
    """A missing value that appears, disappears, or moves to the other column."""
    keys = {**PRESENT, "records": 3, "mechanism": mechanism, "adjacency": adjacency}
    spec = harness.spec(tmp_path, **keys)
    lines = [f"{age},{income}" for age in CELLS for income in CELLS[::3]]

    def value(last):
        text = "\n".join(["age,income", "10,", ",200", *last]) + "\n"
        (tmp_path / "people.csv").write_text(text)
        query, rows = spec.query, map(spec.scaled, read_records(spec))
        return exact_sums.value(query, rows)[:, 0]

    values = np.array([value([line]) for line in lines])
    others = values if adjacency == "replace" else value([])[None]
    apart = values[:, None] - others[None]
    norms = (1, spec.query.l1_sensitivity), (2, spec.query.l2_sensitivity)
    for order, bound in norms:
        largest = np.linalg.norm(apart, order, axis=-1).max()
        assert largest == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "recommend"])
@pytest.mark.parametrize("adjacency", RELATIONS)
@pytest.mark.parametrize("most", [1, 3])
def test_no_request_moves_by_more_than_its_noise_is_charged_for(
    tmp_path, mechanism, adjacency, most
):
    people = {"person": "name", "per_person": most, "records": most}
    keys = {**PRESENT, **people, "mechanism": mechanism, "adjacency": adjacency}
    base = harness.spec(tmp_path, **keys)
    grid = np.array([*itertools.product([np.nan, 0.0, 60.0, 120.0], [np.nan, 0.0, 90.0, 200.0])])
    for option in harness.options(base):
        chosen, noise = option.release, option.release.noise
        output = base.by(option.key)
        values = [
            exact_sums.value(output.query, [output.scaled(np.tile(row, (most, 1)))]) for row in grid
        ]
        others = values if adjacency == "replace" else [np.zeros(noise.shape)]
        apart = np.array([one - other for one in values for other in others])
        norm, charged = (1, chosen.epsilon) if chosen.mu is None else (2, chosen.mu)
        sizes = np.linalg.norm(noise.whiten(apart), norm, axis=-1)
        assert 0.99 * charged < sizes.max() <= charged * (1 + 1e-9)
