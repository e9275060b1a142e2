import os
import stat

import pytest

from matrixdp.checks import InputError
from reproduction import files


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "table.csv.gz"
    files.write_text(target, "old")
    with pytest.raises(RuntimeError), files.replacing(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv.gz"]


def test_the_temporary_name_keeps_the_suffixes(tmp_path):
    with files.replacing(tmp_path / "table.csv.gz") as temporary:
        assert temporary.name.endswith(".csv.gz")
        assert temporary.parent == tmp_path


def test_permissions_are_those_of_an_ordinary_file(tmp_path):
    files.write_text(tmp_path / "a", "x")
    (tmp_path / "b").write_text("x")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "ab"}
    assert len(modes) == 1


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"cannot be written \(.*\); free some space"):
        files.write_text(tmp_path / "file" / "table.csv", "x")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_disk_is_one_sentence(tmp_path):
    with (
        pytest.raises(InputError, match="no space left on device"),
        files.replacing(tmp_path / "table.csv"),
        open("/dev/full", "w") as full,
    ):
        full.write("x")


def test_what_a_killed_job_left_is_swept(tmp_path):
    (tmp_path / ".matrixdp-table.csv-x7_q.csv").write_text("half")
    others = [".matrixdp-other.csv-x7_q.csv", ".table.csv.swp", ".table.csv.mine.csv"]
    for name in others:
        (tmp_path / name).write_text("of another file, or of a person")
    files.write_text(tmp_path / "table.csv", "x")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "table.csv"])
