"""What stands beside a verdict and decides nothing: records of zeros, guesses, other readings."""

import pandas as pd
import pytest
from claimentries import entry, noise, ordered, shared, verdict
from scipy import stats
from sweeprows import CROSS, sweeps
from trialrows import trials


@pytest.mark.parametrize(
    ("sentence", "data", "control", "expected", "alike"),
    [
        ("laplace beats ppca", (1.0, 1.5), (3.0, 3.5), "reproduced", "True"),
        ("ppca beats laplace", (1.0, 1.5), (3.0, 3.5), "not reproduced", "True"),
        ("laplace beats ppca", (1.0, 1.5), (3.0, 3.0), "reproduced", "False"),
        ("laplace beats ppca", (1.0, 1.5), (3.5, 3.0), "reproduced", "False"),
        ("ppca beats laplace", (1.0, 1.5), (3.0, 3.0), "not reproduced", "False"),
        ("ppca beats laplace", (1.0, 1.5), (3.5, 3.0), "not reproduced", "False"),
        # The same word, and a small part of the effect.
        ("laplace beats ppca", (1.0, 1.5), (3.0, 3.1), "reproduced", "False"),
        ("ppca beats laplace", (1.0, 1.5), (3.0, 3.1), "not reproduced", "False"),
        # A claim of an amount is missed on zeros, too, but by less than half as much.
        ("laplace beats ppca by 0.2", (2.0, 1.0), (3.0, 3.0), "not reproduced", "False"),
        ("laplace beats ppca by 0.2", (2.0, 1.9), (3.0, 3.0), "not reproduced", "True"),
    ],
)
def test_the_effect_on_records_of_zeros_stands_beside_the_verdict(
    run, sentence, data, control, expected, alike
):
    rows = {}
    for i, name in enumerate(("laplace", "ppca")):
        parts = [trials(name, noise(data[i], 0.1, i))]
        parts.append(trials(name, noise(control[i], 0.1, i + 5), phase="control"))
        rows[name] = pd.concat(parts)
    # A constant that beats both has no say in how the two are ordered.
    rows["zero"] = trials("zero", noise(0.5, 0.01, 9), epsilon="")
    found = verdict(run, sentence, rows=rows)
    assert (found["verdict"], found["alike"]) == (expected, alike)
    sign = 1 if sentence.startswith("laplace") else -1
    assert found["effect_zeros"] == pytest.approx(sign * (control[1] - control[0]), abs=0.03)


@pytest.mark.parametrize(
    ("p", "claims", "met"), [(0.02, 1, True), (0.03, 1, False), (0.02, 2, False)]
)
def test_a_guess_that_meets_a_claim_is_a_test_among_those_of_all_claims(run, p, claims, met):
    # A guess whose paired t against the worse row has exactly this p; that it is better than the
    # claim's subject, which it is not, is a test of its own.
    difference = noise(0.0, 1.0, 1, n=100)
    difference += stats.t.ppf(1 - p / 2, 99) * difference.std(ddof=1) / 10
    base = shared()
    rows = {"laplace": base - 1, "ppca": base + difference, "zero": base}
    entries = [entry("laplace beats ppca", name=f"M{i}") for i in range(claims)]
    table, _ = run(entries, rows)
    assert {*table["verdict"]} == {"reproduced"}
    assert {*table["met_by"]} == {"zero" if met else ""}


@pytest.mark.parametrize(
    ("zero", "met_by", "beaten_by"), [(1.0, "zero", ""), (1.2, "", ""), (0.5, "zero", "zero")]
)
def test_a_guess_that_meets_a_claim_or_is_better_stands_beside_the_verdict(
    run, zero, met_by, beaten_by
):
    found = verdict(run, "laplace beats ppca", rows=ordered(zero=zero))
    assert found["verdict"] == "reproduced"
    assert (found["met_by"], found["beaten_by"]) == (met_by, beaten_by)
    # Of a guess that is better it goes without saying that it meets the claim.
    assert ("passes the test too" in found["said"]) == bool(met_by and not beaten_by)
    assert ("is better still" in found["said"]) == bool(beaten_by)
    # A refuted claim is refuted, whatever a guess does.
    found = verdict(run, "ppca beats laplace", rows=ordered(zero=zero))
    assert (found["verdict"], found["met_by"]) == ("not reproduced", "")


def test_an_open_claim_at_chance_level_says_so(run):
    rows = {name: noise(1.0, 0.1, seed) for seed, name in enumerate(("laplace", "goe", "random"))}
    found = verdict(run, "laplace beats goe", rows=rows)
    assert found["verdict"] == "undecided"
    assert "told from the random guess" in found["said"]


def test_readings_in_which_a_claim_holds_are_counted_and_decide_nothing(run):
    rows = {"mvg_binary": noise(2.0, 0.1, 1), "laplace": noise(1.0, 0.1, 2)}
    sweeps(run.folder, CROSS)
    found = verdict(run, "mvg_binary beats laplace", rows=rows)
    assert (found["verdict"], found["condition"]) == ("not reproduced", "")
    assert (found["readings_holding"], found["readings_total"]) == (1, 3)
    sweeps(run.folder, [CROSS[0], CROSS[1], CROSS[3], *CROSS[4:]])
    found = verdict(run, "mvg_binary beats laplace", rows=rows)
    assert (found["readings_holding"], found["readings_total"]) == (0, 2)
