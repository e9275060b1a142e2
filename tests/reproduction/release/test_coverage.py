"""docs/coverage.md: its counts are those of the kept rows."""

import importlib.util

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
