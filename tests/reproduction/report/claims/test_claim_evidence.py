"""The trials that a claim is tested on, and the margin, power and correction of its test."""

import numpy as np
import pandas as pd
import pytest
from claimentries import entry, noise, ordered, shared, verdict
from scipy import stats
from trialrows import trials

from reproduction.report import summary
from reproduction.report.statistics import holm


def test_claims_are_judged_at_the_epsilon_of_the_tables_or_say_why_not(run):
    at = {"table_epsilon": "0.3", "epsilon": "0.3"}
    row = run([entry("laplace beats ppca")], ordered(), **at)[0].loc["M0"]
    assert row["verdict"] == "reproduced"
    row = run([entry("laplace beats ppca")], ordered(), table_epsilon="0.3")[0].loc["M0"]
    assert row["verdict"] == "undecided"
    assert row["said"] == "not run: laplace was not run at epsilon 0.3"


def test_rows_that_do_not_share_trials_are_two_samples(run):
    split = shared()
    run.put({"laplace": trials("laplace", split + noise(1.0, 0.1, 1))})
    found = {}
    for dataset in ("liver", "wine"):
        fields = {"experiment": "section10_2", "dataset": dataset}
        other = trials("jl_exact", split + noise(1.1, 0.1, 2), **fields)
        run.put({"jl_exact": other}, "section10_2")
        found[dataset] = run([entry("laplace beats section10_2:jl_exact")])[0].loc["M0"]
    # On another data set the common splits are not taken out.
    assert found["wine"]["verdict"] == "undecided"
    assert "Welch" in found["wine"]["test"]
    assert found["wine"]["evidence"] == "100 trials"
    assert found["wine"]["effect_high"] - found["wine"]["effect_low"] > 0.3
    # Two experiments on one data set have the same splits.
    assert found["liver"]["verdict"] == "reproduced"
    assert found["liver"]["test"] == "paired t, Holm"
    assert found["liver"]["evidence"] == "100 paired trials"


def test_two_trainings_on_one_data_set_draw_trials_of_their_own(run):
    for experiment in ("mnist", "mnist_features"):
        fields = {"experiment": experiment, "dataset": "mnist", "metric": "accuracy"}
        run.put({"imgm": trials("imgm", shared(), **fields)}, experiment)
    test = {"metric": "accuracy", "compare": ["mnist:imgm beats mnist_features:imgm"]}
    found = run([{**entry("laplace beats ppca"), "test": test}])[0].loc["M0"]
    assert (found["test"], found["evidence"]) == ("Welch t, Holm", "100 trials"), found["said"]


def test_only_the_default_reading_is_judged(run):
    worse, better = trials("laplace", noise(1.5, 0.1, 1)), noise(1.0, 0.1, 2)
    other = trials("laplace", noise(0.1, 0.1, 3), reading="classifier=bias")
    rows = {"laplace": pd.concat([worse, other]), "ppca": better}
    found = verdict(run, "ppca beats laplace", rows=rows)
    assert found["verdict"] == "reproduced"
    assert found["effect"] == pytest.approx(0.5, abs=0.05)


def test_the_chosen_variant_is_compared_and_curves_are_averaged(run):
    parts = []
    for epsilon, means in {"1": (1.0, 3.0), "10": (2.0, 4.0)}.items():
        for tau, mean in zip(("tau=0.55", "tau=0.95"), means, strict=True):
            cell = {"configuration": tau, "direction": "a", "epsilon": epsilon}
            parts.append(trials("mvg_binary", noise(mean, 0.1, 1), **cell))
            parts.append(trials("mvg_binary", noise(-mean, 0.1, 2), **cell, phase="select"))
    rows = {
        "mvg_binary": pd.concat(parts),
        "laplace": pd.concat([trials("laplace", noise(5, 0.1, 3), epsilon=e) for e in ("1", "10")]),
    }
    _, at_one = run([entry("mvg_binary beats laplace")], rows)
    _, curve = run([entry("mvg_binary/a beats laplace", epsilons="all")])
    # On the select trials tau = 0.95 is better, though not on those reported.
    assert at_one["mean_better"].tolist() == pytest.approx([3.0])
    assert curve["mean_better"].tolist() == pytest.approx([3.5])


def test_p_values_are_corrected_over_the_claims_on_one_experiment(run):
    split = shared()
    rows = {name: split + noise(1 + 0.03 * i, 0.1, i) for i, name in enumerate(("goe", "laplace"))}
    entries = [entry("goe beats laplace", name=name) for name in ("M1", "M2", "M3")]
    table, _ = run(entries, rows)
    assert table["p_corrected"].tolist() == pytest.approx(holm(table["p"]).tolist())
    assert (table["p_corrected"] >= 2.9 * table["p"].min()).all()


def test_equal_laws_are_no_member_of_a_family_of_tests(run):
    same = {"noise_std": 2.0, "mu": 0.5}
    rows = {"goe": noise(1.0, 0.1, 5), "laplace": noise(1.03, 0.1, 6)}
    for name in ("imgm", "analytic_gaussian"):
        rows[name] = trials(name, noise(1.0, 0.1, 1), **same)
    entries = [entry("imgm beats analytic_gaussian"), entry("goe beats laplace", name="M1")]
    found = run(entries, rows)[0].loc["M1"]
    assert found["p_corrected"] == found["p"] > 0.01


def test_one_row_has_margin_power_and_evidence(run):
    rows = {"laplace": noise(1.0, 0.1, 1, n=400), "ppca": noise(1.5, 0.1, 2, n=400)}
    sentences = {
        "laplace beats ppca": 0.0,
        "laplace beats ppca by 0.2": 0.2,
        "ppca within 0.7 of laplace": -0.7,
        "laplace beats ppca 1.2 times": 1.2,
    }
    entries = [entry(text, name=f"M{i}") for i, text in enumerate(sentences)]
    table, _ = run(entries, rows)
    assert table["margin"].tolist() == [*sentences.values()]
    assert {*table["claim_type"]} == {"experiment"}
    assert {*table["evidence"]} == {"400 paired trials"}
    # Of the differences' own spread, at the level of four claims and two units, as SciPy has it.
    difference = rows["ppca"] - rows["laplace"]
    error = difference.std(ddof=1) / np.sqrt(400)
    reach = stats.t.ppf(1 - 0.05 / 12, 399) + stats.t.ppf(0.8, 399)
    assert table["power"].iloc[:3].tolist() == pytest.approx([reach * error] * 3)
    of_ratio = (rows["ppca"] - 1.2 * rows["laplace"]).std(ddof=1) / np.sqrt(400)
    assert table["power"].iloc[3] == pytest.approx(reach * of_ratio)
    alone = verdict(run, "laplace beats ppca", rows=rows)
    assert alone["power"] < table["power"].iloc[0]


def test_a_claim_is_judged_by_the_trials_that_its_rows_share(run):
    split = shared(n=1000)
    parts = {
        name: trials(name, split + noise(1 + 0.02 * i, 0.1, i, n=1000))
        for i, name in enumerate(("laplace", "ppca"))
    }
    found = verdict(run, "laplace beats ppca", rows=parts)
    assert (found["verdict"], found["evidence"]) == ("reproduced", "1,000 paired trials")
    # They are those behind the means of tables.
    table = summary.read_summary(run.folder / "summary/regression.csv").set_index("mechanism")
    assert found["effect"] == pytest.approx(table["mean"]["ppca"] - table["mean"]["laplace"])
    # Those of one epsilon alone are no part of a mean over several.
    wide = {
        name: pd.concat([part, trials(name, np.ones(50), epsilon="10")])
        for name, part in parts.items()
    }
    found = verdict(run, "laplace beats ppca", rows=wide, epsilons="all")
    assert found["evidence"] == "50 paired trials"
    assert "by the mean over 2 epsilons RMSE is" in found["said"]
    parts["ppca"] = parts["ppca"][parts["ppca"]["trial"].lt(50)]
    found = verdict(run, "laplace beats ppca", rows=parts)
    assert found["evidence"] == "50 paired trials"


def test_a_claim_may_be_about_some_epsilons(run):
    rows = {
        name: pd.concat([trials(name, noise(mean, 0.1, i), epsilon=e) for e, mean in means.items()])
        for i, (name, means) in enumerate(
            {"laplace": {"1": 1.0, "10": 2.0}, "ppca": {"1": 1.5, "10": 1.0}}.items()
        )
    }
    expected = {("1",): "reproduced", ("10", "100"): "not reproduced"}
    for some, said in expected.items():
        found = verdict(run, "laplace beats ppca", rows=rows, epsilons=[*some])
        assert found["verdict"] == said
    found = verdict(run, "laplace beats ppca", rows=rows, epsilons=["3"])
    assert "share no epsilon" in found["said"]


@pytest.mark.parametrize(
    ("metric", "sign", "chance"), [("rmse", 1, "zero"), ("accuracy", -1, "random")]
)
def test_a_claim_may_be_about_the_epsilons_at_which_all_rows_beat_chance(run, metric, sign, chance):
    # At epsilon 1 both are at the baseline, at 3 one of them is: the second leads there alone.
    means = {"laplace": {"1": 2.0, "3": 2.0, "10": 1.0}, "ppca": {"1": 1.9, "3": 1.0, "10": 1.5}}
    fields = {"metric": metric, "experiment": "imdb" if sign < 0 else "regression"}
    rows = {
        name: pd.concat(
            [trials(name, sign * noise(own[e], 0.1, i), epsilon=e, **fields) for e in own]
        )
        for i, (name, own) in enumerate(means.items())
    }
    rows[chance] = trials(chance, sign * noise(1.9, 0.1, 7), epsilon="", **fields)
    run.put(rows, fields["experiment"])
    for asked, effect in (("informative", 0.5), ("all", (0.5 - 1.0 - 0.1) / 3)):
        test = {"experiment": fields["experiment"], "metric": metric, "epsilons": asked}
        found = verdict(run, "laplace within 0 of ppca", rows=rows, fields=fields, **test)
        assert found["effect"] == pytest.approx(effect)
        assert str(found["margin"]) == "0.0"
    for frame in rows.values():
        frame["value"] = frame["value"].iloc[0]
    test |= {"epsilons": "informative"}
    found = verdict(run, "laplace beats ppca", rows=rows, fields=fields, **test)
    assert "better than the baseline at no epsilon" in found["said"]
