"""The last words of a run say what it found, and nothing of an earlier run."""

import json
import os
import re
import time

import pytest

from reproduction import outcome

HEAD = "id,verdict,data_status,same_as\n"
#: The last claim is decided by the fact that decides another one, and counts with it.
ROWS = "M1,reproduced,,\nM2,narrower,original,\nM3,not reproduced,original,\nM5,narrower,,M2\n"


def words(folder, start):
    return re.sub(r"took .*", "took", "\n".join(outcome.sentences(str(folder), start)))


def test_a_run_ends_with_its_verdicts_its_page_and_its_time(tmp_path):
    start = time.time() - 60
    (tmp_path / "claims.csv").write_text(HEAD + ROWS)
    (tmp_path / "report.html").write_text("page")
    text = words(tmp_path, start)
    assert (
        "3 claims of the papers: 1 reproduced, 1 reproduced only in a narrower case, 1 not" in text
    )
    assert text.endswith(f"Look at {tmp_path}/report.html.\nThis run took")
    assert "SIMULATED" not in text
    (tmp_path / "claims.csv").write_text(HEAD + ROWS + "M4,reproduced,simulated,\n")
    assert "SIMULATED" in words(tmp_path, start)


def test_files_of_an_earlier_run_are_not_named(tmp_path):
    for name in ("claims.csv", "report.html"):
        (tmp_path / name).write_text(HEAD)
        os.utime(tmp_path / name, (1, 1))
    assert words(tmp_path, time.time()) == "This run took"


@pytest.mark.parametrize("start", [".venv/bin/snakemake", "snakemake -c 1"])
def test_the_command_for_originals_is_told_of_stand_ins_that_nobody_asked_for(
    tmp_path, monkeypatch, start
):
    monkeypatch.chdir(tmp_path)
    if start == ".venv/bin/snakemake":
        (tmp_path / ".venv/bin").mkdir(parents=True)
        (tmp_path / start).touch()
    cases = {"liver": ("auto", "simulated"), "ctg": ("auto", "original")}
    cases |= {"cora": ("simulated", "simulated"), "imdb": ("auto", "simulated")}
    for name, (requested, status) in cases.items():
        file = tmp_path / "my data/data" / name / "provenance.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"requested": requested, "status": status}))
    (text,) = outcome.stand_ins(f"{tmp_path}/my data", "--configfile my.yaml")
    files = " ".join(
        f"'{tmp_path}/my data/data/{name}/provenance.json'" for name in ("imdb", "liver")
    )
    assert "the place of imdb, liver." in text
    assert f"say `{start} --configfile my.yaml --forcerun {files} -- {files}`" in text
    assert [*outcome.stand_ins(str(tmp_path), "")] == []
