"""The verdict on a claim: an order, an amount, each epsilon alone, or why there is none."""

import re

import numpy as np
import pandas as pd
import pytest
from claimentries import entry, noise, ordered, shared, verdict
from scipy import stats
from trialrows import absence, trials

ACCURACY = {"experiment": "imdb", "metric": "accuracy"}
ACCURACY |= {"fields": dict(ACCURACY)}


def test_a_clear_order_is_reproduced_and_the_opposite_is_not(run):
    rows = ordered()
    good = verdict(run, "laplace beats ppca", rows=rows)
    assert good["verdict"] == "reproduced"
    assert good["effect"] == pytest.approx(0.1)
    assert good["effect_low"] < 0.1 < good["effect_high"]
    assert good["effect_high"] - good["effect_low"] < 0.1
    assert "paired" in good["test"]
    bad = verdict(run, "ppca beats laplace", rows=rows)
    assert bad["verdict"] == "not reproduced"
    assert bad["p"] < 0.01
    assert bad["effect"] == pytest.approx(-0.1)


def test_one_reversed_comparison_of_several_refutes_and_one_open_leaves_open(run):
    rows = ordered(goe=0.9, jl_exact=1.0)
    found = verdict(run, "laplace beats ppca", "laplace beats goe", rows=rows)
    assert found["verdict"] == "not reproduced"
    assert "of 2 comparisons 1 holds; in the clearest that fails RMSE is 1" in found["said"]
    none = verdict(run, "laplace beats jl_exact", "laplace beats goe", rows=rows)
    assert "of 2 comparisons none holds" in none["said"]
    open_one = verdict(run, "laplace beats ppca", "laplace beats jl_exact", rows=rows)
    assert open_one["verdict"] == "undecided"
    assert "no difference is clear" in open_one["said"]
    assert not re.search("better|worse", open_one["said"])
    either = verdict(run, "laplace beats ppca", "laplace beats jl_exact", rows=rows, need="any")
    assert either["verdict"] == "reproduced"


#: What a claim of an order or an amount comes to, and the direction that it says.
AMOUNTS = {
    "laplace beats goe": ("reproduced", "better than"),
    "goe beats laplace": ("not reproduced", "worse than"),
    "laplace beats goe by 0.05": ("reproduced", "better by 0.1 than", "better by 0.05 is claimed"),
    "laplace beats goe by 0.1": ("undecided", "better by 0.1 than", "better by 0.1 is claimed"),
    "laplace beats goe by 0.3": ("not reproduced", "better by 0.1 than", "by 0.3 is claimed"),
    "goe beats laplace by 0.1": ("not reproduced", "worse by 0.1 than", "better by 0.1 is claimed"),
    "laplace beats goe 1.05 times": ("reproduced", "better by a factor of 1.1 than"),
    "laplace beats goe 1.1 times": ("undecided", "better by a factor of 1.1 than"),
    "laplace beats goe 1.5 times": ("not reproduced", "better by a factor of 1.1", "of 1.5 is"),
    "goe beats laplace 1.5 times": ("not reproduced", "worse by a factor of 1.1", "of 1.5 is"),
    "goe within 0.2 of laplace": ("reproduced", "worse by 0.1 than", "may be worse by 0.2"),
    "goe within 0.05 of laplace": ("not reproduced", "worse by 0.1 than", "may be worse by 0.05"),
    "goe within 0 of laplace": ("not reproduced", "worse by 0.1 than", "may not be worse"),
    "goe within 0.1 of laplace": ("undecided", "worse by 0.1 than", "may be worse by 0.1"),
    "laplace within 0.01 of goe": ("reproduced", "better by 0.1 than", "may be worse by 0.01"),
}


def test_amounts_and_their_direction(run):
    rows = {"laplace": noise(1.0, 0.05, 1), "goe": noise(1.1, 0.05, 2)}
    about = {"experiment": "first_pc", "metric": "delta_rho"}
    for sentence, (expected, *words) in AMOUNTS.items():
        found = verdict(run, sentence, rows=rows, fields=about, **about)
        assert found["verdict"] == expected, sentence
        for clause in words:
            assert clause in found["said"], sentence


UNITS = {
    "laplace beats ppca by 0.3": (
        "not reproduced",
        "",
        r"it fails too in .* for 4\.72$",
    ),
    "ppca within 0.01 of laplace": (
        "depends",
        "the unit",
        r"it holds in .* for 0\.157$",
    ),
    "ppca within 0.05 of laplace": (
        "depends",
        "the unit",
        r"for the zero predictor too, in",
    ),
    "ppca within 0.00636 of laplace": ("not reproduced", "", r"it is open in the unit"),
    # A factor has no unit.
    "laplace beats ppca 1.5 times": (
        "not reproduced",
        "",
        r"better by a factor of 1\.1 than .* where better by a factor of 1\.5 is",
    ),
}


def test_a_claim_depends_on_the_unit_only_where_both_decide_oppositely(run):
    """Experiment I has another unit in doubt: RMSE / sqrt(248)."""
    rows = {"laplace": noise(1.0, 0.05, 1), "ppca": noise(1.1, 0.05, 2), "zero": noise(1.5, 0.1, 3)}
    for sentence, (expected, condition, words) in UNITS.items():
        found = verdict(run, sentence, rows=rows)
        assert (found["verdict"], found["condition"]) == (expected, condition), sentence
        assert re.search(words, found["said"]), sentence


@pytest.mark.parametrize(
    ("leads", "expected", "shown"),
    [
        # Two epsilons in opposite directions, and nothing else, are a dependence.
        ((0.5, 0.0, -0.5), ("depends", "epsilon"), 0.0),
        ((0.5, 0.5, -0.5), ("depends", "epsilon"), 0.5),
        ((0.5, 0.0, 0.0), ("reproduced", ""), 0.5),
        ((0.0, 0.0, -0.5), ("not reproduced", ""), -0.5),
        # Whatever the mean over them says.
        ((0.0, 0.0, 0.0), ("undecided", ""), 0.0),
        ((0.025, 0.025, 0.025), ("undecided", ""), 0.025),
    ],
)
def test_directions_are_judged_at_each_epsilon(run, leads, expected, shown):
    epsilons = ("0.3", "1", "10")
    base = noise(1.0, 0.1, 1)
    rows = {
        name: pd.concat(
            trials(name, base + sign * lead / 2 + noise(0.0, 0.1, seed + 10 * i), epsilon=epsilon)
            for i, (epsilon, lead) in enumerate(zip(epsilons, leads, strict=True))
        )
        for name, sign, seed in (("laplace", -1, 2), ("ppca", 1, 3))
    }
    found = verdict(run, "laplace beats ppca", rows=rows, epsilons="each")
    assert (found["verdict"], found["condition"]) == expected
    assert found["epsilons"] == "0.3 1 10"
    assert found["effect"] == pytest.approx(shown, abs=1e-6)
    assert "by the mean over 3 epsilons" in found["said"]
    # Each epsilon is a test of its own.
    assert found["p_corrected"] > min(found["p"], 0.99)
    alone = verdict(run, "laplace beats ppca", rows=rows, epsilons="all")
    assert (alone["verdict"] == "reproduced") == (sum(leads) > 0)


def test_another_reading_may_hold_where_the_claim_does_not(run):
    rows = {name: noise(mean, 0.1, i) for i, (name, mean) in enumerate(
        {"laplace": 1.0, "ppca": 1.5, "goe": 0.5}.items()
    )}  # fmt: skip
    other = {"reading": "equal budget", "compare": ["goe beats laplace"]}
    found = verdict(run, "ppca beats laplace", rows=rows, otherwise=other)
    assert (found["verdict"], found["condition"]) == ("narrower", "equal budget")
    assert found["said"].startswith("under equal budget, RMSE is 0.5 for ")
    assert "; as printed RMSE is 1.5 for " in found["said"]
    few = {name: values[:9] for name, values in rows.items()}
    assert verdict(run, "ppca beats laplace", rows=few, otherwise=other)["verdict"] == "undecided"


@pytest.mark.parametrize(("t", "expected"), [(2.1, "undecided"), (2.5, "narrower")])
def test_another_reading_is_one_more_test_of_its_experiment(run, t, expected):
    # Alone, both values of t are clear. With the claim itself, which is undecided, 2.1 is not.
    scores = noise(0.0, 1.0, 1)
    scores = (scores - scores.mean()) / scores.std(ddof=1)
    level = noise(5.0, 1.0, 2)
    rows = {"laplace": level, "ppca": level + scores, "goe": level - scores - t / len(level) ** 0.5}
    other = {"reading": "o", "compare": ["goe beats laplace"]}
    assert verdict(run, "ppca beats laplace", rows=rows, otherwise=other)["verdict"] == expected
    assert verdict(run, "goe beats laplace", rows=rows)["verdict"] == "reproduced"


@pytest.mark.parametrize(
    ("worse", "expected"),
    [((0.0, -0.2), "reproduced"), ((0.01, 0.02), "reproduced"), ((0.0, 0.2), "not reproduced"),
     ((0.0, 0.05), "undecided")],
)  # fmt: skip
def test_no_benefit_is_shown_within_a_share_of_the_gap_at_each_epsilon(run, worse, expected):
    """Five per cent of a gap of 1 between the zero predictor and no privacy."""
    split = shared(spread=0.3)
    rows = {
        name: pd.concat(
            trials(name, split + noise(1.3 + more, 0.05, seed + i), epsilon=str(i + 1))
            for i, more in enumerate(of)
        )
        for seed, (name, of) in enumerate((("imgm", worse), ("laplace", (0.0, 0.0))))
    }
    rows |= {
        "zero": trials("zero", split + 2.0, epsilon=""),
        "nonprivate": trials("nonprivate", split + 1.0, epsilon=""),
    }
    found = verdict(run, "imgm within 5 % of laplace", rows=rows, epsilons="informative")
    assert found["verdict"] == expected
    assert found["margin"] == pytest.approx(-0.05)


def test_a_larger_accuracy_is_better_by_a_factor_too(run):
    rows = {"imgm": noise(0.9, 0.01, 1), "laplace": noise(0.6, 0.01, 2)}
    for sentence, (expected, word) in {
        "imgm beats laplace": ("reproduced", "better"),
        "laplace beats imgm": ("not reproduced", "worse"),
        "imgm beats laplace 1.4 times": ("reproduced", "better"),
        "laplace beats imgm 1.4 times": ("not reproduced", "worse"),
        "imgm beats laplace 1.6 times": ("not reproduced", "better"),
    }.items():
        found = verdict(run, sentence, rows=rows, **ACCURACY)
        assert found["verdict"] == expected
        assert re.search(rf", {word} (than|by a factor of 1\.5 than)", found["said"])
    assert found["effect"] == pytest.approx(1.5)


@pytest.mark.parametrize(("p", "decided"), [(0.03, True), (0.07, False)])
def test_a_verdict_is_reached_below_a_p_of_one_in_twenty(run, p, decided):
    # A difference whose paired t has exactly this p, for the claim and against it.
    difference = noise(0.0, 1.0, 1, n=100)
    difference += stats.t.ppf(1 - p / 2, 99) * difference.std(ddof=1) / 10
    base = shared()
    rows = {"laplace": base, "ppca": base + difference}
    found = verdict(run, "laplace beats ppca", rows=rows)
    assert found["p"] == pytest.approx(p, rel=1e-6)
    assert found["verdict"] == ("reproduced" if decided else "undecided")
    found = verdict(run, "ppca beats laplace", rows=rows)
    assert found["verdict"] == ("not reproduced" if decided else "undecided")


def test_ten_trials_are_judged_by_student_and_fewer_not_at_all(run):
    gaps = np.array([0.051, 0.054, 0.058, 0.052, 0.062])
    base = noise(0.8, 0.01, 1, n=5)
    few = {"imgm": base + gaps, "laplace": base}
    found = verdict(run, "imgm beats laplace", rows=few, **ACCURACY)
    assert (found["verdict"], found["test"]) == ("undecided", "paired t, Holm")
    assert "fewer than 10 trials order nothing" in found["said"]
    ten = {name: np.concatenate([values, values[::-1]]) for name, values in few.items()}
    found = verdict(run, "imgm beats laplace", rows=ten, **ACCURACY)
    assert (found["verdict"], found["test"]) == ("reproduced", "paired t, Holm")


def test_one_law_under_two_names_is_never_ordered(run):
    rows = {"analytic_gaussian": noise(1.0, 0.1, 1), "imgm": noise(1.5, 0.1, 2)}
    sentence = "analytic_gaussian beats imgm"
    assert verdict(run, sentence, rows=rows)["verdict"] == "reproduced"
    distribution = {"noise_std": 2.0, "mu": 0.5}
    # What is declared of the noise makes it no less another one.
    found = verdict(run, sentence, rows=rows, fields=distribution)
    assert (found["verdict"], found["test"]) != ("not reproduced", "identity")
    rows = dict.fromkeys(rows, noise(1.0, 0.1, 1))
    found = verdict(run, sentence, rows=rows, fields=distribution)
    assert (found["verdict"], found["test"]) == ("not reproduced", "identity")
    assert found["said"].startswith("both draw noise of one distribution")
    assert np.isnan(found[["p", "p_corrected", "effect", "power"]].astype(float)).all()
    as_good = verdict(run, "imgm within 0 of analytic_gaussian", rows=rows, fields=distribution)
    assert (as_good["verdict"], as_good["test"]) == ("reproduced", "identity")
    # Noise of one size in another direction is another distribution.
    rows = {"analytic_gaussian": noise(1.0, 0.1, 1), "imgm": noise(1.5, 0.1, 2)}
    found = verdict(run, sentence, rows=rows, fields={**distribution, "direction": "a"})
    assert found["verdict"] == "reproduced"


def test_simulated_data_test_nothing_of_data(run):
    rows = {"laplace": noise(1.0, 0.1, 1), "ppca": noise(1.5, 0.1, 2)}
    found = verdict(run, "laplace beats ppca", rows=rows, fields={"data_status": "simulated"})
    assert found["verdict"] == "untestable here"
    assert found["data_status"] == "simulated"


def test_what_was_not_run_is_undecided_with_the_reason(run):
    rows = {
        "laplace": noise(1, 0.1, 1),
        "gaussian_2006": absence("gaussian_2006", "no guarantee", "too large"),
    }
    for sentence, why in {
        "laplace beats ppca": "ppca was not run in regression",
        "laplace beats gaussian_2006": "no guarantee: too large",
        "laplace/b beats laplace": "laplace was not run with direction b",
        "laplace beats imdb:imgm": "experiment imdb was not run",
    }.items():
        found = verdict(run, sentence, rows=rows)
        assert found["verdict"] == "undecided"
        assert why in found["said"]
        assert np.isnan(found["effect"])
    (run.folder / "trials/regression/default/laplace.csv.gz").unlink()
    missing = run([entry("laplace beats laplace")])[0].loc["M0"]
    assert "trials of laplace in regression are missing" in missing["said"]


def test_what_a_run_of_its_own_makes_names_its_command(run):
    claims = [entry("laplace beats mnist:imgm"), entry("laplace beats adult:imgm", name="M1")]
    table, _ = run(claims, {"laplace": noise(1, 0.1, 1)})
    assert table.loc["M0", ["verdict", "said"]].tolist() == ["undecided", "not run: `make mnist`"]
    assert table.loc["M1", "said"] == "not run: experiment adult was not run"
    # Once it is there it is judged like any other.
    fields = {"experiment": "mnist", "dataset": "liver"}
    run.put({"imgm": trials("imgm", noise(2, 0.1, 2), **fields)}, "mnist")
    assert run(claims)[0].loc["M0", "verdict"] == "reproduced"


def test_one_trial_decides_nothing(run):
    found = verdict(run, "laplace beats ppca", rows={"laplace": [1.0], "ppca": [2.0]})
    assert (found["verdict"], "two trials" in found["said"]) == ("undecided", True)


def test_a_claim_of_an_amount_needs_evidence_for_it(run):
    split = shared(n=4000)
    rows = {
        "laplace": split + noise(0.2000, 0.005, 1, n=4000),
        "goe": split + noise(0.2007, 0.005, 2, n=4000),
        "zero": split + noise(0.1990, 0.001, 3, n=4000),
    }
    about = {"experiment": "first_pc", "metric": "delta_rho"}
    # Better, and surely by less than is claimed; a guess is better too, and does not reach it.
    for sentence in ("laplace beats goe by 0.003", "laplace beats goe 1.01 times"):
        found = verdict(run, sentence, rows=rows, fields=about, **about)
        assert found["verdict"] == "not reproduced"
        assert found["p"] < 1e-6
    found = verdict(run, "laplace beats goe by 0.0001", rows=rows, fields=about, **about)
    assert (found["verdict"], found["met_by"]) == ("reproduced", "zero")
    rows["zero"] = split + noise(0.2050, 0.001, 3, n=4000)
    assert (
        verdict(run, "laplace beats goe by 0.0001", rows=rows, fields=about, **about)["verdict"]
        == "reproduced"
    )
    # With few trials the same is open, for the amount is neither reached nor out of reach.
    few = {name: values[:20] for name, values in rows.items()}
    assert (
        verdict(run, "laplace beats goe by 0.001", rows=few, fields=about, **about)["verdict"]
        == "undecided"
    )
