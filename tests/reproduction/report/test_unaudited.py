"""A mechanism that no audit has seen, beside others that one has, is shown as declared only."""

import pandas as pd
import pytest

from reproduction.report import audit_status
from reproduction.report.figures import frames

AUDIT = pd.DataFrame(
    {
        "mechanism": ["laplace", "goe", "knorm_frob"],
        "verdict": ["certified: tight", "refuted: the black box proves it", "declared: undecided"],
        "epsilon": [1.0, 1.0, 1.0],
        "epsilon_attained": [1.0, 3.0, float("nan")],
    }
)
NAMES = ["laplace", "goe", "knorm_frob", "staircase", "nonprivate"]
ROWS = pd.DataFrame({"mechanism": NAMES, "epsilon": ["1", "1", "1", "1", ""], "mean": 0.5})


def test_rows_that_the_audit_lacks_are_declared_and_baselines_are_not():
    rows = audit_status.joined(ROWS, AUDIT)
    words = ["certified", "refuted", "declared", "declared", ""]
    assert rows["audit_status"].tolist() == words
    unrun = audit_status.joined(ROWS.assign(mean=float("nan")), AUDIT)
    assert unrun["audit_status"].tolist() == [*words[:3], "", ""]


@pytest.mark.parametrize("audit", [None, AUDIT[:0]])
def test_rows_of_an_experiment_without_an_audit_have_no_status(audit):
    assert set(audit_status.joined(ROWS, audit)["audit_status"]) == {""}


def test_legends_and_cells_mark_what_is_only_declared():
    rows = audit_status.joined(ROWS, AUDIT)
    labels = [frames.mechanism_label(rows.iloc[[number]]) for number in range(len(rows))]
    marks = [label.endswith("(declared only)") for label in labels]
    assert marks == [False, False, True, True, False]
    assert labels[1].endswith("(not private: ε at least 3)")
    cells = [audit_status.mark("1", row) for row in rows.to_dict("records")]
    assert cells[2:4] == ["1 (declared only)"] * 2
    assert (cells[0], cells[4]) == ("1", "1")
