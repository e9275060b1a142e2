"""Every number of a table of results, recomputed from trials of which no two are alike.

How a number is shown, and in which column, stands in the golden files.
"""

from __future__ import annotations

import itertools

import distinctrun
import numpy as np
import pytest
from distinctrun import Key
from samplerun import FIXED
from scipy.stats import ttest_rel
from test_published import FACTORS, PRINTED

from reproduction import catalogue
from reproduction.report import inputs

RESULTS = {
    "table3": "regression",
    "table4": "first_pc",
    "table5": "covariance",
    "imgm_adult": "adult",
    "imgm_imdb": "imdb",
}
#: What ratios are to, by name; where the paper prints an error of 0 without privacy, to chance.
BASES = {
    "table3": "nonprivate",
    "table4": "random",
    "table5": "random",
    "section10_2": "nonprivate",
}


def read(root, name):
    """Return a table's CSV."""
    frame = inputs.read(f"tables/{name}", inputs.below(root))
    text = [c for c in ("configuration", "direction", "published", "note", "epsilon") if c in frame]
    frame[text] = frame[text].astype(object).fillna("")
    return frame


def cell_of(row, experiment, cells):
    """Return the cell of the run that a row of a CSV is about; None if it did not run."""
    mechanism = row.get("mechanism", row.get("scheme"))
    return cells.get(
        Key(
            experiment,
            mechanism,
            row.get("direction", ""),
            row.get("configuration", ""),
            row["epsilon"],
        )
    )


@pytest.mark.parametrize("name", [*RESULTS, "section10_2"])
def test_rows_are_the_cells_of_the_run(name, root, cells):
    frame = read(root, name)
    if name.startswith("imgm"):
        frame = frame[frame["reading"].eq("default")]
    chosen = distinctrun.chosen(cells)
    ran = 0
    for row in frame.to_dict("records"):
        experiment = RESULTS.get(name) or (
            "section10_2" if row["features"] == "two features" else "regression"
        )
        cell = cell_of(row, experiment, cells)
        if cell is None:
            assert np.isnan(row["mean"])
            assert row["note"]
            continue
        ran += 1
        for column in ("mean", "ci95", "noise_std", "mu", "epsilon_delivered"):
            if column in row:
                value = getattr(cell, column)
                assert row[column] == pytest.approx(value, rel=1e-9, nan_ok=True), column
        assert row["n_trials"] == distinctrun.N
        if name.startswith("imgm"):
            continue
        fixed = row["method"].endswith(", fixed in public")
        key = Key(
            experiment, row["mechanism"], row["direction"], row["configuration"], row["epsilon"]
        )
        assert key.direction in ("", "a")
        assert row["configuration"] == "tau=0.75" if fixed else key in chosen
        paper = "table3" if name == "section10_2" and experiment == "regression" else name
        assert row["epsilon"] in ("", "1")
        assert row["reading"] == "default"
        assert bool(row["published"]) == (row["mechanism"] in PRINTED[paper] and not fixed)
        if not row["published"]:
            continue
        value, _, half = PRINTED[paper][row["mechanism"]].partition(" ")
        margin, unit = float(half or 0), float(FACTORS[paper])
        assert row["published"] == value
        assert row["published_value"] == pytest.approx(float(value) * unit, rel=1e-9)
        assert row["unit_factor"] == unit
        assert float(row["published_ci"]) == float(half or "nan") or not half
        if float(value):
            assert row["ratio"] == pytest.approx(cell.mean / (float(value) * unit))
        assert np.isnan(row["verdict"])
        same = cells[
            Key("regression" if name == "section10_2" else experiment, BASES[name], "", "", "")
        ]
        theirs = PRINTED["table3" if name == "section10_2" else name][BASES[name]]
        assert row["over_base"] == pytest.approx(cell.mean / same.mean)
        assert row["published_over_base"] == pytest.approx(float(value) / float(theirs))
        if cell is same or not row["published_value"]:
            continue
        half = np.hypot(cell.ci95, cell.mean / same.mean * same.ci95) / same.mean
        assert row["over_base_ci"] == pytest.approx(half)
        gap, reach = cell.mean - float(value) * unit, np.hypot(cell.ci95, margin * unit)
        if name != "table4":
            gap = cell.mean / same.mean - float(value) / float(theirs)
            reach = np.hypot(half, margin / float(theirs))
        verdict = "within" if abs(gap) <= reach else "more error" if gap > 0 else "less error"
        assert row["against_paper"] == verdict
    assert ran > 6


def holm(p):
    """Return Holm's corrected p-values."""
    order, out, highest = np.argsort(p), np.empty(len(p)), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - rank) * p[place]))
        out[place] = highest
    return out


#: Mechanisms that no paper compares.
FURTHER = ("directional_gaussian", "jl_exact", "goe", "clipped_moments", "analyze_gauss_analytic")
FURTHER += ("pld_gaussian",)


def compared(cells, experiment, epsilon):
    """Return the corrected p-values at an epsilon, by pair; one distribution is no test."""
    ran = {
        key.mechanism: cell.report
        for key, cell in distinctrun.chosen(cells, experiment=experiment).items()
        if key.direction in ("", "a") and key.epsilon in ("", epsilon)
    }
    names = [name for name in distinctrun.MECHANISMS[experiment] if name in ran]
    tests = {pair: (*pair, ran) for pair in itertools.combinations(names, 2)}
    tests |= {
        (name, level): (name, level, ran)
        for name in names
        for level in distinctrun.levels(experiment)
    }
    for key, cell in cells.items():
        if key[:2] == (experiment, key.mechanism) and key.epsilon == epsilon:
            fixed = FIXED.get(key.mechanism) == key.configuration and key.direction in ("", "a")
            if fixed and cell.report is not ran[key.mechanism]:
                for level in distinctrun.levels(experiment):
                    pair = (f"{key.mechanism} fixed", level)
                    tests[pair] = (*pair, ran | {pair[0]: cell.report})
    families = {}
    for pair, (one, other, values) in tests.items():
        if {*pair} == {"imgm", "analytic_gaussian"}:
            continue
        # Of two further mechanisms the later one has the test in its family.
        last = max(
            (name.removesuffix(" fixed") for name in pair),
            key=lambda name: (
                [*distinctrun.levels(experiment), *names].index(name) if name in FURTHER else -1
            ),
        )
        level = other if other in distinctrun.levels(experiment) else ""
        papers = (level, one.endswith(" fixed"))
        p = ttest_rel(values[one], values[other]).pvalue
        families.setdefault(last if last in FURTHER else papers, {})[frozenset(pair)] = p
    return {
        pair: p
        for family in families.values()
        for pair, p in zip(family, holm(np.array([*family.values()])), strict=True)
    }


def test_advice_names_the_best_and_holds_it_against_all_others(root, cells):
    frame = inputs.read("tables/advice", inputs.below(root))
    moved = 0
    chosen = {
        key: cell
        for key, cell in distinctrun.chosen(cells).items()
        if key.experiment != "section10_2"
        # What is over its budget is no advice.
        and not cell.epsilon_delivered > float(key.epsilon or "nan")
    }
    assert {*frame["experiment"]} == {key.experiment for key in chosen}
    for row in frame.to_dict("records"):
        experiment = row["experiment"]
        larger = catalogue.metric(distinctrun.METRICS[experiment]).larger
        own = {
            key.mechanism: cell
            for key, cell in chosen.items()
            if key.experiment == experiment
            and key.epsilon == row["epsilon"]
            and key.direction in ("", "a")
            # What was chosen on the data is no advice.
            and key.configuration == ""
            and (key.mechanism in distinctrun.PURE or row["guarantee"] == "approximate")
        }
        own.pop("imgm", None) if "analytic_gaussian" in own else None
        ranked = sorted(own, key=lambda one: own[one].mean, reverse=larger)
        pairs = compared(cells, experiment, row["epsilon"])
        guess = {"regression": "zero"}.get(experiment, "random")
        level = cells.get(Key(experiment, guess, "", "", ""))
        means = {one: cell.mean for one, cell in own.items()}
        means |= {guess: level.mean} if level is not None else {}

        def beats(one, other, means=means, pairs=pairs, larger=larger):
            ahead = means[one] > means[other] if larger else means[one] < means[other]
            return ahead and pairs[frozenset((one, other))] < 0.05

        ties = [one for one in own if not any(beats(rival, one) for rival in {*own} - {one})]
        if level is not None:
            ties = [one for one in ties if beats(one, guess)] if beats(ranked[0], guess) else []
        # Of those, the simplest that a person can release leads; nobody releases gradients.
        offered = {*catalogue.section("offered")} if experiment != "adult" else set()
        if leaders := sorted(offered & {*ties}, key=catalogue.rank):
            ranked.sort(key=lambda one, leader=leaders[0]: one != leader)
            moved += ranked[0] != min(own, key=lambda one: -means[one] if larger else means[one])
        first, second, *_ = ranked
        assert (row["best_mechanism"], row["runner_up_mechanism"]) == (first, second)
        twin = {"analytic_gaussian": "Gaussian, analytic = IMGM"}
        names = [twin.get(one, catalogue.label(one)) for one in ranked]
        assert [row["best"], row["runner_up"]] == names[:2]
        assert row["error"] == pytest.approx(own[first].mean, rel=1e-5)
        assert row["ci95"] == pytest.approx(own[first].ci95, rel=1e-5)
        assert row["runner_up_error"] == pytest.approx(own[second].mean, rel=1e-5)
        test = ttest_rel(own[second].report, own[first].report)
        ends = own[second].mean - own[first].mean, *test.confidence_interval(0.95)
        assert [row[name] for name in ("difference", "low", "high")] == pytest.approx(
            ends, rel=1e-5
        )
        assert row["epsilon_delivered"] == pytest.approx(own[first].epsilon_delivered, rel=1e-5)
        assert np.isnan(row["noise_std"]) or row["noise_std"] == pytest.approx(
            own[first].noise_std, rel=1e-5
        )
        as_good = [
            twin.get(one, catalogue.label(one))
            for one in ranked[1:]
            if pairs[frozenset((one, first))] >= 0.05
        ]
        assert row["tied_with"] == "; ".join(as_good) or (not as_good, row["tied"]) == (True, 0)
        assert (row["tied"], row["clear"]) == (len(as_good), not as_good)
        if level is None:
            assert np.isnan(row["baseline_error"])
            continue
        assert row["baseline_error"] == pytest.approx(level.mean, rel=1e-5)
        better = own[first].mean > level.mean if larger else level.mean > own[first].mean
        assert row["beats_baseline"] == (better and pairs[frozenset((first, guess))] < 0.05)
        assert row["beats_baseline"] == (row["outcome"] != "none")
    assert {*frame["clear"]} == {True, False}
    assert moved > 0
