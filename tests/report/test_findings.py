from __future__ import annotations

import distinctrun
import numpy as np
import pandas as pd
import pytest
from samplerun import regression, settle
from test_published import PRINTED
from trialrows import trials

from matrixdp.report import comparisons, inputs, summary, tables
from matrixdp.report.claims import findings


@pytest.fixture
def judge(saved, tmp_path):
    """Return a function from trial rows of Table 3, and claims, to its outcome."""

    def run(*parts, claims=None):
        made = [saved(*parts)], tmp_path / "summary/regression.csv"
        summary.write(*made)
        comparisons.write(*made, tmp_path / "comparisons/regression.csv")
        settle(tmp_path)
        tables.write(["table3"], results=tmp_path)
        table = inputs.read("tables/table3", tmp_path)
        return findings.outcome(["regression"], table, claims)

    return run


def ledger(**verdicts):
    """Return claims on experiment I, and one on another experiment."""
    rows = [(name, verdict, "regression") for name, verdict in verdicts.items()]
    rows += [("X", "reproduced", "covariance"), ("Y", "reproduced", np.nan)]
    table = pd.DataFrame(rows, columns=["id", "verdict", "experiments"])
    return table.assign(claim="It is so.", reason="a: 1; b: 2", paper="MVG", kind="experiment")


def tones(outcome, words):
    return [one.tone for one in outcome.findings if words in one.text]


def test_the_box_shows_the_verdicts_of_the_ledger_on_the_experiment(judge):
    verdicts = {
        "M12": "uninformative",
        "M13": "not reproduced",
        "M14": "reproduced",
        "M19": "undecided",
        "M20": "reproduced only under zeta=literal",
        "M21": "undecided",
    }
    outcome = judge(*regression(), claims=ledger(**verdicts))
    shown = [one for one in outcome.findings if one.text.partition(",")[0] in verdicts]
    assert [one.tone for one in shown] == [
        *("note", "contradicts", "agrees", "note", "note", "note"),
    ]
    assert shown[0].text == "M12, uninformative: It is so. Here: a: 1; b: 2."
    assert outcome.headline == (
        "MVG: 1 of 6 claims on experiments hold as stated, 1 under a narrower reading and 1 fails. "
        "0 of 8 published values are met."
    )
    assert not tones(outcome, "X,")


def test_all_claims_are_counted_and_none_listed(judge):
    outcome = findings.outcome(["*"], None, ledger(M12="reproduced", M13="undecided"))
    assert outcome.headline == "MVG: 3 of 4 claims on experiments hold as stated."
    assert not outcome.findings
    assert findings.outcome(["adult"], None, ledger(M12="reproduced")).headline == ""


def test_rows_that_meet_print_are_counted(judge):
    assert judge(*regression()).headline == "0 of 8 published values are met."
    met = judge(*regression({"nonprivate": 0.01226, "random": 0.03989}))
    assert met.headline == "2 of 8 published values are met."


@pytest.mark.parametrize("larger", [False, True])
def test_rows_stand_to_a_guess_as_their_trials_say(saved, tmp_path, larger):
    """At chance is what the same trials do not tell apart from it; other epsilons do not count."""
    level = {"random": 0.6, "laplace": 0.6, "imgm": 0.5, "mvg_binary": 0.7}
    parts = []
    for i, (name, mean) in enumerate(level.items()):
        values = mean + 0.01 * np.random.default_rng(i).standard_normal(100)
        parts.append(trials(name, values, epsilon="" if name == "random" else "1"))
    metric = {"metric": "accuracy"} if larger else {}
    file = saved(*(part.assign(**metric) for part in parts))
    summary.write([file], tmp_path / "summary.csv")
    compared = comparisons.table([file], summary.read(tmp_path / "summary.csv"))
    rows = comparisons.against(compared, "random")
    stands = dict(zip(rows["mechanism"], rows["verdict"], strict=True))
    words = ("better", "worse")[:: -1 if larger else 1]
    assert stands == {"imgm": words[0], "laplace": "even", "mvg_binary": words[1]}


@pytest.mark.parametrize(
    ("rows", "headline"),
    [
        (regression(data_status="simulated"), "Run on simulated data: nothing is compared"),
        ([p[p["trial"].isna() | p["trial"].eq(0)] for p in regression()], "One trial per cell"),
        ([p for p in regression() if p["mechanism"].iloc[0] == "zero"], "Not run."),
        ([p for p in regression() if p["mechanism"].iloc[0] == "random"], "No private row was"),
    ],
)
def test_where_nothing_can_be_said_the_headline_says_why(judge, rows, headline):
    outcome = judge(*rows, claims=ledger(M12="reproduced"))
    assert outcome.headline.startswith(headline)
    assert list(outcome.findings) == []


def test_every_number_in_the_box_is_recomputed(tmp_path):
    cells = distinctrun.write(tmp_path)
    tables.write(["table3"], results=tmp_path)
    outcome = findings.outcome(["regression"], inputs.read("tables/table3", tmp_path))
    printed = {name: cell.split() for name, cell in PRINTED["table3"].items()}
    own = {
        key.mechanism: cell
        for key, cell in distinctrun.chosen(cells, experiment="regression").items()
        if key.epsilon in ("", "1") and key.direction in ("", "a")
    }
    ran = [name for name in printed if name in own]
    half = {name: 0.01 * float([*printed[name], "0"][1]) for name in ran}
    met = [
        abs(own[name].mean - 0.01 * float(printed[name][0])) <= np.hypot(own[name].ci95, half[name])
        for name in ran
    ]
    assert outcome.headline == f"{sum(met)} of {len(printed)} published values are met."
