"""Pairs of rows by their shared trials."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from trialrows import reason, trials

from matrixdp.report import comparisons, summary

SPLIT = np.random.default_rng(0).standard_normal(20)


def noisy(mean, seed):
    return mean + SPLIT + 0.1 * np.random.default_rng(seed).standard_normal(20)


@pytest.fixture
def compare(saved, tmp_path):
    """Return a function from trial rows to the table of pairs, as it is read back."""

    def run(*parts):
        file = saved(*parts)
        summary.write([file], tmp_path / "summary.csv")
        comparisons.write([file], tmp_path / "summary.csv", tmp_path / "out.csv")
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
        reason("laplace", "no guarantee: none"),
        trials("goe", noisy(0.0, 8), reading="zeta=literal"),
    )  # fmt: skip
    assert list(table.columns) == comparisons.COLUMNS
    assert table.groupby("epsilon").size().to_dict() == {"": 1, "1": 5, "3": 9}
    row = only(table, epsilon="1", mechanism="goe", against="ppca")
    theirs = stats.ttest_rel(values["goe"], values["ppca"])
    assert row.p == pytest.approx(theirs.pvalue, rel=1e-5)
    assert (row.low, row.high) == pytest.approx(tuple(theirs.confidence_interval()), rel=1e-5)
    assert (row.metric, row.kind, row.n_trials) == ("rmse", "row", 20)
    assert row.difference == pytest.approx(row.mean - row.mean_against, abs=1e-5)


def test_directions_are_held_against_a_and_variants_against_the_base(compare):
    parts = []
    for i, (direction, tau) in enumerate(
        (direction, tau) for direction in "ab" for tau in ("0.55", "0.75", "0.95")
    ):
        at = {"direction": direction, "variant": f"tau={tau}"}
        parts.append(trials("mvg_binary", noisy(1 + 0.1 * i, i), **at))
        # In direction a the smallest tau is chosen, in b the largest.
        tried = float(tau) if direction == "a" else -float(tau)
        parts.append(trials("mvg_binary", SPLIT + tried, **at, phase="select"))
    parts += [trials("jl_exact", noisy(1.0, 9), variant=f"rows={n}") for n in (2, 4)]
    table = compare(*parts)
    row = only(table, kind="direction")
    assert (row.direction, row.variant) == ("b", "tau=0.95")
    assert (row.against_direction, row.against_variant) == ("a", "tau=0.55")
    variants = table[table["kind"].eq("variant")]
    assert sorted(variants[["direction", "variant", "against_variant"]].values.tolist()) == [
        ["", "rows=4", "rows=2"],
        ["a", "tau=0.55", "tau=0.75"],
        ["a", "tau=0.95", "tau=0.75"],
    ]
    assert comparisons.base("rows", ["2", "4", "50"]) == "4"


def test_one_law_under_two_names_is_known_and_never_clear(compare):
    law = {"noise_std": 2.0, "mu_actual": 0.5}
    table = compare(
        trials("imgm", noisy(1.0, 1), **law),
        trials("analytic_gaussian", noisy(2.0, 2), **law),
        trials("mvg_iid", noisy(3.0, 3), **law, direction="a"),
    )
    both = comparisons.oriented(table)
    row = only(both, mechanism="imgm", against="analytic_gaussian")
    assert (row.same_law, row.clear, row.better) == (True, False, False)
    row = only(both, mechanism="imgm", against="mvg_iid")
    assert (row.same_law, row.clear, row.better) == (False, True, True)
    back = only(both, mechanism="mvg_iid", against="imgm")
    assert (back.clear, back.better, back.mean) == (True, False, row.mean_against)
    assert (back.low, back.difference, back.high) == (-row.high, -row.difference, -row.low)


def test_nothing_to_compare_is_an_empty_table(compare):
    assert compare(trials("laplace", [1.0])).empty


def test_a_larger_accuracy_is_better(compare):
    fields = {"experiment": "imdb", "metric": "accuracy"}
    table = compare(
        trials("imgm", noisy(0.9, 1), **fields), trials("ppca", noisy(0.5, 2), **fields)
    )
    assert only(comparisons.oriented(table), mechanism="imgm").better


def test_a_row_stands_to_a_guess_after_correction_over_its_epsilon():
    rows = [
        ("a", "1", 0.01, -1.0),
        ("b", "1", 0.03, -1.0),
        ("c", "1", 0.9, 1.0),
        ("d", "10", 0.03, 1.0),
        ("free", "", 0.04, -1.0),
    ]
    table = pd.DataFrame(rows, columns=["mechanism", "epsilon", "p", "difference"])
    blank = dict.fromkeys(("direction", "variant", "against_direction", "against_variant"), "")
    table = table.assign(against="random", kind="row", metric="rmse", same_law=False, **blank)
    table = table.assign(mean=1.0, mean_against=1.0, low=0.0, high=0.0)
    found = comparisons.against_chance(table, "random").set_index("mechanism")["stands"]
    # 3 x .01 and 2 x .03 at epsilon 1; alone at 10 and without one.
    assert found.to_dict() == {
        "a": "better",
        "b": "at chance",
        "c": "at chance",
        "d": "worse",
        "free": "better",
    }
