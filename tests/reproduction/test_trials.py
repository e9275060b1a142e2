import gzip

import numpy as np
import pytest
import rowframes

from reproduction import trials

ROWS = [
    {"experiment": "e", "epsilon": "0.1", "trial": np.arange(3), "value": [0.1, 1e-17, np.nan]},
    {"experiment": "e", "epsilon_exact": True, "delta": np.float64(1e22), "trial": 7, "value": 2.0},
    {"experiment": "e", "epsilon_exact": np.bool_(False), "trial": np.array([4]), "value": [5.0]},
    {"experiment": "e", "noise_std": np.inf, "trial": 0, "note": 'a "word", and\nanother', "x": 1},
]


@pytest.mark.parametrize("rows", [ROWS[:1], ROWS, [*ROWS, {"note": "no trial"}], ROWS[1:2]])
def test_a_file_is_the_one_that_pandas_would_write(rows, tmp_path):
    trials.write_trials(rows, tmp_path / "rows.csv.gz")
    text = rowframes.frame(rows).to_csv(index=False, lineterminator="\n")
    assert gzip.decompress((tmp_path / "rows.csv.gz").read_bytes()).decode() == text


def test_the_same_rows_are_the_same_bytes_and_a_part_of_the_columns_is_plain_csv(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        trials.write_trials(ROWS[:2], tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    trials.write_csv(ROWS[:2], ("experiment", "trial"), tmp_path / "c.csv")
    assert (tmp_path / "c.csv").read_text() == "experiment,trial\ne,0\ne,1\ne,2\ne,7\n"
