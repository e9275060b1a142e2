"""docs/coverage.md: its counts are those of the kept rows, and its test has power."""

import importlib.util

import numpy as np
import pytest
from packages import ROOT

pytest.importorskip("sklearn", reason="the table uses its files")
spec = importlib.util.spec_from_file_location("coverage_table", ROOT / "benchmarks/coverage.py")
coverage = importlib.util.module_from_spec(spec)
spec.loader.exec_module(coverage)

with coverage.TABLE.open(encoding="utf-8", newline="") as stream:
    ROWS = list(coverage.csv.DictReader(stream))


def test_the_counts_are_those_of_the_kept_rows():
    text = coverage.PAGE.read_text(encoding="utf-8")
    assert coverage.page(text, ROWS) == text


def test_the_rows_are_those_of_the_script_and_none_is_refuted():
    rows = [(row["data"], row["query"], row["mechanism"], float(row["epsilon"])) for row in ROWS]
    assert rows == [tuple(cell) for cell in coverage.cells()]
    assert {int(row["releases"]) for row in ROWS} == {2000}
    assert not any(coverage.refuted(row, len(ROWS)) for row in ROWS)


def test_a_cell_at_the_stated_shortfall_is_refuted():
    number = len(ROWS)
    covered = coverage.shortfall(number)
    stream = np.random.default_rng(0)
    misses = stream.binomial(coverage.RELEASES, 1 - covered, 4000)
    rows = [{"misses": count, "releases": coverage.RELEASES} for count in misses]
    share = np.mean([coverage.refuted(row, number) for row in rows])
    assert 0.98 < share <= 1
    assert covered > 0.9


@pytest.mark.parametrize("query", ["mean", coverage.PRESENT, "second_moments", "covariance"])
def test_a_release_of_each_query_is_counted(query, monkeypatch):
    monkeypatch.setattr(coverage, "RELEASES", 100)
    row = coverage.count(coverage.Cell("diabetes", query, "laplace", 1.0))
    assert row["stated"] == 100
    assert row["misses"] <= 20


def test_an_interval_that_leaves_out_what_a_radius_takes_is_refuted(monkeypatch):
    monkeypatch.setattr(coverage, "RELEASES", 100)
    # What releases by ``clipped`` call noise alone, as if it were an interval of the answer.
    monkeypatch.setattr(coverage, "KEY", "noise_alone_95")
    row = coverage.count(coverage.Cell("skewed", "second_moments", "clipped", 3.0))
    assert row["stated"] > 0
    assert coverage.refuted(row, len(ROWS))
