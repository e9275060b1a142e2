"""What a release does with tables, pipes and features that meet each other."""

import datetime
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import matrixdp as mdp
from matrixdp import cli
from matrixdp.mechanisms.private_bounds import SizeQuery

BOTH = """
file = "people.csv"
query = "{query}"
records = {records}
epsilon = 4
delta = {delta}
missing = "{missing}"
mechanism = "{mechanism}"
total = {{epsilon = 9, delta = {total}}}
bounds = {bounds}
"""


def release(folder, rows, delta=0, mechanism="recommend", **keys):
    """Write records and a specification, and release it; return the folder of the files."""
    text = "\n".join(",".join("" if np.isnan(x) else repr(x) for x in row) for row in rows.tolist())
    (folder / "people.csv").write_text(f"x,y\n{text}\n")
    total = 1e-3 if delta else 0
    keys = {"records": len(rows), "delta": delta, "total": total, "mechanism": mechanism, **keys}
    (folder / "s.toml").write_text(BOTH.format(**keys))
    assert cli.main(["release", str(folder / "s.toml"), "--out", str(folder / "out")]) == 0
    return folder / "out"


def test_a_matrix_of_two_dimensional_columns_is_refused_before_any_noise(tmp_path):
    rows = np.random.default_rng(0).uniform(1, 2, (400, 3))
    account = tmp_path / "a.privacy.json"
    with pytest.raises(mdp.InputError, match="no single column"):
        mdp.make_release(
            np.asmatrix(rows),
            query="mean",
            bounds={0: (0, 4), 1: (0, 4), 2: (0, 4)},
            epsilon=4,
            missing="middle",
            account=account,
            total={"epsilon": 9, "delta": 0},
        )
    assert not account.exists() or not mdp.Account(account).spent


def test_a_histogram_counts_no_record_more_than_once_a_column():
    query = SizeQuery.of(mdp.MeanQuery(mdp.Box.cube(3, -1, 1), 50), 3)
    rows = np.ones((50, 3))
    assert query.counts([rows]).sum() == 150
    for block in (rows[:, :, None] * np.ones(3), rows[:, :2], rows[:, 0]):
        with pytest.raises(mdp.InputError, match="one record per row"):
            query.counts([block])


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_the_mean_of_values_present_leaves_them_out_within_private_bounds(
    tmp_path, monkeypatch, delta
):
    monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
    stream = np.random.default_rng(1)
    rows = stream.uniform(6, 8, (5000, 2))
    rows[stream.random((5000, 2)) < 0.5] = np.nan
    bounds = '{x = "private", y = [4, 8]}'
    out = release(tmp_path, rows, delta, query="mean", missing="present", bounds=bounds)
    answer = np.genfromtxt(out / "mean.csv", delimiter=",", skip_header=1)
    # The middle of [4, 8] in place of the missing half would give 6.5.
    assert answer == pytest.approx(np.nanmean(rows, axis=0), abs=0.15)
    assert "counts in no column" in (out / "mean.receipt.md").read_text()
    assert "missing values: present" not in (out / "mean.receipt.md").read_text()


def test_the_console_says_what_clipping_takes(tmp_path, capsys):
    stream = np.random.default_rng(1)
    rows = stream.uniform(0, 1, (1000, 2))
    bounds = "{x = [0, 1], y = [0, 1]}"
    keys = {"query": "covariance", "missing": "refuse", "bounds": bounds, "mechanism": "clipped"}
    release(tmp_path, rows, 1e-6, **keys)
    assert "several times too small" in capsys.readouterr().err


def test_the_console_says_the_bounds_that_were_found(tmp_path, capsys):
    rows = np.random.default_rng(1).uniform(4.5, 7.5, (2000, 2))
    bounds = '{x = "private", y = [4, 8]}'
    release(tmp_path, rows, query="mean", missing="refuse", bounds=bounds)
    told = capsys.readouterr().err
    assert "x was clipped to [4, 8], bounds that were found in private" in told
    assert "y was clipped" not in told


def test_a_reader_who_stops_is_no_error(tmp_path):
    rows = np.random.default_rng(1).uniform(0, 1, (50, 2))
    bounds = "{x = [0, 1], y = [0, 1]}"
    release(tmp_path, rows, query="mean", missing="refuse", bounds=bounds)
    command = [sys.executable, "-m", "matrixdp", "recommend", str(tmp_path / "s.toml")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.wait()


def test_the_type_of_an_array_does_not_tell_the_longest_text(tmp_path):
    words = np.array([["1", "secretsecret"], ["2", "b"]])
    np.save(tmp_path / "people.npy", words)
    for source in (words, words[:, 1:]):
        with pytest.raises(mdp.InputError) as caught:
            mdp.make_release(source, query="mean", bounds=(0, 1), epsilon=1, missing="refuse")
        assert "12" not in str(caught.value)


# --- A refusal names the cause that is there ----------------------------------------------------


def table(**columns):
    return pd.DataFrame({"age": [1.0, 2.0, 3.0], **columns})


def with_entry(entry):
    rows = np.zeros((3, 2), dtype=object)
    rows[1, 1] = entry
    return rows


#: Records that no estimator reads, and what is said of them.
TABLES = [
    (table().rename(columns={"age": 2020}).assign(b=1.0), "names of columns of several types"),
    (table(**{"2020": [1, 2, 3]})["age"], "is a column and no table"),
    (table(b=["x", "y", "z"]), "a text in record 1, column 'b'"),
    (table(b=pd.to_datetime(["2020-01-01"] * 3)), "an entry of type Timestamp in record 1"),
    (table(b=pd.Series([1, pd.NA, 2], dtype=object)), "of type NAType in record 2, column 'b'"),
]
#: Records that nothing reads.
ROWS = [
    (with_entry("secret"), "a text in record 2, column 1"),
    (with_entry({"secret": 1}), "an entry of type dict in record 2, column 1"),
    (with_entry(datetime.date(2020, 1, 1)), "an entry of type date in record 2, column 1"),
    (with_entry(10**400), "a number beyond float64 in record 2, column 1"),
    (np.full((3, 2), "2020-01-01", dtype="datetime64[ns]"), "dates"),
    ([[1.0, 2.0], [3.0]], "rows of several lengths"),
]


def fit(records):
    mdp.Covariance(epsilon=1, delta=1e-6, bounds=(0, 1)).fit(records)


def draw(records):
    query = mdp.MeanQuery(mdp.Box((0.0,) * 2, (1.0,) * 2), 3)
    mdp.Laplace().calibrate(query, epsilon=1).release(records)


def target(records):
    ridge = mdp.PrivateRidge(epsilon=1, delta=1e-6, bounds=(0, 1), target_bounds=(0, 1))
    ridge.fit(np.zeros((3, 2)), [row[-1] for row in records])


def invert(records):
    rows = np.random.default_rng(0).uniform(size=(400, 2))
    mdp.PrivatePCA(2, epsilon=9, delta=1e-6, bounds=(0, 1)).fit(rows).inverse_transform(records)


@pytest.mark.parametrize(
    ("door", "records", "cause"),
    [
        *((fit, *case) for case in [*TABLES, *ROWS]),
        *((door, *case) for door in (draw, invert) for case in ROWS),
        *((target, rows, cause.partition(", column")[0]) for rows, cause in ROWS[:4]),
    ],
)
def test_a_refusal_of_records_names_the_cause_that_is_there(door, records, cause):
    with pytest.raises((mdp.InputError, TypeError), match=cause) as refusal:
        door(records)
    assert "secret" not in str(refusal.value)
    assert refusal.value.__cause__ is refusal.value.__context__ is None
