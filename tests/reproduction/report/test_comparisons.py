"""Pairs of rows by their shared trials."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from trialrows import SPLIT, absence, trials

from reproduction.report import comparisons, summary


def noisy(mean, seed):
    return mean + SPLIT + 0.1 * np.random.default_rng(seed).standard_normal(20)


@pytest.fixture
def compare(saved, tmp_path):
    """Return a function from trial rows to the table of pairs, as it is read back."""

    def run(*parts, **arguments):
        file = saved(*parts)
        summary.write_summary([file], tmp_path / "summary.csv", arguments.get("same_as"))
        comparisons.write_comparisons(
            [file], tmp_path / "summary.csv", tmp_path / "out.csv", **arguments
        )
        return pd.read_csv(tmp_path / "out.csv", dtype={"epsilon": str}, keep_default_na=False)

    return run


def only(table, **where):
    for column, value in where.items():
        table = table[table[column].eq(value)]
    (row,) = table.itertuples()
    return row


def test_pairs_are_those_of_shared_trials_at_each_epsilon(compare):
    free = {"epsilon": "", "delta": np.nan}
    values = {name: noisy(mean, i) for i, (name, mean) in enumerate((("goe", 1.0), ("ppca", 1.1)))}
    table = compare(
        *(trials(name, value + more, epsilon=epsilon)
          for epsilon, more in (("1", 0.0), ("3", -0.5)) for name, value in values.items()),
        trials("zero", noisy(1.5, 5), **free),
        trials("random", noisy(2.5, 6), **free),
        trials("laplace", noisy(1.0, 7), epsilon="3"),
        absence("laplace", "no guarantee", "none"),
        trials("goe", noisy(0.0, 8), reading="zeta=literal"),
    )  # fmt: skip
    assert list(table.columns) == comparisons.COLUMNS
    assert table.groupby("epsilon").size().to_dict() == {"": 1, "1": 5, "3": 9}
    row = only(table, epsilon="1", mechanism="goe", against="ppca")
    theirs = stats.ttest_rel(values["goe"], values["ppca"])
    assert row.p == pytest.approx(theirs.pvalue, rel=1e-5)
    assert (row.low, row.high) == pytest.approx(tuple(theirs.confidence_interval()), rel=1e-5)
    assert (row.metric, row.comparison, row.n_trials) == ("rmse", "row", 20)
    assert row.difference == pytest.approx(row.mean - row.mean_against, abs=1e-5)


def test_directions_are_held_against_a(compare):
    parts = []
    for i, (direction, tau) in enumerate(
        (direction, tau) for direction in "ab" for tau in ("0.55", "0.75", "0.95")
    ):
        at = {"direction": direction, "configuration": f"tau={tau}"}
        parts.append(trials("mvg_binary", noisy(1 + 0.1 * i, i), **at))
        # In direction a the smallest tau is chosen, in b the largest.
        tried = float(tau) if direction == "a" else -float(tau)
        parts.append(trials("mvg_binary", SPLIT + tried, **at, phase="select"))
    table = compare(*parts)
    row = only(table, comparison="direction")
    assert (row.direction, row.configuration) == ("b", "tau=0.95")
    assert (row.against_direction, row.against_configuration) == ("a", "tau=0.55")


@pytest.mark.parametrize("tau", ["0.55", "0.75"])
def test_a_public_value_is_held_against_baselines_whatever_it_is(compare, tau):
    parts = [trials("zero", noisy(1.0, 9), epsilon="", delta=np.nan)]
    for i, value in enumerate(("0.55", "0.75", "0.95")):
        at = {"direction": "a", "configuration": f"tau={value}"}
        parts.append(trials("mvg_binary", noisy(2 + i, i), **at))
        parts.append(trials("mvg_binary", SPLIT - float(value), **at, phase="select"))
    table = compare(*parts, fixed={"mvg_binary": f"tau={tau}"})
    row = only(table, comparison="fixed")
    assert (row.configuration, row.against, row.verdict) == (f"tau={tau}", "zero", "worse")


def test_one_law_under_two_names_is_known_and_never_ordered(compare):
    distribution = {"noise_std": 2.0, "mu": 0.5}
    table = compare(
        trials("imgm", noisy(1.0, 1), **distribution),
        trials("analytic_gaussian", noisy(1.0, 1), **distribution),
        trials("mvg_iid", noisy(3.0, 3), **distribution, direction="a"),
    )
    both = comparisons.both_orders(table)
    row = only(both, mechanism="imgm", against="analytic_gaussian")
    assert (row.same_distribution, row.verdict) == (True, "even")
    row = only(both, mechanism="imgm", against="mvg_iid")
    assert (row.same_distribution, row.verdict) == (False, "better")
    back = only(both, mechanism="mvg_iid", against="imgm")
    assert (back.verdict, back.mean) == ("worse", row.mean_against)
    assert (back.low, back.difference, back.high) == (-row.high, -row.difference, -row.low)


def test_nothing_to_compare_is_an_empty_table(compare):
    assert compare(trials("laplace", [1.0])).empty


def test_a_larger_accuracy_is_better(compare):
    fields = {"experiment": "imdb", "metric": "accuracy"}
    table = compare(
        trials("imgm", noisy(0.9, 1), **fields), trials("ppca", noisy(0.5, 2), **fields)
    )
    assert only(comparisons.both_orders(table), mechanism="imgm").verdict == "better"


def test_verdicts_are_corrected_over_their_family():
    rows = [
        ("laplace", "1", "random", 0.01, -1.0),
        ("ppca", "1", "random", 0.03, -1.0),
        ("imgm", "1", "random", 0.9, 1.0),
        ("laplace", "1", "ppca", 0.04, -1.0),
        ("jl_2012", "10", "random", 0.03, 1.0),
        ("zero", "", "random", 0.04, -1.0),
        # Two further mechanisms, the second of which has their pair.
        ("first", "1", "random", 0.02, -1.0),
        ("first", "1", "laplace", 0.03, -1.0),
        ("first", "1", "second", 0.04, -1.0),
        ("second", "1", "random", 0.02, -1.0),
        ("ppca", "1", "second", 0.5, -1.0),
    ]
    table = pd.DataFrame(rows, columns=["mechanism", "epsilon", "against", "p", "difference"])
    blank = dict.fromkeys(
        ("direction", "configuration", "against_direction", "against_configuration"), ""
    )
    table = table.assign(
        comparison="row", metric="rmse", same_distribution=False, n_trials=10, **blank
    )
    table = table.assign(mean=table["difference"], mean_against=0.0, low=0.0, high=0.0)
    order = ["random", "first", "laplace", "second", "ppca", "imgm", "jl_2012", "zero"]
    judged = comparisons.add_verdicts(table, order)
    # 3 x .01 and 2 x .03 against the baseline at epsilon 1; alone in their families elsewhere. Then
    # two tests of the first further mechanism, and three of the second.
    papers = [0.03, 0.06, 0.9, 0.04, 0.03, 0.04]
    assert judged["p_corrected"].tolist() == pytest.approx([*papers, 0.04, 0.04, 0.08, 0.06, 0.5])
    assert judged["verdict"].tolist() == [
        *("better", "even", "even", "better", "worse", "better"),
        *("better", "better", "even", "even", "even"),
    ]
    rows = judged[judged["against"].eq("random")]
    assert comparisons.verdicts(rows, judged, "random").tolist() == rows["verdict"].tolist()
    assert comparisons.add_verdicts(table.assign(n_trials=9), order)["verdict"].eq("").all()
    # The other way round the first one has their pair.
    turned = comparisons.add_verdicts(table, order[::-1])["p_corrected"].tolist()
    assert turned == pytest.approx([*papers, 0.06, 0.06, 0.06, 0.04, 0.5])


@pytest.mark.parametrize("seed", range(5))
def test_one_distribution_under_many_names_orders_nothing(compare, seed):
    """The same draws, at random epsilons and sizes of noise."""
    stream = np.random.default_rng(seed)
    names = [f"name_{i}" for i in range(stream.integers(3, 9))]
    parts = []
    for epsilon in map(str, range(1, stream.integers(2, 5))):
        distribution = {"noise_std": stream.exponential(), "mu": stream.exponential()}
        drawn = 10 ** stream.uniform(-6, 6) * noisy(1.0, stream.integers(2**32))
        # What is one in exact arithmetic may differ in its last digits.
        parts += [
            trials(name, drawn * (1 + i * 1e-15), epsilon=epsilon, **distribution)
            for i, name in enumerate(names)
        ]
    table = compare(*parts)
    assert table["same_distribution"].all()
    assert table["verdict"].eq("even").all()


def test_what_is_declared_of_noise_makes_no_distribution(compare):
    declared = {"noise_std": 2.0, "mu": 0.5}
    honest = trials("analytic_gaussian", noisy(1.0, 1), **declared)
    other = [
        # Declares the noise of the first, and draws other noise, of whatever result.
        trials("copycat", noisy(1.0, 2), **declared),
        # The same but for one trial.
        trials("one_trial", [*noisy(1.0, 1)[:-1], 5.0], **declared),
        # Equal trials too few to tell.
        trials("short", noisy(1.0, 1)[:1], **declared),
        # Equal trials, of noise that is declared to be another one.
        trials("smaller", noisy(1.0, 1), **declared | {"noise_std": 1.9}),
    ]
    table = compare(honest, *other)
    assert not table["same_distribution"].any()
    two = [trials(name, noisy(1.0, 1), **declared) for name in ("imgm", "analytic_gaussian")]
    far = [
        trials(name, noisy(1.0, i), epsilon="3", **declared)
        for i, name in enumerate(("imgm", "analytic_gaussian"))
    ]
    assert compare(*two)["same_distribution"].all()
    # All epsilons count.
    assert not compare(*two, *far)["same_distribution"].any()


def test_rows_under_a_second_name_are_one_distribution_and_no_test(compare):
    fields = {"experiment": "adult", "metric": "accuracy", "noise_std": 2.0}
    values = noisy(0.7, 1)
    same_as = {"matrix_mechanism": "gaussian_2014"}
    other = trials("imgm", noisy(0.6, 2), **fields)
    first = trials("gaussian_2014", values, **fields)
    table = compare(first, other, same_as=same_as)
    same = table["same_distribution"]
    # The pair is no test: the two others are corrected for two, and not for three.
    (pair,) = table[same].itertuples()
    assert {pair.mechanism, pair.against} == {*same_as, *same_as.values()}
    assert (pair.verdict, pair.p_corrected) == ("even", "")
    others = table[~same].astype({"p": float, "p_corrected": float})
    assert others["p_corrected"].to_numpy() == pytest.approx(2 * others["p"].to_numpy(), rel=1e-5)
    # Without a mu equal trials and sizes alone are not enough.
    assert not compare(first, trials("pld_gaussian", values, **fields))["same_distribution"].any()


def test_only_sound_rows_are_joined():
    rows = pd.DataFrame(
        {"mechanism": ["analytic_gaussian", "imgm", "copy"], "audit_status": "not refuted"}
    )
    pairs = [("analytic_gaussian", "imgm"), ("analytic_gaussian", "copy"), ("copy", "imgm")]
    compared = pd.DataFrame(pairs, columns=["mechanism", "against"]).assign(same_distribution=True)
    marked = comparisons.mark_equal_distributions(rows, compared)
    assert marked["repeats"].tolist() == [False, True, True]
    for doubt in ("refuted", "declared", ""):
        rows["audit_status"] = ["certified", "not refuted", doubt]
        marked = comparisons.mark_equal_distributions(rows, compared).sort_values("also")
        first, copy = marked[~marked["repeats"]].itertuples()
        assert (first.mechanism, first.also) == ("copy", "")
        assert (copy.mechanism, copy.also) == ("analytic_gaussian", "imgm")


@pytest.fixture
def heavy(compare):
    """Return a function from what one trial adds to the comparison of 100 heavy-tailed ones."""

    def run(more, less=0.2):
        rng = np.random.default_rng(3)
        split = rng.standard_normal(100)
        better = split - less * (1 + 0.5 * rng.standard_normal(100))
        better[5] += more
        table = compare(trials("adassp", better), trials("goe", split))
        row = only(comparisons.both_orders(table), mechanism="adassp", against="goe")
        assert row.statistic == "median"
        return row

    return run


def test_heavy_tails_are_compared_by_the_median(compare, heavy):
    row = heavy(-100.0)
    assert row.verdict == "better"
    # By the mean there would be no verdict.
    assert row.mean - row.mean_against < -1 < row.low < -0.2 < row.high < 0
    values = np.arange(100.0)
    assert only(compare(trials("adassp", values), trials("goe", values[::-1]))).statistic == "mean"


def test_a_median_gives_no_verdict_against_the_means_or_where_it_is_0(heavy):
    row = heavy(100.0)
    assert (row.verdict, row.p_corrected < 1e-10) == ("even", True)
    assert row.high < 0 < row.mean - row.mean_against
    # One trial alone differs.
    row = heavy(-100.0, less=0.0)
    assert (row.verdict, row.difference) == ("even", 0)


@pytest.mark.parametrize(
    ("difference", "mean", "verdict"),
    [
        (-0.1, 0.9, "better"),
        (0.1, 1.1, "worse"),
        (-0.1, 1.1, "even"),
        (0.1, 0.9, "even"),
        (0.0, 0.9, "even"),
        (0.0, 1.1, "even"),
        (-0.1, 1.0, "even"),
        (0.0, 1.0, "even"),
    ],
)
def test_a_verdict_has_the_sign_of_difference_and_means(difference, mean, verdict):
    pair = dict.fromkeys([*comparisons.ROW, *comparisons.AGAINST], "") | {
        "mechanism": "laplace", "against": "ppca", "comparison": "row", "metric": "rmse",
        "difference": difference, "mean": mean, "mean_against": 1.0, "p": 1e-6, "n_trials": 100,
        "same_distribution": False,
    }  # fmt: skip
    pairs = pd.DataFrame([pair, pair | {"p": 0.06, "epsilon": "3"}])
    assert comparisons.add_verdicts(pairs, [])["verdict"].tolist() == [verdict, "even"]
