from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from samplerun import regression
from trialrows import around, trials

from matrixdp.report import findings, summary
from matrixdp.report.tables import comparison


@pytest.fixture
def judge(saved, tmp_path):
    """Return a function from a table's number and trial rows to its outcome."""

    def run(number, *parts):
        summary.write([saved(*parts)], tmp_path / "summary.csv")
        comparison.write(number, summary_file=tmp_path / "summary.csv", out=tmp_path)
        return findings.outcome(number, findings.read(tmp_path / f"table{number}.csv"))

    return run


def rows(metric, means, half_width):
    """Return trials with these means; exactly calibrated rows have mu 0.5, MVG's 0.01."""
    parts = []
    for name, mean in means.items():
        free = name in ("nonprivate", "random")
        mu = np.nan if free else 0.01 if name.startswith("mvg") else 0.5
        actual = {"epsilon_actual": np.nan if free else 1.0, "mu_actual": mu, "noise_std": 1.0}
        epsilon = {"epsilon": "", "delta": np.nan} if free else {}
        parts.append(trials(name, around(mean, half_width), metric=metric, **actual, **epsilon))
    return parts


def tones(outcome, words):
    return [one.tone for one in outcome.findings if words in one.text]


def test_regression_without_information_is_called_so(judge):
    outcome = judge(3, *regression())
    assert outcome.headline.startswith("Uninformative")
    assert tones(outcome, "Predicting the same average") == ["contradicts"]
    assert tones(outcome, "ranks MVG before its 1 baseline.") == ["contradicts"]
    assert (outcome.judged, outcome.met) == (5, 0)
    (slack,) = [one.text for one in outcome.findings if "spends mu" in one.text]
    assert "mu = 0.5" in slack
    assert "5,000 times smaller" in slack


def test_regression_that_learns_is_not_called_uninformative(judge):
    outcome = judge(3, *regression({"laplace": 0.185, "mvg_binary": 0.181}))
    assert outcome.headline == "2 of 2 private rows are clearly better than a constant prediction."
    assert tones(outcome, "Predicting the same average") == ["agrees"]


def test_a_clear_win_of_mvg_is_an_agreement(judge):
    won = judge(3, *regression({"laplace": 0.25, "mvg_binary": 0.18}))
    assert tones(won, "ranks MVG before its 1 baseline") == ["agrees"]
    tie = judge(3, *regression({"laplace": 0.2, "mvg_binary": 0.2}))
    assert tones(tie, "ranks MVG before its 1 baseline") == ["contradicts"]


PC = {"nonprivate": 0.0, "random": 0.43, "mvg_thm2": 0.3, "mvg_thm3": 0.15}


@pytest.mark.parametrize(
    ("laplace", "headline"),
    [
        (0.001, "Not MVG: 1 of 1 baseline beat MVG, the best by a factor of 150."),
        (0.3, "Confirmed: MVG is clearly better than every baseline."),
        # The non-private row, the random guess and MVG with Theorem 3 are within.
        (0.151, "3 of 8 published values are met."),
    ],
)
def test_the_ranking_of_first_components_follows_the_numbers(judge, laplace, headline):
    parts = rows("delta_rho", PC | {"laplace": laplace}, 0.01)
    parts[0] = trials("nonprivate", [0.0] * 40, metric="delta_rho", epsilon="", delta=np.nan)
    assert judge(4, *parts).headline == headline


def test_theorem_3_against_theorem_2(judge):
    better = judge(4, *rows("delta_rho", PC, 0.01))
    assert tones(better, "with Theorem 3 (0.150) is clearly better") == ["agrees"]
    equal = judge(4, *rows("delta_rho", PC | {"mvg_thm3": 0.3}, 0.01))
    assert tones(equal, "with Theorem 3 (0.300) is not clearly better") == ["contradicts"]


def test_covariance_at_chance_and_below(judge):
    chance = {"nonprivate": 0.0, "random": 7.4, "mvg_binary": 7.4, "laplace": 7.3}
    moments = {"analyze_gauss_analytic": 0.008}
    found = judge(5, *rows("rss", chance | moments, 0.2))
    assert found.headline.startswith("Chance level")
    assert any("0.00800 (920 times below chance)" in one.text for one in found.findings)
    learned = judge(5, *rows("rss", chance | {"laplace": 1.0}, 0.2))
    assert learned.headline == "1 of 2 private rows are clearly better than a random basis."
    assert not any("compares noise with noise" in one.text for one in learned.findings)


def test_simulated_data_are_never_compared(judge):
    outcome = judge(3, *regression(data_status="simulated"))
    assert "simulated" in outcome.headline
    assert list(outcome.findings) == []
    assert outcome.judged == 0


def test_one_trial_gives_no_verdict(judge):
    parts = [part[part["trial"].isna() | part["trial"].eq(0)] for part in regression()]
    outcome = judge(3, *parts)
    assert outcome.headline.startswith("One trial per cell")
    assert list(outcome.findings) == []


def test_a_table_of_which_nothing_was_run(judge):
    only_zero = [part for part in regression() if part["mechanism"].iloc[0] == "zero"]
    assert judge(3, *only_zero).headline == "Not run."


@pytest.mark.parametrize(
    ("factor", "said"), [(1.0849, "1.1"), (23.4, "23"), (1879.2, "1,900"), (3.3e7, "3.3e7")]
)
def test_factors_are_said_with_two_digits(factor, said):
    assert findings.times(factor) == said


def test_a_damaged_table_is_one_sentence(tmp_path):
    file = tmp_path / "table3.csv"
    pd.DataFrame({"a": [1]}).to_csv(file)
    with pytest.raises(findings.InputError, match=r"table3\.csv is not a whole table"):
        findings.read(file)
