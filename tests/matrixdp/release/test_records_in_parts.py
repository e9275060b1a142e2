"""Records in parts: a folder is one file of records, and sums of parts are those of all records."""

import functools
import itertools
import json
import operator
import os
import pickle
import re
import shutil
import stat
import sys
from dataclasses import replace
from pathlib import Path

import harness
import numpy as np
import pandas as pd
import pytest

import matrixdp as mdp
from matrixdp import cli
from matrixdp.privacy import exact_sums
from matrixdp.release import choices, publications, storage
from matrixdp.release.records import read_records

#: Records, and the places where they are cut into parts; one part has none.
ROWS = harness.ROWS[np.random.default_rng(0).permutation(400)]
CUTS = (130, 130, 301)
TOTAL = {"epsilon": 4.0, "delta": 1e-5}
KEYS = {"file": "visits", "total": TOTAL, "mechanism": "gaussian"}
BOUNDS = {"age": (0, 120), "income": (0, 200_000)}
#: What all parts are summed for.
REQUEST = {"bounds": BOUNDS, "records": 400, "missing": "refuse", "account": "visits.privacy.json"}


def frames():
    """Return the parts as data frames."""
    return [pd.DataFrame(rows, columns=[*BOUNDS]) for rows in np.split(ROWS, CUTS)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the parts in ``visits``, and with all records in ``people.csv``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits").mkdir()
    for number, frame in enumerate(frames()):
        frame.to_csv(tmp_path / "visits" / f"2024-0{number}.csv", index=False)
    pd.DataFrame(ROWS, columns=[*BOUNDS]).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def bits(monkeypatch):
    """Let the next release draw the bits that each such release draws."""
    monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)


# --- A folder ---------------------------------------------------------------------------------


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
    "packed": (lambda v: (v / "b.csv.gz").write_bytes(b""), "b.csv.gz, which is no part of .csv"),
    "array": (lambda v: np.save(v / "b.npy", ROWS), "b.npy, which is no part of .csv"),
    "type": (lambda v: (v / "b.parquet").write_bytes(b""), "has parts of .csv and of .parquet"),
    "more": (lambda v: (v / "b.csv").write_text("age,income\n1,2\n"), "has 401 records"),
    "less": (lambda v: (v / "2024-00.csv").unlink(), "has 270 records"),
    "none": (lambda v: [part.unlink() for part in v.iterdir()], "is a folder without a part"),
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


def test_what_other_programs_leave_in_a_folder_is_no_part(folder):
    for name in ("_SUCCESS", ".2024-00.csv.crc", "_metadata.csv", "readme.md"):
        (folder / "visits" / name).write_text("x")
    assert harness.run(folder, **KEYS) == 0


def alone(folder, **keys):
    return harness.run(folder, "alone", **{**KEYS, "file": "visits/2024-00.csv", **keys})


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
    assert harness.run(folder, "again", **KEYS) == 0
    assert "not charged" in capsys.readouterr().err
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


# --- Sums -------------------------------------------------------------------------------------

QUERIES = [
    {"query": "mean"},
    {"query": "mean", "adjacency": "add_or_remove", "records": 390},
    {"query": "mean", "max_norm": 1000.0},
    {"query": "second_moments"},
    {"query": "covariance"},
    {"query": "covariance", "adjacency": "add_or_remove"},
    {"query": "covariance", "max_norm": 1e4},
    {"query": "components", "number": 1},
    {"query": "regression", "target": "income", "alpha": 0.5, "missing_values": ["-1", -9]},
]


def parts(query="mean", blocks=None, **keys):
    """Return the sums of parts, as they come from other processes."""
    keys = {**REQUEST, **keys}
    blocks = frames() if blocks is None else blocks
    return [pickle.loads(pickle.dumps(mdp.sums(query, block, **keys))) for block in blocks]


@pytest.mark.parametrize("keys", QUERIES, ids=str)
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_release_of_merged_sums_is_that_of_all_records(folder, monkeypatch, keys, delta):
    each = parts(**keys)
    merged = [
        sum(each),
        functools.reduce(operator.add, each[::-1]),
        each[2] + each[0] + each[1] + each[3],
    ]
    assert merged[0] == merged[1] == merged[2]
    assert merged[0] != each[0]
    budget = {"epsilon": 2.0, "delta": delta, "mechanism": "gaussian" if delta else "laplace"}
    total = {"total": TOTAL, "even_if_useless": True}
    bits(monkeypatch)
    one = mdp.make_release(merged[1], **budget, **total)
    bits(monkeypatch)
    frame = pd.DataFrame(ROWS, columns=[*BOUNDS])
    other = mdp.make_release(
        frame, **{**REQUEST, "account": "other.json", **keys}, **budget, **total
    )
    assert [*one.answer] == [*other.answer]
    # The same sums and noise; what is read from them goes through LAPACK.
    np.testing.assert_allclose(one.answer, other.answer, rtol=1e-9)
    same = {"mechanism", "epsilon", "delta", "bounds", "missing", "neighbours", "mu", "curve"}
    assert {key: one.receipt[key] for key in same} == {key: other.receipt[key] for key in same}
    (charge,) = json.loads((folder / "visits.privacy.json").read_text())["releases"]
    assert charge["mu"] == json.loads((folder / "other.json").read_text())["releases"][0]["mu"]


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_several_answers_are_read_from_merged_sums(folder, monkeypatch, mechanism):
    # The weight of the mean, which depends on the mechanism, is one of the noise alone.
    names, frame = ["mean", "covariance"], pd.DataFrame(ROWS, columns=[*BOUNDS])
    asked = {"epsilon": 1, "delta": 1e-6, "total": TOTAL, "mechanism": mechanism}
    answers = []
    whole = {**REQUEST, "query": names, "account": "other.json"}
    for source, more in ((sum(parts(names)), {}), (frame, whole)):
        bits(monkeypatch)
        made = mdp.make_release(source, **asked, **more)
        answers.append([made[name].answer.to_numpy().tolist() for name in names])
    assert answers[0] == answers[1]
    assert len(harness.charges(folder, "visits")) == 1


def test_sums_are_offered_no_mechanism_that_reads_records_again(folder):
    bounds = {"age": (0, 1e6)}
    asked = {"epsilon": 1, "delta": 1e-6}
    keys = {**REQUEST, "bounds": bounds, "account": None}
    frame = pd.DataFrame(ROWS, columns=[*BOUNDS])
    whole = mdp.recommend(frame, query="covariance", **keys, **asked)
    (merged,) = parts("covariance", [frame], bounds=bounds)
    options = mdp.recommend(merged, total=TOTAL, **asked)
    assert "clipped" in [option.key for option in whole]
    assert {option.key for option in options} == {option.key for option in whole} - {"clipped"}
    with pytest.raises(mdp.InputError, match="which reads the records several times"):
        mdp.recommend(merged, total=TOTAL, mechanism="clipped", **asked)


@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_neighbours_in_parts_are_as_far_apart_as_the_noise_covers(folder, query, adjacency):
    """One record of one part changes, or goes; the control counts its part twice."""
    extremes = itertools.product([-9.0, 0.0, 60.0, 500.0], [0.0, 1e5, 9e9])
    keys = {"adjacency": adjacency, "records": 3}
    rest = [np.array([[3.0, 9e9], [50.0, 5.0]])]
    request = {**REQUEST, "bounds": dict(enumerate(BOUNDS.values())), **keys}
    others = [np.array([row]) for row in extremes] + [np.empty((0, 2))] * (adjacency != "replace")
    spent = {"epsilon": 2.0, "delta": 1e-6, "total": TOTAL}
    seen = []

    def value(blocks, twice=False):
        each = [mdp.sums(query, block, **request) for block in blocks]
        merged = sum(each)
        if twice:
            with pytest.raises(mdp.InputError, match="a part is on both sides"):
                _ = merged + each[-1]
            steps, count = each[-1].steps, 3
            merged = mdp.Sums(
                *(merged.request, merged.table, merged.account, merged.parts, count),
                merged.steps + steps,
            )
        spec = publications._specification(merged, {key: spent[key] for key in spent})
        option = next(one for one in choices.possible(spec, choices.alone(spec)) if one.release.mu)
        seen.append(option.release)
        return exact_sums.value_of_steps(option.release.query, 3, merged.steps)

    def apart(values):
        # Under add_or_remove the last one lacks the record.
        ends = values if adjacency == "replace" else [values[-1]]
        pairs = itertools.product(values, ends)
        return max(np.linalg.norm(release.noise.whiten((a - b)[None])[0]) for a, b in pairs)

    values = [value([*rest, other]) for other in others]
    release = seen[0]
    assert 0.5 * release.mu < apart(values) <= release.mu * (1 + 1e-9)
    doubled = [value([*rest, other], twice=len(other) > 0) for other in others]
    assert apart(doubled) > 1.5 * release.mu


def shared(how):
    """Return two sums that share a part."""
    one, _, two, three = frames()
    first = parts(blocks=[one, two])
    match how:
        case "retry":
            return sum(first), parts(blocks=[one])[0]
        case "both":
            return sum(first), sum(parts(blocks=[three, two]))
        case "other order, same name":
            return [mdp.sums("mean", block, part="7", **REQUEST) for block in (one, one[::-1])]
        case "file and frame":
            keys = {**REQUEST, "account": None}
            file = mdp.sums("mean", "visits/2024-00.csv", **keys)
            return file, mdp.sums("mean", one, **{**REQUEST, "account": file.account})
        case "edited file":
            keys = {**REQUEST, "account": None}
            file = mdp.sums("mean", "visits/2024-00.csv", **keys)
            one.iloc[:5].to_csv("visits/2024-00.csv", index=False)
            return file, mdp.sums("mean", "visits/2024-00.csv", **keys)
    raise AssertionError


SHARED = ["retry", "both", "other order, same name", "file and frame", "edited file"]


@pytest.mark.parametrize("how", SHARED)
def test_a_part_is_merged_once(folder, how):
    one, other = shared(how)
    for left, right in ((one, other), (other, one), (one, one)):
        with pytest.raises(mdp.InputError, match="a part is on both sides, or a copy of it"):
            _ = left + right


def test_parts_without_records_are_merged(folder):
    empty = frames()[1]
    one, *rest = parts(blocks=[frames()[0], empty, empty])
    assert sum([one, *rest]) == one


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"bounds": {**BOUNDS, "age": (0, 121)}}, "summed for two requests"),
        ({"records": 401}, "summed for two requests"),
        ({"missing": "middle"}, "summed for two requests"),
        ({"adjacency": "add_or_remove"}, "summed for two requests"),
        ({"account": "other.json"}, "the parts name two accounts, visits.privacy.json and other"),
    ],
)
def test_parts_of_two_requests_are_not_merged(folder, keys, says):
    one = parts(blocks=frames()[:1])[0]
    with pytest.raises(mdp.InputError, match=says):
        _ = one + parts(blocks=frames()[2:3], **keys)[0]
    with pytest.raises(TypeError):
        _ = one + 1


def test_the_public_number_is_checked_after_merging_and_before_the_charge(folder):
    each = parts()
    with pytest.raises(mdp.InputError, match="stated for 400 records, and there are 301"):
        mdp.make_release(sum(each[:3]), epsilon=1, total=TOTAL)
    assert not (folder / "visits.privacy.json").exists()


#: Fields of sums that were changed, of which the noise or the charge would be another one.
CHANGED = {
    "table": lambda m: {"table": {**m.table, "bounds": {"age": [0, 1], "income": [0, 1]}}},
    "norm": lambda m: {"table": {**m.table, "max_norm": 0.1}},
    "no table": lambda m: {"table": []},
    "shape": lambda m: {"steps": np.full((3, 1), 1, dtype=object)},
    "number": lambda m: {"steps": m.steps * 1.0},
    "count": lambda m: {"count": "400"},
}


@pytest.mark.parametrize("name", CHANGED)
def test_sums_that_were_changed_are_not_released(folder, name):
    merged = sum(parts())
    with pytest.raises(mdp.InputError, match="the sums are not as mdp.sums made them"):
        mdp.make_release(replace(merged, **CHANGED[name](merged)), epsilon=1, total=TOTAL)
    assert not (folder / "visits.privacy.json").exists()


def test_sums_are_as_secret_as_their_records(folder):
    merged = sum(parts(query="covariance"))
    assert repr(merged) == "Sums(for 'covariance', as secret as the records)"
    (folder / ".a.sums.part").touch(0o644)
    merged.save("a.sums")
    merged.save("a.sums")
    assert stat.S_IMODE(os.stat("a.sums").st_mode) == 0o600
    assert mdp.Sums.load("a.sums") == merged
    with pytest.raises(mdp.InputError, match="a part is on both sides"):
        _ = mdp.Sums.load("a.sums") + merged
    (folder / "a.sums").write_text("7077")
    with pytest.raises(mdp.InputError, match="cannot be read as sums of parts") as refusal:
        mdp.Sums.load("a.sums")
    assert "7077" not in str(refusal.value)


def test_files_of_a_folder_name_its_account(folder):
    keys = {**REQUEST, "account": None}
    each = [mdp.sums("mean", path, **keys) for path in sorted((folder / "visits").iterdir())]
    for no_part in ("visits", "visits/0.npy"):
        with pytest.raises(mdp.InputError, match="is no part of .csv or .parquet"):
            mdp.sums("mean", no_part, **keys)
    frames()[0].to_csv("semicolons.csv", index=False, sep=";", decimal=",")
    named = {**keys, "account": "visits.privacy.json", "separator": ";", "decimal": ","}
    assert mdp.sums("mean", "semicolons.csv", **named).steps.tolist() == each[0].steps.tolist()
    made = mdp.make_release(sum(each), epsilon=1, total=TOTAL)
    assert made.receipt["mechanism"] == "laplace"
    assert len(harness.charges(folder, "visits")) == 1
    with pytest.raises(mdp.InputError, match="is a part of"):
        mdp.make_release(harness.write(folder, **{**KEYS, "file": "visits/2024-00.csv"}))
    pure = {"mechanism": "laplace", "delta": None, "account": "visits.privacy.json"}
    assert alone(folder, records=130, **pure) == 0


def test_a_part_is_tied_to_the_account_that_is_stated_of_it(folder, capsys):
    keys = {**REQUEST, "account": "else.privacy.json"}
    each = [mdp.sums("mean", path, **keys) for path in sorted((folder / "visits").glob("*.csv"))]
    mdp.make_release(sum(each), epsilon=1, delta=1e-6, total=TOTAL)
    assert harness.run(folder, **KEYS) == 2
    error = capsys.readouterr().err
    assert "was released alone" in error
    (account,) = re.findall('state account = "(.*?)"', error)
    assert harness.run(folder, **{**KEYS, "account": account}) == 0
    assert len(harness.charges(folder, "else")) == 2


@pytest.mark.parametrize("kind", ["Table", "RecordBatch", "polars", "lazy"])
def test_tables_of_other_packages_are_read_or_refused_by_name(folder, monkeypatch, kind):
    frame = pd.DataFrame(ROWS, columns=[*BOUNDS])
    if kind in ("polars", "lazy"):
        source = pytest.importorskip("polars").from_dicts(frame.to_dict("records"))
        source = source.lazy() if kind == "lazy" else source
    else:
        pa = pytest.importorskip("pyarrow")
        source = getattr(pa, kind).from_pandas(frame)
    keys = {"query": "mean", "bounds": BOUNDS, "epsilon": 2, "missing": "refuse"}
    if kind == "lazy":
        with pytest.raises(mdp.InputError, match="a LazyFrame, which holds no records yet"):
            mdp.make_release(source, **keys)
        source = source.collect()
    answers = []
    for one in (source, frame):
        bits(monkeypatch)
        answers.append(mdp.make_release(one, **keys).answer)
    np.testing.assert_allclose(*answers, rtol=1e-9)


# --- The page on engines ------------------------------------------------------------------------

SCALE = (Path(__file__).parents[3] / "docs/scale.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", ["dask", "polars", "pyspark"])
def test_what_the_page_says_of_an_engine_gives_the_sums_of_all_records(folder, monkeypatch, engine):
    title = {"pyspark": "Spark"}.get(engine, engine.capitalize() if engine == "dask" else engine)
    names = {"people": pd.DataFrame(ROWS, columns=[*BOUNDS])}
    pytest.importorskip("dask.dataframe" if engine == "dask" else engine)
    if engine == "pyspark":
        from pyspark.sql import SparkSession

        if not shutil.which("java"):
            pytest.skip("Spark needs a Java")
        monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
        names["spark"] = SparkSession.builder.master("local[2]").getOrCreate()
        for path in (folder / "visits").iterdir():
            path.unlink()
        names["people"].to_parquet(folder / "visits/all.parquet")
    blocks = re.findall(r"```python\n(.*?)```", SCALE, re.DOTALL)
    (engine_block,) = re.findall(rf"## {title}\n+```python\n(.*?)```", SCALE, re.DOTALL)
    exec(blocks[0], names)
    exec(engine_block, names)
    whole = mdp.sums("covariance", names["people"], **names["asked"])
    merged = names["merged"]
    assert (merged.count, merged.steps.tolist()) == (400, whole.steps.tolist())
    exec(blocks[1], names)
    assert names["private"].answer.shape == (2, 3)
