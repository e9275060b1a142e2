"""What becomes of missing values: a new account states it before a record is read."""

import json

import numpy as np
import pytest
import samplefile

from matrixdp import cli
from matrixdp.release import ledger, release, tables
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
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    return told


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


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@pytest.mark.parametrize(("kind", "lacks"), [(float, True), (np.float32, True), (int, False)])
def test_an_array_of_whole_numbers_has_no_missing_value(tmp_path, capsys, suffix, kind, lacks):
    path = tmp_path / f"ages{suffix}"
    (np.savez if suffix == ".npz" else np.save)(path, np.array([[1], [2], [3], [4]], dtype=kind))
    if lacks:
        refused(tmp_path, capsys, file=path.name, column="0")
        return
    spec = written(tmp_path, file=path.name, column="0")
    assert cli.main(["release", str(spec), "--out", str(tmp_path / "out")]) == 0


def test_an_account_that_exists_goes_on_with_the_middle(tmp_path):
    (tmp_path / "ages.csv").write_text("age\n\n\n\n\n")
    for number, more in enumerate(['missing = "middle"', 'label = "again"']):
        out = tmp_path / f"out{number}"
        assert cli.main(["release", str(written(tmp_path, more)), "--out", str(out)]) == 0
        receipt = json.loads((out / "mean.receipt.json").read_text())
        assert receipt["missing"] == {"age": 5.0}


def test_a_rule_that_is_stated_leaves_the_request_as_it_was(tmp_path):
    (tmp_path / "ages.csv").write_text("age\n1\n2\n3\n4\n")
    requests = [
        ledger.digest(release._request(read(written(tmp_path, more)), tmp_path))
        for more in ("", 'missing = "middle"', "missing = {age = 5}")
    ]
    assert len({*requests}) == 1


def test_the_help_and_the_sample_state_the_rule(folder):
    assert "missing = " in samplefile.written(folder).read_text()
