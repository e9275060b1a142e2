"""Records in parts: a folder is one file of records, with one account."""

import os
import re

import harness
import numpy as np
import pandas as pd
import pytest
import visits
from visits import KEYS, ROWS, alone, bits, frames

import matrixdp as mdp
from matrixdp import cli
from matrixdp.release import notation, readers, storage
from matrixdp.release.records import read_records


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the parts in ``visits``, and with all records in ``people.csv``."""
    monkeypatch.chdir(tmp_path)
    visits.save(tmp_path)
    return tmp_path


@pytest.mark.parametrize("query", ["mean", "covariance"])
@pytest.mark.parametrize("parts", [None, ["2024-03.csv", "2024-00.csv", "2024-02.csv"]])
def test_a_folder_is_one_file_of_records(folder, monkeypatch, query, parts):
    mechanism = "recommend" if query == "mean" else "analyze_gauss"
    keys = {**KEYS, "query": query, "mechanism": mechanism}
    if parts:
        keys["file"] = [f"visits/{name}" for name in parts]
    answers = []
    for out, file in (("parts", keys["file"]), ("whole", "people.csv")):
        bits(monkeypatch)
        assert harness.run(folder, out, **{**keys, "file": file}) == 0
        answers.append((folder / out / f"{query}.csv").read_text())
    assert answers[0] == answers[1]
    assert len(harness.charges(folder, "visits")) == 1
    assert harness.charges(folder, "visits")[0]["file"] == "visits"
    assert not [*(folder / "visits").glob("*privacy*")]


def test_a_list_says_nothing_of_what_else_is_in_its_folder(folder, capsys):
    (folder / "visits" / "more").mkdir()
    np.save(folder / "visits" / "b.npy", ROWS)
    names = ("2024-00.csv", "2024-02.csv", "2024-03.csv")
    parts = [f"visits/{name}" for name in names]
    for path in parts:
        frame = pd.read_csv(folder / path)
        frame.assign(other=1).to_csv(folder / path, index=False)
    assert harness.run(folder, **{**KEYS, "file": parts}) == 0
    assert "visits has no bounds" in capsys.readouterr().err
    # The control: the folder itself is refused.
    assert harness.run(folder, "whole", **KEYS) == 2


def test_formats_columns_and_their_order_may_differ_but_not_their_names(folder, capsys):
    pytest.importorskip("pyarrow")
    for path, frame in zip(sorted((folder / "visits").iterdir()), frames(), strict=True):
        path.unlink()
        frame = frame[[*reversed(frame.columns)]] if "2024-00" in path.name else frame
        more = frame.assign(other="x") if "2024-02" in path.name else frame
        more.to_parquet(path.with_suffix(".parquet"))
    assert harness.run(folder, **KEYS) == 0
    frames()[0].rename(columns={"age": "years"}).to_parquet(folder / "visits/2024-00.parquet")
    assert harness.run(folder, "second", label="again", **KEYS) == 2
    assert "2024-00.parquet has no 'age'" in capsys.readouterr().err
    frames()[0].astype({"age": str}).to_parquet(folder / "visits/2024-00.parquet")
    assert harness.run(folder, "second", label="again", **KEYS) == 2
    assert "2024-00.parquet has " in capsys.readouterr().err
    assert len(harness.charges(folder, "visits")) == 1


def test_a_part_of_a_new_month_keeps_the_account(folder, capsys):
    assert harness.run(folder, **KEYS) == 0
    frames()[0].iloc[:100].to_csv(folder / "visits/2024-09.csv", index=False)
    # The old request is answered as it was, and says that parts have changed since.
    os.utime(folder / "visits/2024-09.csv", (2e9, 2e9))
    assert harness.run(folder, "same", **KEYS) == 0
    assert "visits has changed since" in capsys.readouterr().err
    assert harness.run(folder, "new", records=500, **KEYS) == 0
    assert len(harness.charges(folder, "visits")) == 2
    assert cli.main(["account", str(folder / "visits")]) == 0
    assert "2 releases" in capsys.readouterr().out


#: What is done to the folder before its release, and what is said; nothing is charged.
SPOILED = {
    "copy": (lambda v: (v / "b.csv").write_bytes((v / "2024-00.csv").read_bytes()), "the same rec"),
    "link": (lambda v: (v / "b.csv").symlink_to(v / "2024-00.csv"), "the same records in"),
    "hard link": (lambda v: (v / "b.csv").hardlink_to(v / "2024-00.csv"), "2 names (hard links)"),
    "folder": (lambda v: (v / "more").mkdir(), "has the folder more within"),
    "packed": (
        lambda v: (v / "b.csv.gz").write_bytes(b""),
        "no part of .csv or .parquet; unpack it, or take",
    ),
    "tabs": (lambda v: (v / "b.tsv").write_bytes(b""), "; rename it to .csv, and state separator"),
    "array": (lambda v: np.save(v / "b.npy", ROWS), "b.npy, which is no part of .csv"),
    "type": (lambda v: (v / "b.parquet").write_bytes(b""), "has parts of .csv and of .parquet"),
    "more": (lambda v: (v / "b.csv").write_text("age,income\n1,2\n"), "has 401 records"),
    "less": (lambda v: (v / "2024-00.csv").unlink(), "has 270 records"),
    "none": (lambda v: [part.unlink() for part in v.iterdir()], "is a folder without a part"),
    "copy of missing values": (
        lambda v: [(v / name).write_text("age\n\n\n") for name in ("b.csv", "c.csv")],
        "the same records in b.csv and c.csv",
    ),
    "lines of an old Mac": (
        lambda v: [(v / f"{k}.csv").write_bytes(b"age,income\r1,%d\r" % k) for k in (1, 2)],
        "carriage return",
    ),
    "no names": (lambda v: (v / "b.csv").write_text(""), "b.csv is empty"),
}


@pytest.mark.parametrize("spoiled", SPOILED)
def test_a_folder_that_is_no_file_of_records_is_refused(folder, capsys, spoiled):
    spoil, says = SPOILED[spoiled]
    spoil(folder / "visits")
    assert harness.run(folder, **KEYS) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert not harness.charges(folder, "visits")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", False), ("age\n", False), ("age\n5\n", True), ("age,income\r\n1,2\r\n", True)]
    # A blank line is a record, with a missing value, in a file of one column alone.
    + [("age\n\n", True), ("\ufeffage\n\n", True), ('"age,income"\n\n', True)]
    + [("age,income\n\n", False), ("\nage,income\r\n\r\n", False)],
)
def test_a_file_has_records_where_a_line_after_its_names_is_one(tmp_path, text, expected):
    (tmp_path / "part.csv").write_text(text, encoding="utf-8", newline="")
    assert readers.has_records(tmp_path / "part.csv", notation.USUAL) == expected


def test_what_other_programs_leave_in_a_folder_is_no_part(folder):
    for name in ("_SUCCESS", ".2024-00.csv.crc", "_metadata.csv", "readme.md"):
        (folder / "visits" / name).write_text("x")
    assert harness.run(folder, **KEYS) == 0


def test_a_part_has_no_account_beside_that_of_its_folder(folder, capsys):
    assert harness.run(folder, **KEYS) == 0
    assert alone(folder, records=130) == 2
    error = capsys.readouterr().err
    assert "is a part of" in error
    assert 'state account = "' in error
    # The remedy.
    assert alone(folder, records=130, account="visits.privacy.json") == 0
    assert len(harness.charges(folder, "visits")) == 2
    # The control: a file in another folder has its own.
    assert harness.run(folder, "other", **{**KEYS, "file": "people.csv"}) == 0


def test_a_part_that_was_released_alone_is_not_released_with_its_folder(folder, capsys):
    assert alone(folder, records=130) == 0
    for file in ("visits", ["visits/2024-00.csv", "visits/2024-02.csv", "visits/2024-03.csv"]):
        assert harness.run(folder, **{**KEYS, "file": file}) == 2
        assert "2024-00.csv was released alone, and" in capsys.readouterr().err
    account = "visits/2024-00.csv.privacy.json"
    assert harness.run(folder, **{**KEYS, "account": account}) == 0
    assert len(harness.charges(folder, "visits/2024-00.csv")) == 2
    # A link beside the folder leads there from now on.
    assert harness.run(folder, "more", label="more", **KEYS) == 0
    assert len(harness.charges(folder, "visits/2024-00.csv")) == 3


@pytest.mark.parametrize("whole", [False, True])
def test_a_part_of_another_account_than_others_is_taken_out_of_the_folder(folder, capsys, whole):
    """No account can be stated that all of them have."""
    if whole:
        (folder / "visits/2024-00.csv").rename(folder / "2024-00.csv")
        assert harness.run(folder, "whole", **{**KEYS, "records": 270}) == 0
        assert harness.run(folder, **{**KEYS, "file": "2024-00.csv", "records": 130}) == 0
        for path in folder.glob("2024-00.csv*"):
            path.rename(folder / "visits" / path.name)
    else:
        assert alone(folder, records=130) == 0
        assert (
            harness.run(folder, "other", **{**KEYS, "file": "visits/2024-02.csv", "records": 171})
            == 0
        )
    capsys.readouterr()
    assert harness.run(folder, "all", **KEYS) == 2
    error = capsys.readouterr().err
    assert "2024-00.csv was released alone" in error
    assert "state account" not in error
    # The remedy, after which one account has the others.
    (folder / "visits/2024-00.csv").unlink()
    keys = {**KEYS, "records": 270, "label": "rest"}
    if not whole:
        assert harness.run(folder, "rest", **keys) == 2
        (keys["account"],) = re.findall('state account = "(.*?)"', capsys.readouterr().err)
    assert harness.run(folder, "rest", **keys) == 0


def test_links_to_parts_of_a_folder_have_its_account(folder, capsys):
    assert harness.run(folder, **KEYS) == 0
    (folder / "links").mkdir()
    for part in sorted((folder / "visits").glob("*.csv")):
        (folder / "links" / part.name).symlink_to(part)
    for file in ("links", ["links/2024-00.csv"]):
        assert harness.run(folder, "linked", **{**KEYS, "file": file}) == 2
        assert "is a part of" in capsys.readouterr().err
    # The remedy, after which the folder has what was paid for.
    keys = {**KEYS, "file": "links", "account": "visits.privacy.json"}
    assert harness.run(folder, "linked", **keys) == 0
    assert len(harness.charges(folder, "visits")) == 2
    assert harness.run(folder, "again", **KEYS) == 0
    assert "not charged" in capsys.readouterr().err


def test_the_folder_that_one_works_in_has_an_account(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder / "visits")
    (folder / "spec.toml").write_text(harness.text(**{**KEYS, "file": "."}))
    (folder / "visits" / "spec.toml").symlink_to(folder / "spec.toml")
    made = mdp.make_release("spec.toml")
    assert made.paths["account"] == folder / "visits.privacy.json"
    assert len(harness.charges(folder, "visits")) == 1
    assert cli.main(["release", "spec.toml"]) == 2
    assert "visits, the folder of the records, of which" in capsys.readouterr().err
    assert cli.main(["release", "spec.toml", "--out", str(folder / "out")]) == 0
    assert "not charged" in capsys.readouterr().err


#: What becomes of parts after their release was paid for.
GONE = {
    "a part": lambda v: (v / "2024-02.csv").unlink(),
    "all parts": lambda v: [part.unlink() for part in v.iterdir()],
    "the folder": lambda v: v.rename(v.with_name("moved")),
    "a folder within": lambda v: (v / "more").mkdir(),
}


@pytest.mark.parametrize("gone", GONE)
def test_what_is_paid_for_is_answered_whatever_became_of_the_parts(folder, capsys, gone):
    assert harness.run(folder, **KEYS) == 0
    GONE[gone](folder / "visits")
    if stays := (folder / "visits").exists():
        # What is in it changed later than the answer.
        os.utime(folder / "visits", (2e9, 2e9))
    assert harness.run(folder, "again", **KEYS) == 0
    error = capsys.readouterr().err
    assert "not charged" in error
    assert ("visits has changed since" in error) == stays
    assert harness.run(folder, "new", label="new", **KEYS) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert len(harness.charges(folder, "visits")) == 1


def test_a_part_that_is_a_link_is_known_where_it_lies(folder, capsys):
    (folder / "elsewhere").mkdir()
    (folder / "visits/2024-00.csv").rename(folder / "elsewhere/a.csv")
    (folder / "visits/2024-00.csv").symlink_to(folder / "elsewhere/a.csv")
    assert harness.run(folder, **KEYS) == 0
    assert harness.run(folder, "alone", **{**KEYS, "file": "elsewhere/a.csv", "records": 130}) == 0
    assert len(harness.charges(folder, "visits")) == 2
    assert not [path for path in (folder / "elsewhere").glob("*.json") if not path.is_symlink()]


@pytest.mark.parametrize("mechanism", ["clipped", "analyze_gauss"])
def test_a_part_that_changes_after_the_charge_moves_nothing(folder, monkeypatch, mechanism):
    """A release in parts reads its records again, as they were before the charge."""
    answers = []
    for change in (False, True):
        charge = storage.charge

        def charged(*terms, change=change, charge=charge):
            charge(*terms)
            if change:
                (folder / "visits/2024-00.csv").write_text("age,income\n")

        monkeypatch.setattr(storage, "charge", charged)
        bits(monkeypatch)
        keys = {**KEYS, "query": "covariance", "mechanism": mechanism, "label": str(change)}
        keys["bounds"] = {"age": [0, 120]}
        assert harness.run(folder, str(change), insist=True, **keys) == 0
        answers.append((folder / str(change) / "covariance.csv").read_text())
        monkeypatch.undo()
    assert answers[0] == answers[1]


def test_the_first_rows_of_a_person_count_in_all_parts_together(folder, monkeypatch):
    for path, names in zip(
        sorted((folder / "visits").iterdir()), ("ab", "", "bc", "c"), strict=True
    ):
        lines = [f"{name},{value}" for value, name in enumerate(names, 1)]
        path.write_text("\n".join(["person,age", *lines, ""]))
    people = {"person": "person", "per_person": 1, "adjacency": "replace", "records": 3}
    spec = harness.spec(folder, **{**KEYS, **people, "bounds": {"age": [0, 9]}})
    assert np.concatenate([*read_records(spec)])[:, 0].tolist() == [1, 2, 2]
