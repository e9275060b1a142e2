"""What the dashboard of claims shows."""

import numpy as np
import pandas as pd
import pytest

from reproduction.report import page
from reproduction.report.claims.findings import GROUPS, count
from reproduction.report.page import cards, views


def claim(name, paper, claim_type, verdict, **fields):
    text = dict.fromkeys(("place", "statistic", "evidence", "shown_by", "claim", "reason"), "")
    text |= dict.fromkeys(("same_as", "alike", "met_by", "beaten_by"), "")
    numbers = ("effect", "effect_low", "effect_high", "margin", "power", "p_corrected")
    numbers += ("readings_holding", "readings_total", "effect_zeros")
    about = {"id": name, "paper": paper, "claim_type": claim_type, "verdict": verdict}
    return text | dict.fromkeys(numbers, np.nan) | about | fields


CLAIMS = pd.DataFrame(
    [
        claim("M1", "MVG", "theorem", "reproduced", reason="By Eq. (25), it does. And more"),
        claim("M2", "MVG", "lemma", "reproduced only under some condition"),
        claim("M3", "MVG", "experiment", "reproduced", p_corrected=1e-9, margin=2.0),
        claim("M4", "MVG", "experiment", "undecided", shown_by="tables/table3 theory/exact"),
        claim("M5", "MVG", "theorem", "reproduced", same_as="M1"),
    ]
)


def test_the_dashboard_counts_as_sentences_do():
    view = views.dashboard(CLAIMS)
    (paper,) = view["papers"]
    assert paper["bars"] == [
        {"group": "theorems", "total": 1, "parts": [("reproduced", 1)]},
        {"group": "other statements", "total": 1, "parts": [("reproduced only under", 1)]},
        {
            "group": "claims on experiments",
            "total": 2,
            "parts": [("reproduced", 1), ("undecided", 1)],
        },
    ]
    assert [count(CLAIMS, group)[:6] for group in GROUPS] == [
        "1 of 1",
        "0 of 1",
        "1 of 2",
    ]
    assert [*view["verdicts"]] == ["reproduced", "reproduced only under", "undecided"]
    first, _, third, last, _ = paper["claims"]
    assert (first["why"], first["more"]) == ("By Eq. (25), it does", "And more")
    assert third["numbers"] == [("Asks", "> 2"), ("p", "< 0.001")]
    assert last["shown_by"] == ["table3", "exact"]
    assert (paper["facts"], len(paper["claims"])) == (4, 5)
    assert [one["same_as"] for one in paper["claims"]] == ["", "", "", "", "M1"]


@pytest.mark.parametrize(("ours", "theirs"), [(-1.5, -3.0), (-3.0, -1.5), (2.0, 3.0), (0.5, 3.0)])
def test_of_two_values_off_one_end_the_farther_one_is_farther_out(ours, theirs):
    dots = [cards.dot(ours), cards.dot(theirs)]
    draw = page._environment().get_template("macros.html.j2").module.dot
    inner = ["inner" in draw(one, "ours", two) for one, two in (dots, dots[::-1])]
    both = dots[0].beyond == dots[1].beyond
    assert inner == [both and abs(ours) < abs(theirs), both and abs(ours) > abs(theirs)]
