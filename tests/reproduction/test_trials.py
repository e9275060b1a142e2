import gzip

import numpy as np
import pandas as pd
import pytest

from matrixdp.checks import InputError
from reproduction import trials

ROWS = [
    {"experiment": "e", "epsilon": "0.1", "trial": np.arange(3), "value": [0.1, 1e-17, np.nan]},
    {"experiment": "e", "epsilon_exact": True, "delta": np.float64(1e22), "trial": 7, "value": 2.0},
    {"experiment": "e", "epsilon_exact": np.bool_(False), "trial": np.array([4]), "value": [5.0]},
    {"experiment": "e", "noise_std": np.inf, "trial": 0, "note": 'a "word", and\nanother', "x": 1},
]


def frames(rows):
    """Return what pandas makes of rows, to compare with."""
    parts = [
        pd.DataFrame(block if any(map(np.ndim, block.values())) else [block]) for block in rows
    ]
    return pd.concat(parts, ignore_index=True).reindex(columns=list(trials.COLUMNS))


@pytest.mark.parametrize("rows", [ROWS[:1], ROWS, [*ROWS, {"note": "no trial"}], ROWS[1:2]])
def test_a_file_is_the_one_that_pandas_would_write(rows, tmp_path):
    trials.write(rows, tmp_path / "rows.csv.gz")
    text = frames(rows).to_csv(index=False, lineterminator="\n")
    assert gzip.decompress((tmp_path / "rows.csv.gz").read_bytes()).decode() == text


def test_the_same_rows_are_the_same_bytes_and_a_part_of_the_columns_is_plain_csv(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        trials.write(ROWS[:2], tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    trials.write_csv(ROWS[:2], ("experiment", "trial"), tmp_path / "c.csv")
    assert (tmp_path / "c.csv").read_text() == "experiment,trial\ne,0\ne,1\ne,2\ne,7\n"


def test_columns_have_one_value_for_all_rows_or_one_for_each():
    rows = trials.assigned([{"trial": np.arange(2)}, {"note": "none"}], mechanism="laplace")
    found = trials.columns(rows, ("mechanism", "trial", "note"))
    assert found == {
        "mechanism": ["laplace"] * 3,
        "trial": [0.0, 1.0, None],
        "note": [None, None, "none"],
    }


def test_a_file_is_read_as_its_texts_and_written_to_the_same_bytes(tmp_path):
    one, other = (tmp_path / f"{name}.csv.gz" for name in "ab")
    trials.write(ROWS, one)
    rows = trials.read(one)
    assert rows[1]["value"] == "1e-17"
    assert rows[-1]["note"] == ROWS[-1]["note"]
    trials.write(rows, other)
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("kept", [0, 30, 60])
def test_half_a_file_is_refused(kept, tmp_path):
    trials.write(ROWS, tmp_path / "rows.csv.gz")
    part = (tmp_path / "rows.csv.gz").read_bytes()[:kept]
    (tmp_path / "rows.csv.gz").write_bytes(part)
    with pytest.raises(InputError, match=r"rows.csv.gz .*delete it and run again"):
        trials.read(tmp_path / "rows.csv.gz")


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", ",".join(trials.COLUMNS) + "\n1,2\n"])
def test_a_file_that_is_not_of_trials_is_refused(text, tmp_path):
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(text.encode()))
    with pytest.raises(InputError, match="rows.csv.gz is not a whole trial file"):
        trials.read(tmp_path / "rows.csv.gz")
