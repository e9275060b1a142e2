"""docs/peers.md: its tables are those of the kept rows, and our rows come out again."""

import importlib.util

import numpy as np
import pytest
from packages import ROOT

pytest.importorskip("sklearn", reason="the benchmark uses its files")
spec = importlib.util.spec_from_file_location("peers", ROOT / "benchmarks/practice_peers.py")
peers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(peers)

ERRORS, PROMISES = peers._read(peers.ERRORS), peers._read(peers.PROMISES)
FILES = dict(peers.files())


def test_the_tables_are_those_of_the_kept_rows():
    text = peers.PAGE.read_text(encoding="utf-8")
    assert peers.page(text) == text
    for name in ("errors", "promises"):
        assert f"<!-- {name} -->\n\n|" in text


def test_a_sentence_names_where_a_peer_loses_less():
    ours = {"question": "mean", "file": "wine", "package": peers.OURS, "note": ""}
    rows = [ours | {"median_low": "2", "median_high": "3"}]
    for package, high in ((peers.IBM, "1.9"), (peers.OPEN, "2.1"), (peers.APPROXIMATE, "1")):
        rows.append(ours | {"package": package, "median_low": "0", "median_high": high})
    rows.append(ours | {"file": "simulated", "note": "failed"})
    assert peers.list_better_peers(rows).strip().endswith("in: mean, wine (diffprivlib).")
    assert peers.list_better_peers(rows[:1]).strip().endswith("in: nowhere.")


def test_the_rows_are_those_of_the_script():
    asked = {
        (question, file, package)
        for question, entry in peers.QUESTIONS.items()
        for file in FILES
        for package in entry.answers
    }
    assert {(row["question"], row["file"], row["package"]) for row in ERRORS} == asked
    checked = {(name, package) for name, checks in peers.CHECKS.items() for package in checks}
    assert {(row["promise"], row["package"]) for row in PROMISES} == checked


@pytest.mark.nightly
@pytest.mark.parametrize("question", peers.QUESTIONS)
def test_our_errors_come_out_again(question):
    entry = peers.QUESTIONS[question]
    for row in ERRORS:
        if (row["question"], row["package"]) == (question, peers.OURS):
            X = FILES[row["file"]][:, entry.columns]
            answer = entry.answers[peers.OURS][1]
            errors = [entry.error(answer(X), X) for _ in range(15)]
            low, high = np.quantile(errors, [0.1, 0.9])
            assert low / 1.5 < float(row["median"]) < 1.5 * high, row


@pytest.mark.nightly
@pytest.mark.parametrize(
    "promise", [name for name in peers.CHECKS if peers.OURS in peers.CHECKS[name]]
)
def test_our_promises_come_out_again(promise):
    (row,) = [row for row in PROMISES if (row["promise"], row["package"]) == (promise, peers.OURS)]
    assert peers.CHECKS[promise][peers.OURS]()[0] == row["verdict"]
