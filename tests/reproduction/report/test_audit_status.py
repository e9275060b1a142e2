"""What the audit's statuses make of a mechanism: certified, declared, not private."""

import numpy as np
import pandas as pd
import pytest

from reproduction.report import audit_status
from reproduction.report.figures import frames

UNKNOWN = float("nan")


def test_what_nothing_certifies_is_declared_and_no_more():
    statuses = {
        "tight": ["certified", "not run"],
        "wishart": ["declared"],
        "mixed": ["certified", "declared"],
        "wrong": ["certified", "declared", "refuted"],
        "seen": ["certified", "not refuted"],
        "none": ["not run"],
    }
    rows = [(name, status) for name, found in statuses.items() for status in found]
    table = pd.DataFrame(rows, columns=["mechanism", "status"])
    assert audit_status.summarise_audit(table)["audit_status"].to_dict() == {
        "tight": "certified",
        "wishart": "declared",
        "mixed": "declared",
        "wrong": "refuted",
        "seen": "not refuted",
        "none": "",
    }


@pytest.mark.parametrize(
    ("attained", "proved", "text"),
    [
        (1.0, 3.14, "not private: epsilon at least 3.14"),
        (2.5, 0.3, "not private: epsilon at least 2.5"),
        (np.inf, 0.3, "not private: no epsilon"),
        (UNKNOWN, 3.0, "not private: epsilon at least 3"),
        # Nothing above the claimed epsilon is known.
        (1.0, 0.3, "not private"),
        (UNKNOWN, UNKNOWN, "not private"),
    ],
)
def test_a_refutation_says_what_epsilon_it_shows(attained, proved, text):
    table = pd.DataFrame({"mechanism": "wrong", "status": ["refuted", "certified"]})
    table = table.assign(
        epsilon=1.0, epsilon_attained=[attained, 50.0], epsilon_certified=[proved, 60.0]
    )
    rows = audit_status.add_audit_status(pd.DataFrame({"mechanism": ["wrong", "other"]}), table)
    wrong, other = rows.to_dict("records")
    assert (audit_status.text(wrong), audit_status.text(other)) == (text, "")
    assert audit_status.mark("1", wrong).whole == text
    assert audit_status.refuted(rows).tolist() == [True, False]


AUDIT = pd.DataFrame(
    {
        "mechanism": ["laplace", "goe", "knorm_frob"],
        "status": ["certified", "refuted", "declared"],
        "epsilon": 1.0,
        "epsilon_attained": [1.0, 3.0, UNKNOWN],
    }
)
NAMES = ["laplace", "goe", "knorm_frob", "staircase", "nonprivate"]
ROWS = pd.DataFrame({"mechanism": NAMES, "epsilon": [1.0, 1.0, 1.0, 1.0, UNKNOWN], "mean": 0.5})


def test_rows_that_the_audit_lacks_are_declared_and_baselines_are_not():
    rows = audit_status.add_audit_status(ROWS, AUDIT)
    words = ["certified", "refuted", "declared", "declared", ""]
    assert rows["audit_status"].tolist() == words
    not_run = audit_status.add_audit_status(ROWS.assign(mean=UNKNOWN), AUDIT)
    assert not_run["audit_status"].tolist() == [*words[:3], "", ""]
    for nothing in (None, AUDIT[:0]):
        assert {*audit_status.add_audit_status(ROWS, nothing)["audit_status"]} == {""}
    marks = ["", " (not private: ε at least 3)", " (declared only)", " (declared only)", ""]
    for place, mark in enumerate(marks):
        assert frames.mechanism_label(rows.iloc[[place]]).endswith(mark)
