"""docs/coverage.md: its counts are those of the kept rows, and a few releases agree with them."""

import importlib.util
import itertools
from collections.abc import Mapping

import pytest
from packages import ROOT

pytest.importorskip("sklearn", reason="the table uses its files")
spec = importlib.util.spec_from_file_location("coverage_table", ROOT / "benchmarks/coverage.py")
coverage = importlib.util.module_from_spec(spec)
spec.loader.exec_module(coverage)

ROWS = coverage.read_table()


def test_the_counts_are_those_of_the_kept_rows():
    text = coverage.PAGE.read_text(encoding="utf-8")
    assert coverage.page(text, [*ROWS.values()]) == text


def test_the_rows_are_those_of_the_script_and_none_is_refuted():
    assert [*ROWS] == coverage.cells()
    with coverage.TABLE.open(encoding="utf-8") as table:
        assert len(table.readlines()) == 1 + len(ROWS)
    assert {int(row["releases"]) for row in ROWS.values()} == {coverage.RELEASES}
    assert not any(coverage.refuted(row, len(ROWS)) for row in ROWS.values())


def narrow(limits):
    """Return intervals of half the width about the same middles."""
    if isinstance(limits, Mapping):
        return {name: narrow(part) for name, part in limits.items()}
    ends = coverage.array(limits)
    return (ends + ends.mean(axis=-1, keepdims=True)) / 2


@pytest.mark.parametrize(
    "cell",
    [cell for cell in ROWS if (cell.data, cell.epsilon) == ("diabetes", 1.0)],
    ids=lambda cell: f"{cell.query} by {cell.mechanism}",
)
def test_a_few_releases_cover_and_intervals_of_half_the_width_do_not(cell):
    pairs = [*itertools.islice(coverage.releases(cell), 100)]
    having = [pair for pair in pairs if pair[0] is not None]
    assert len(having) * coverage.RELEASES == int(ROWS[cell]["stated"]) * len(pairs)

    def refuted(change):
        misses = sum(not coverage.covers(change(limits), exact) for limits, exact in having)
        return coverage.refuted({"releases": len(pairs), "misses": misses}, len(ROWS))

    assert not refuted(lambda limits: limits)
    assert refuted(narrow) or not having
