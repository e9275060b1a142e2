"""The verdicts of two runs are joined by claim; those that differ are shown with both numbers."""

from __future__ import annotations

import pytest
import runfiles
from samplerun import put, settle

from reproduction.report import findings, inputs, numbers
from reproduction.report.tables import second_seed

FIRST = {
    "M1": {"test": "numeric", "verdict": "reproduced", "effect": 0.25},
    "M2": {"test": "paired t, Holm", "verdict": "reproduced", "p_corrected": 0.004},
    "M3": {
        "test": "paired t, Holm",
        "verdict": "depends",
        "condition": "epsilon",
        "p_corrected": 0.02,
    },
    "M4": {"test": "identity", "verdict": "not reproduced"},
}
TRIALS = {"data_status": "original"}


def ledger(**changes):
    """Return a ledger of four claims, of which some have other cells, or are left out by None."""
    rows = {
        name: {"id": name, "paper": "MVG", "reasons": "[]"}
        | (TRIALS if "Holm" in row["test"] else {})
        | row
        | (changes.get(name, {}) or {})
        for name, row in FIRST.items()
        if changes.get(name, {}) is not None
    }
    return findings.frame([*rows.values()])


@pytest.mark.parametrize(
    ("changes", "count", "different"),
    [
        ({}, 4, []),
        # A number may move where the verdict does not.
        ({"M2": {"p_corrected": 0.04}}, 4, []),
        ({"M2": {"verdict": "undecided", "p_corrected": 0.06}}, 4, ["M2"]),
        ({"M1": {"verdict": "not reproduced", "effect": 0.5}}, 4, ["M1"]),
        ({"M3": {"condition": "the unit"}}, 4, ["M3"]),
        # What one of them did not run, or ran on other data, is not compared.
        ({"M2": {"verdict": "undecided", "test": ""}}, 3, []),
        ({"M2": {"verdict": "untestable here", "data_status": "simulated"}}, 3, []),
        ({"M2": None}, 3, []),
    ],
)
def test_verdicts_that_differ_are_named_whichever_run_comes_first(changes, count, different):
    first, second = ledger(), ledger(**changes).iloc[::-1]
    for pair in ((first, second), (second, first)):
        both = second_seed.compare_verdicts(*pair)
        assert len(both) == count
        assert both.loc[both["differs"], "id"].tolist() == different
    assert both.query("id == 'M3'")["p_corrected"].tolist() == [0.02]


def made(folder, **changes):
    """Return the table of a run of seed 1 beside a kept one of seed 2."""
    for place, table, seed in (
        (folder, ledger(), 1),
        (folder / "second_seed", ledger(**changes), 2),
    ):
        settle(place, seed=seed)
        put(place / "claims.csv", table.to_csv(index=False))
    runfiles.write(folder, "tables/second_seed")
    return inputs.read_sheet("tables/second_seed", files := inputs.files_of_folder(folder)), files


def test_a_verdict_that_differs_stands_with_both_numbers_and_is_counted(tmp_path):
    changes = {
        "M1": {"verdict": "not reproduced", "effect": 0.5},
        "M2": {"verdict": "undecided", "p_corrected": 0.06},
        "M3": {"verdict": "undecided", "condition": "", "p_corrected": 0.2},
    }
    sheet, files = made(tmp_path, **changes)
    heads = [heading.print for heading in sheet.headings if heading.print]
    assert heads == ["Claim", "Seed 1", "p, seed 1", "Seed 2", "p, seed 2"]
    (group,) = sheet.groups
    assert [[cell.whole for cell in (line[0], *line[2:])] for line in group.lines] == [
        ["M1", "reproduced", "0.25 (no p)", "not reproduced", "0.5 (no p)"],
        ["M2", "reproduced", "0.004", "undecided", "0.06"],
        ["M3", "depends on epsilon", "0.02", "undecided", "0.2"],
    ]
    values = numbers.load_numbers(files)
    assert [values[f"second_seed.{name}"].value for name in ("other", "all")] == [3, 4]
    # The file has all that were compared, and the page's ledger says the other verdict.
    table = inputs.read_input("tables/second_seed", files)
    assert table["id"].tolist() == [*FIRST]
    others = second_seed.verdicts(table)
    assert others == {"M1": "not reproduced", "M2": "undecided", "M3": "undecided"}


def test_of_equal_verdicts_none_is_shown(tmp_path):
    sheet, files = made(tmp_path)
    assert sheet.groups == ()
    assert numbers.load_numbers(files)["second_seed.other"].text == "0"
    assert second_seed.verdicts(inputs.read_input("tables/second_seed", files)) == {}
