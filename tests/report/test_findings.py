from __future__ import annotations

import re

import distinctrun
import numpy as np
import pandas as pd
import pytest
from numbertexts import shows
from samplerun import regression, settle
from test_published import PRINTED

from matrixdp.report import comparisons, findings, inputs, summary, tables


@pytest.fixture
def judge(saved, tmp_path):
    """Return a function from trial rows of Table 3, and claims, to its outcome."""

    def run(*parts, claims=None):
        made = [saved(*parts)], tmp_path / "summary/regression.csv"
        summary.write(*made)
        comparisons.write(*made, tmp_path / "comparisons/regression.csv")
        settle(tmp_path)
        tables.write(["table3"], results=tmp_path)
        return findings.outcome(3, inputs.read("tables/table3", tmp_path), claims)

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
        "MVG: 1 of 6 claims on experiments reproduced. 0 of 8 published values are met."
    )
    assert not tones(outcome, "X,")


def test_what_is_no_comparison_is_noted(judge):
    outcome = judge(*regression())
    assert outcome.headline == "0 of 8 published values are met."
    verdicts = [row["verdict"] for row in outcome.judged]
    assert (len(verdicts), verdicts.count("within")) == (5, 0)
    assert {one.tone for one in outcome.findings} == {"note"}
    (slack,) = [one.text for one in outcome.findings if "spends mu" in one.text]
    assert "mu = 0.5" in slack
    assert "5,000 times smaller" in slack
    (unit,) = [one.text for one in outcome.findings if "without any privacy" in one.text]
    # 0.18 and 0.62 against 1.226e-2 and 3.989e-2, over sqrt(248).
    assert "Non-private 15 times the printed value (0.932 times in the suspected unit)" in unit
    assert "between 0.512 and 0.782 times these" in unit


def test_rows_that_meet_print_need_no_other_unit(judge):
    met = judge(*regression({"nonprivate": 0.01226, "random": 0.03989}))
    assert tones(met, "without any privacy") == []
    assert [row["verdict"] for row in met.judged].count("within") == 2


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


@pytest.mark.parametrize(
    ("factor", "said"), [(1.0849, "1.1"), (23.4, "23"), (1879.2, "1,900"), (3.3e7, "3.3e7")]
)
def test_factors_are_said_with_two_digits(factor, said):
    assert findings.times(factor) == said


def test_every_number_in_the_box_is_recomputed(tmp_path):
    cells = distinctrun.write(tmp_path)
    tables.write(["table3"], results=tmp_path)
    table = inputs.read("tables/table3", tmp_path)
    outcome = findings.outcome(3, table)
    printed = {name: cell.split() for name, cell in PRINTED["table3"].items()}
    unit = 248**-0.5
    own = {
        key.mechanism: cell
        for key, cell in distinctrun.chosen(cells, experiment="regression").items()
        if key.epsilon in ("", "1") and key.direction in ("", "a")
    }
    ran = [name for name in printed if name in own]
    ratio = {name: own[name].mean / (0.01 * float(printed[name][0])) for name in ran}
    half = {name: 0.01 * float([*printed[name], "0"][1]) for name in ran}
    met = [
        abs(own[name].mean - 0.01 * float(printed[name][0])) <= np.hypot(own[name].ci95, half[name])
        for name in ran
    ]
    assert outcome.headline.endswith(f"{sum(met)} of {len(printed)} published values are met.")
    (text,) = [one.text for one in outcome.findings if "suspected unit" in one.text]
    for name, label in (("nonprivate", "Non-private"), ("random", "Random guess")):
        (factor, suspected) = re.search(
            rf"{label} (\S+) times the printed value \((\S+) times in the suspected unit", text
        ).groups()
        assert float(factor.replace(",", "")) == pytest.approx(ratio[name], rel=0.051)
        assert shows(suspected, ratio[name] * unit)
    private = [ratio[name] * unit for name in ran if name not in ("nonprivate", "random")]
    low, high = re.search(r"between (\S+) and (\S+) times these", text).groups()
    assert shows(low, min(private))
    assert shows(high, max(private))
    (text,) = [one.text for one in outcome.findings if "spends mu" in one.text]
    allowed, spent, smaller = re.search(
        r"allows a Gaussian mechanism mu = (\S+)\. .*spends mu = (\S+), .* (\S+) times smaller",
        text,
    ).groups()
    exact = own["directional_gaussian"].mu_actual
    assert shows(allowed, exact)
    assert shows(spent, own["mvg_binary"].mu_actual)
    found = exact / own["mvg_binary"].mu_actual
    assert float(smaller.replace(",", "")) == pytest.approx(found, rel=0.051)
