"""What becomes of missing values: a new account states it before a record is read."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import samplefile

import matrixdp as mdp
from matrixdp import cli
from matrixdp.cli import release as verb
from matrixdp.privacy import exact_sums
from matrixdp.release import choices, ledger, release, tables
from matrixdp.release.specification import read

TEXT = """
file = "FILE"
query = "mean"
records = 4
epsilon = 2.0
total = {epsilon = 9, delta = 1e-2}
MORE
[bounds]
COLUMN = [0, 10]
"""


def written(folder, more="", file="ages.csv", column="age"):
    path = folder / "spec.toml"
    text = TEXT.replace("FILE", file).replace("MORE", more).replace("COLUMN", column)
    path.write_text(text)
    return path


def refused(folder, capsys, *words, **given):
    assert cli.main(["release", str(written(folder, **given)), "--out", str(folder / "out")]) == 2
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    return output


def test_a_new_account_states_the_rule_before_a_record_is_read(tmp_path, capsys, monkeypatch):
    (tmp_path / "ages.csv").write_text("age\n1\n\n3\n4\n")
    monkeypatch.setattr(tables, "blocks", lambda *_, **__: pytest.fail("a record was read"))
    assert 'add missing = "refuse"' in refused(tmp_path, capsys)
    several = "[[release]]\nquery = 'mean'\nlabel = 'a'\n[[release]]\nquery = 'mean'\n"
    path = written(tmp_path)
    path.write_text(path.read_text().replace("epsilon = 2.0\n", "") + several)
    assert cli.main(["release", str(path), "--out", str(tmp_path / "out")]) == 2
    assert 'add missing = "refuse"' in capsys.readouterr().err
    assert not (tmp_path / f"ages.csv{ledger.SUFFIX}").exists()


def test_recommend_says_so_too_by_the_suffix_where_there_is_no_file(tmp_path, capsys):
    for file, column in (("ages.csv", "age"), ("ages.parquet", "age"), ("ages.npy", "'0'")):
        path = written(tmp_path, file=file, column=column)
        assert cli.main(["recommend", str(path)]) == 0
        assert 'add missing = "refuse"' in capsys.readouterr().err


@pytest.mark.parametrize(("kind", "lacks"), [(float, True), (np.float32, True), (int, False)])
def test_an_array_of_whole_numbers_has_no_missing_value(tmp_path, capsys, kind, lacks):
    path = tmp_path / "ages.npy"
    np.save(path, np.array([[1], [2], [3], [4]], dtype=kind))
    if lacks:
        refused(tmp_path, capsys, file=path.name, column="0")
        return
    spec = written(tmp_path, file=path.name, column="0")
    assert cli.main(["release", str(spec), "--out", str(tmp_path / "out")]) == 0


def _by_command(folder, _):
    return cli.main(["release", str(written(folder)), "--out", str(folder / "out")])


def _by_a_later_command(folder, _):
    """Release for an account whose first release stated the rule, and then unstated."""
    written(folder, 'missing = "middle"')
    mdp.make_release(folder / "spec.toml", out=folder / "first")
    path = written(folder, 'label = "again"')
    return cli.main(["release", str(path), "--out", str(folder / "out")])


def _by_a_file(folder, _):
    return mdp.make_release(written(folder))


def _by_a_frame(folder, rows):
    return mdp.make_release(rows, query="mean", bounds=(0, 10), epsilon=2)


def _by_a_frame_with_none(folder, rows):
    return mdp.make_release(rows, query="mean", bounds=(0, 10), epsilon=2, missing=None)


def _by_an_estimator(folder, rows):
    return mdp.Covariance(bounds=(0, 10)).fit(rows)


def _by_components(folder, rows):
    return mdp.PrivatePCA(bounds=(0, 10), missing=None).fit(np.column_stack([rows, rows]))


def _by_a_regression(folder, rows):
    return mdp.PrivateRidge(bounds=(0, 10), target_bounds=(0, 10)).fit(np.ones((4, 1)), rows[:, 0])


@pytest.mark.parametrize(
    "door",
    [
        _by_command,
        _by_a_later_command,
        _by_a_file,
        _by_a_frame,
        _by_a_frame_with_none,
        _by_an_estimator,
        _by_components,
        _by_a_regression,
    ],
)
def test_no_door_puts_a_value_in_place_of_a_missing_one_unstated(tmp_path, capsys, door):
    (tmp_path / "ages.csv").write_text("age\n1\n\n3\n4\n")
    try:
        assert door(tmp_path, np.array([[1.0], [np.nan], [3.0], [4.0]])) == 2
        sentence = capsys.readouterr().err
    except mdp.InputError as error:
        sentence = str(error)
    assert "missing is not stated" in sentence or "missing is None" in sentence
    assert "middle" in sentence
    assert not (tmp_path / "out").exists()


def test_a_rule_that_is_stated_leaves_the_request_as_it_was(tmp_path):
    (tmp_path / "ages.csv").write_text("age\n1\n2\n3\n4\n")
    requests = [
        ledger.digest(release._request(read(written(tmp_path, more)), tmp_path))
        for more in ("", 'missing = "middle"', "missing = {age = 5}")
    ]
    assert len({*requests}) == 1


def test_the_help_and_the_sample_state_the_rule(folder):
    assert "missing = " in samplefile.written(folder).read_text()
    assert 'missing = "refuse"' in (verb.__doc__ or "")


PRESENT = """
file = "people.csv"
query = "mean"
records = RECORDS
epsilon = 2.0
delta = 1e-6
adjacency = "ADJACENCY"
missing = "present"
total = {epsilon = 4.0, delta = 1e-5}
MORE
[bounds]
age = [0, 120]
income = [0, 200]
"""
RECORDS = 4000


def people(folder, rows, more="", adjacency="replace"):
    """Write records, with nothing in place of NaN, and a specification of the mean of the rest."""
    cells = [",".join("" if np.isnan(one) else f"{one}" for one in row) for row in rows]
    (folder / "people.csv").write_text("\n".join(["age,income", *cells]) + "\n")
    text = PRESENT.replace("RECORDS", str(len(rows))).replace("ADJACENCY", adjacency)
    path = folder / "present.toml"
    path.write_text(text.replace("MORE", more))
    return path


def lacking():
    """Return records of which a quarter have no age and none has an income."""
    rows = np.column_stack([np.linspace(10, 50, RECORDS), np.full(RECORDS, np.nan)])
    rows[::4, 0] = np.nan
    rows[1, 0] = np.inf
    return rows


@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "recommend"])
def test_the_mean_of_the_values_present_and_its_interval(tmp_path, capsys, adjacency, mechanism):
    path = people(tmp_path, lacking(), f'mechanism = "{mechanism}"', adjacency)
    assert cli.main(["recommend", str(path)]) == 0
    assert cli.main(["release", str(path), "--out", str(tmp_path / "out")]) == 0
    output = capsys.readouterr()
    age, income = (tmp_path / "out/mean.csv").read_text().splitlines()[1].split(",")
    details = json.loads((tmp_path / "out/mean.details.json").read_text())
    low, high = details["interval_95"]["mean"]["age"]
    exact = np.nanmean(np.clip(lacking()[:, 0], 0, 120))
    assert low < float(age) < high
    assert abs(float(age) - exact) < high - low < 3
    assert income == ""
    assert "income" not in details["interval_95"]["mean"]
    assert "income has no mean" in output.err
    assert "counts in no column's mean" in output.err
    receipt = json.loads((tmp_path / "out/mean.receipt.json").read_text())
    assert receipt["missing"] == "present"
    assert "interval_95_plus_or_minus" not in receipt


def test_the_console_and_the_receipt_say_what_a_missing_value_becomes(folder, capsys):
    path = samplefile.written(folder, more="missing = {age = 40}")
    assert cli.main(["release", str(path), "--out", str(folder / "out")]) == 0
    sentence = "a missing value counts as age 40, income 100000"
    assert sentence in capsys.readouterr().err
    receipt = json.loads((folder / "out/mean.receipt.json").read_text())
    assert receipt["rule_for_missing_values"].startswith(sentence)


def test_no_message_and_no_receipt_tells_how_many_were_missing(tmp_path, capsys):
    messages = []
    for number in (0, 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        rows = np.full((RECORDS, 2), 30.0)
        rows[: 1000 * number] = np.nan
        assert cli.main(["release", str(people(folder, rows)), "--out", str(folder / "out")]) == 0
        receipt = (folder / "out/mean.receipt.json").read_text()
        messages.append("".join([*capsys.readouterr(), receipt]).replace(str(folder), ""))
    assert messages[0] == messages[1]


CELLS = ["", "NA", "nan", "-1e999", "-5", "0", "60", "119", "121", "inf"]


@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_neighbouring_files_are_no_further_apart_than_the_noise_covers(
    tmp_path, adjacency, mechanism
):
    """A missing value that appears, disappears, or moves to the other column."""
    spec = read(people(tmp_path, lacking()[:3], f'mechanism = "{mechanism}"', adjacency))
    lines = [f"{age},{income}" for age in CELLS for income in CELLS[::3]]

    def value(last):
        text = "\n".join(["age,income", "10,", ",200", *last]) + "\n"
        (tmp_path / "people.csv").write_text(text)
        return exact_sums.value(spec.query, release._records(spec))[:, 0]

    values = np.array([value([line]) for line in lines])
    others = values if adjacency == "replace" else value([])[None]
    apart = values[:, None] - others[None]
    assert np.abs(apart).sum(axis=-1).max() == pytest.approx(spec.query.l1_sensitivity, rel=1e-9)
    assert np.linalg.norm(apart, axis=-1).max() == pytest.approx(
        spec.query.l2_sensitivity, rel=1e-9
    )


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "recommend"])
@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
@pytest.mark.parametrize("most", [1, 3])
def test_no_request_moves_by_more_than_its_noise_is_charged_for(
    tmp_path, mechanism, adjacency, most
):
    more = f'mechanism = "{mechanism}"\nperson = "name"\nper_person = {most}'
    base = read(people(tmp_path, lacking()[:most], more, adjacency))
    grid = np.array([*itertools.product([np.nan, 0.0, 60.0, 120.0], [np.nan, 0.0, 90.0, 200.0])])
    for option in choices.options(base):
        chosen, noise = option.release, option.release.noise
        spec = replace(base, query=chosen.query)
        null = np.zeros(noise.shape)
        values = [
            exact_sums.value(spec.query, [spec.scaled(np.tile(row, (most, 1)))]) for row in grid
        ]
        others = values if adjacency == "replace" else [null]
        apart = np.array([one - other for one in values for other in others])
        if chosen.mu is None:
            sizes, charged = noise.size(apart), chosen.epsilon
        else:
            sizes, charged = np.linalg.norm(noise.whiten(apart), axis=-1), chosen.mu
        assert 0.99 * charged < sizes.max() <= charged * (1 + 1e-9)
