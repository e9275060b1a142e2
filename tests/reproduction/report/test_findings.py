from __future__ import annotations

import distinctrun
import numpy as np
import pandas as pd
import pytest
import runfiles
from samplerun import regression, settle
from test_published import PRINTED
from trialrows import trials

from reproduction import catalogue
from reproduction.report import comparisons, inputs, summary
from reproduction.report.claims import findings


@pytest.fixture
def headline(saved, tmp_path):
    """Return a function from trial rows of Table 3 to the headline."""

    def run(*parts):
        made = [saved(*parts)], tmp_path / "summary/regression.csv"
        summary.write(*made)
        comparisons.write(*made, tmp_path / "comparisons/regression.csv")
        settle(tmp_path)
        runfiles.write(tmp_path, "tables/table3")
        return findings.headline(inputs.read("tables/table3", inputs.below(tmp_path)))

    return run


def ledger(**verdicts):
    """Return claims on experiment I, and one on another experiment."""
    rows = [(name, verdict, "regression") for name, verdict in verdicts.items()]
    rows += [("X", "reproduced", "covariance"), ("Y", "reproduced", np.nan)]
    table = pd.DataFrame(rows, columns=["id", "verdict", "experiments"])
    return table.assign(paper="MVG", claim_type="experiment")


def test_verdicts_of_the_ledger_on_the_experiment_are_counted():
    claims = ledger(
        M12="not reproduced",
        M13="not reproduced",
        M14="reproduced",
        M20="reproduced only under zeta=literal",
        M21="undecided",
    )
    some = findings.relevant(claims, ["regression"])
    assert some["id"].tolist() == ["M12", "M13", "M14", "M20", "M21"]
    counted = findings.count(some, findings.EXPERIMENT)
    assert counted == (
        "1 of 5 claims on experiments holds, 1 holds only in a narrower case, 2 fail and 1 is open"
    )
    assert findings.phrase({"reproduced": 2, "undecided": 1}) == "2 hold and 1 is open"
    assert findings.relevant(claims, ["adult"]).empty


@pytest.mark.parametrize("larger", [False, True])
def test_a_row_stands_to_a_baseline_by_the_direction_of_its_metric(saved, tmp_path, larger):
    level = {"random": 0.5, "imgm": 0.4, "laplace": 0.5, "mvg_binary": 0.6}
    parts = []
    for i, (name, mean) in enumerate(level.items()):
        values = mean + 0.01 * np.random.default_rng(i).standard_normal(100)
        parts.append(trials(name, values, epsilon="" if name == "random" else "1"))
    metric = {"metric": "accuracy"} if larger else {}
    file = saved(*(part.assign(**metric) for part in parts))
    summary.write([file], tmp_path / "summary.csv")
    table = summary.read(tmp_path / "summary.csv")
    verdicts = comparisons.verdicts(table, comparisons.table([file], table), "random")
    found = dict(zip(table["mechanism"], verdicts, strict=True))
    words = ("better", "worse")[:: -1 if larger else 1]
    assert found == {"imgm": words[0], "laplace": "even", "mvg_binary": words[1], "random": ""}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (regression(data_status="simulated"), "Run on simulated data: nothing is compared"),
        ([p[p["trial"].isna() | p["trial"].lt(9)] for p in regression()], "Nothing is compared"),
        ([p for p in regression() if p["mechanism"].iloc[0] == "zero"], "Nothing is compared"),
    ],
)
def test_where_nothing_can_be_said_the_headline_says_why(headline, rows, expected):
    assert expected in headline(*rows)


def test_every_number_in_the_box_is_recomputed(root, cells):
    said = findings.headline(inputs.read("tables/table3", inputs.below(root)))
    printed = {name: [*map(float, cell.split()), 0.0] for name, cell in PRINTED["table3"].items()}
    own = {
        key.mechanism: cell
        for key, cell in distinctrun.chosen(cells, experiment="regression").items()
        if key.epsilon in ("", "1") and key.direction in ("", "a")
    }
    base, theirs = own.pop("nonprivate"), printed["nonprivate"][0]
    met = []
    for name in ({*printed} & {*own}) - {*catalogue.BASELINES}:
        ratio = own[name].mean / base.mean
        half = np.hypot(own[name].ci95, ratio * base.ci95) / base.mean
        gap = abs(ratio - printed[name][0] / theirs)
        met.append(gap <= np.hypot(half, printed[name][1] / theirs))
    assert said == f"{sum(met)} of {len(met)} published private values are met."
