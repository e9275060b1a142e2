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


@pytest.mark.parametrize("question", peers.QUESTIONS)
def test_our_errors_come_out_again(question):
    entry = peers.QUESTIONS[question]
    for row in ERRORS:
        if (row["question"], row["package"]) == (question, peers.OURS):
            X = FILES[row["file"]][:, entry.columns]
            answer = entry.answers[peers.OURS][1]
            errors = [entry.error(answer(X)[0], X) for _ in range(15)]
            low, high = np.quantile(errors, [0.1, 0.9])
            assert low / 1.5 < float(row["median"]) < 1.5 * high, row


@pytest.mark.parametrize(
    "promise", [name for name in peers.CHECKS if peers.OURS in peers.CHECKS[name]]
)
def test_our_promises_come_out_again(promise, monkeypatch):
    # The script counts more draws of a component; a direction without noise is refuted by few.
    monkeypatch.setattr(peers, "RUNS", 1000)
    (row,) = [row for row in PROMISES if (row["promise"], row["package"]) == (promise, peers.OURS)]
    assert peers.CHECKS[promise][peers.OURS]()[0] == row["verdict"]


def test_the_errors_are_zero_without_privacy_and_one_for_a_constant():
    for X in FILES.values():
        assert peers.mean_error(X.mean(axis=0), X) == 0
        assert peers.covariance_error(np.cov(X.T, bias=True), X) == 0
        top = np.linalg.eigh(np.cov(X.T))[1][:, -1]
        assert peers.component_error(top, X) == pytest.approx(0, abs=1e-12)
        assert peers.line_error(np.full(len(X), X[:, -1].mean()), X) == pytest.approx(1)


def test_the_black_box_refutes_a_direction_without_noise(monkeypatch):
    monkeypatch.setattr(peers, "RUNS", 1000)
    top = np.eye(peers.DIRECTIONS)[0]
    assert peers.component_loss(lambda: top)[0] == "refuted"


def test_the_interval_of_a_median_covers_it():
    stream = np.random.default_rng(0)
    intervals = [peers.median_interval(stream.exponential(size=60)) for _ in range(2000)]
    covered = np.mean([low <= np.log(2) <= high for low, high in intervals])
    assert 0.945 < covered < 0.985
