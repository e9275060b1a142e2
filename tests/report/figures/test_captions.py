"""Every number in a caption of results, recomputed from the trials by another way."""

from __future__ import annotations

import re

import distinctrun
import numpy as np
import pytest
from distinctrun import Key
from numbertexts import shows
from scipy.stats import ttest_rel
from test_published import FACTORS, PRINTED

from matrixdp import catalogue
from matrixdp.experiments import readings
from matrixdp.report import figures
from matrixdp.report.comparisons import BASES

FIGURES = figures.registry(distinctrun.KINDS)
TABLES = {"regression": "table3", "first_pc": "table4", "covariance": "table5"}
CHANCE = {"regression": "zero", "section10_2": "zero"}


@pytest.fixture
def said(root):
    """Return a function from a figure and a pattern to what its caption has in the groups."""

    def find(name, pattern):
        text = FIGURES[name].describe(FIGURES[name].frame(root))
        found = re.search(pattern, text)
        assert found, text
        return found.groups()

    return find


def at(cells, experiment, epsilon="1", direction="a"):
    """Return the cells that a table shows at one epsilon, by mechanism."""
    found = distinctrun.chosen(cells, experiment=experiment, epsilon=epsilon)
    return {k.mechanism: cell for k, cell in found.items() if k.direction in ("", direction)}


def clearly(one, other):
    """Return whether one row's error is clearly below that of another."""
    return one.mean < other.mean and ttest_rel(one.report, other.report).pvalue < 0.05


def chance(cells, experiment):
    return cells[Key(experiment, CHANCE.get(experiment, "random"), "", "", "")]


def tied(best, own):
    """Return how many others the best is not clearly below; one law under two names never is."""
    twins = {"analytic_gaussian", "imgm"}
    return sum(
        {one, best} == twins or not clearly(own[best], cell)
        for one, cell in own.items()
        if one != best
    )


@pytest.mark.parametrize("experiment", TABLES)
def test_curves_crown_the_smallest_error_and_count_by_intervals(experiment, said, cells):
    own = at(cells, experiment)
    if "analytic_gaussian" in own:
        # One law, which counts once.
        own.pop("imgm", None)
    failed, told, level, best, mean, others = said(
        f"curves_{experiment}",
        r"At epsilon 1, (\d+) of (\d+) mechanisms are not clearly better than the (.+?) \(.*"
        r"smallest mean is that of (.+), ([\d.e-]+?)"
        r"(?:, not clearly better than (\d+) others?)?\.$",
    )
    smallest = min(own, key=lambda one: own[one].mean)
    assert best == catalogue.label(smallest)
    assert shows(mean, own[smallest].mean)
    assert int(others or 0) == tied(smallest, own)
    assert level == catalogue.label(CHANCE.get(experiment, "random")).lower()
    worse = [not clearly(cell, chance(cells, experiment)) for cell in own.values()]
    assert (int(failed), int(told)) == (sum(worse), len(own))


def test_intervals_make_a_difference_to_these_counts(cells):
    """Else a caption that counts by means alone would pass."""
    pairs = [
        (cell.mean < level.mean, clearly(cell, level))
        for experiment in TABLES
        for level in [chance(cells, experiment)]
        for cell in at(cells, experiment).values()
    ]
    assert {(True, False), (True, True), (False, False)} == {*pairs}


def test_noise_levels_name_the_loudest_and_the_quietest(root, cells):
    text = FIGURES["noise_levels"].describe(FIGURES["noise_levels"].frame(root))
    found = re.findall(r"(Experiment I+): (.+?) adds ([\d.e]+) times the noise of (.+?)[;.] ", text)
    assert [one for one, *_ in found] == ["Experiment I", "Experiment II", "Experiment III"]
    for experiment, (_, loud, times, quiet) in zip(TABLES, found, strict=True):
        own = {
            catalogue.label(key.mechanism): cell.noise_std
            for key, cell in cells.items()
            if (key.experiment, key.epsilon) == (experiment, "1")
            and key.direction in ("", "a")
            # A free parameter is at its public value.
            and key.variant in ("", f"tau={BASES['tau']}")
            and cell.noise_std > 0
            # On second moments, which is another unit where the query is the data.
            and (experiment == "first_pc" or not key.mechanism.startswith("analyze_gauss"))
        }
        assert own[loud] == max(own.values())
        assert own[quiet] == min(own.values())
        assert shows(times, max(own.values()) / min(own.values()))


@pytest.mark.parametrize(
    ("experiment", "mechanism", "quietest"),
    [("first_pc", "goe", True), ("covariance", "analyze_gauss_analytic", False)],
)
def test_noise_on_second_moments_counts_where_the_query_is_that(
    experiment, mechanism, quietest, root
):
    frame = FIGURES["noise_levels"].frame(root)
    its = frame["experiment"].eq(experiment) & frame["mechanism"].eq(mechanism)
    text = FIGURES["noise_levels"].describe(
        frame.assign(noise_std=frame["noise_std"].mask(its, 1e-6))
    )
    assert (f"times the noise of {catalogue.label(mechanism)}" in text) == quietest


@pytest.mark.parametrize(
    ("name", "experiment", "mechanism"),
    [
        ("figure4_left", "regression", "mvg_binary"),
        ("figure4_middle", "first_pc", "mvg_thm2"),
        ("figure4_right", "covariance", "mvg_binary"),
    ],
)
def test_directions_are_held_against_a_by_intervals(name, experiment, mechanism, said, cells):
    low, high, level, won, of, exactly, of_exact, epsilon, which, times = said(
        name,
        r"between ([\d.]+) and ([\d.]+) times the level of the (.+?), and \(a\) is clearly best .* "
        r"at (\d+) of (\d+) epsilons; calibrated exactly, at (\d+) of (\d+)\. There, directions "
        r"matter most at epsilon (\S+), where \((\w)\) .+ has (\S+) times the error of \(a\)\.$",
    )
    both = {
        (one, direction, e): at(cells, experiment, e, direction)[one]
        for one in (mechanism, "directional_gaussian")
        for direction in "ab"
        for e in distinctrun.EPSILONS
    }
    over = [
        cell.mean / chance(cells, experiment).mean
        for (one, *_), cell in both.items()
        if one == mechanism
    ]
    assert float(low) == pytest.approx(min(over), abs=0.0051)
    assert float(high) == pytest.approx(max(over), abs=0.0051)
    assert level == catalogue.label(CHANCE.get(experiment, "random")).lower()
    for count, total, one in ((won, of, mechanism), (exactly, of_exact, "directional_gaussian")):
        best = [clearly(both[one, "a", e], both[one, "b", e]) for e in distinctrun.EPSILONS]
        assert (int(count), int(total)) == (sum(best), 3)
    ratios = {
        e: both["directional_gaussian", "b", e].mean / both["directional_gaussian", "a", e].mean
        for e in distinctrun.EPSILONS
    }
    most = max(ratios, key=lambda e: abs(np.log(ratios[e])))
    assert (epsilon, which) == (most, "b")
    assert shows(times, ratios[most])


def test_section_10_2_takes_each_ratio_from_its_own_sets(said, cells):
    gaussian, jl, better, of, lost = said(
        "section10_2",
        r"the ratios are ([\d.]+) and ([\d.]+), and at epsilon 1 (\w+) of these (\d+) .* worth a "
        r"factor of ([\d.]+)",
    )
    theirs = said(
        "section10_2", r"features ([\d.]+) \(Gaussian\) and ([\d.]+) \(JL\) times that of MVG"
    )
    for shown, one in zip(theirs, ("gaussian_2006", "jl_2012"), strict=True):
        printed = [
            float(PRINTED[table][name].split()[0])
            for table, name in (("section10_2", one), ("table3", "mvg_binary"))
        ]
        assert shows(shown, printed[0] / printed[1])
    two, full = at(cells, "section10_2"), at(cells, "regression")
    for shown, one in ((gaussian, "gaussian_2006"), (jl, "jl_2012")):
        assert float(shown) == pytest.approx(two[one].mean / full["mvg_binary"].mean, abs=0.0051)
    beat = [
        clearly(two["gaussian_2006"], chance(cells, "section10_2")),
        clearly(two["jl_2012"], chance(cells, "section10_2")),
        clearly(full["mvg_binary"], chance(cells, "regression")),
    ]
    assert (better.replace("none", "0"), of) == (str(sum(beat)), "3")
    free = [cells[Key(one, "nonprivate", "", "", "")].mean for one in ("section10_2", "regression")]
    assert shows(lost, free[0] / free[1])


@pytest.mark.parametrize("experiment", TABLES)
def test_readings_meet_a_printed_value_within_both_intervals(experiment, said, root):
    count, bare = said(
        f"readings_{experiment}", r"^What (\d+) readings .* (\d+) of them give up the guarantee"
    )
    shaped = "mvg_thm3" if experiment == "first_pc" else "mvg_binary"
    names = {shaped: ("default", "zeta_literal", "gamma_of_data"), "laplace": ("default",)}
    kept = {m: [n for n in some if readings.find(n).private] for m, some in names.items()}
    total = sum(map(len, names.values()))
    assert (int(count), int(bare)) == (total, total - sum(map(len, kept.values())))
    table = TABLES[experiment]
    text = FIGURES[f"readings_{experiment}"].describe(FIGURES[f"readings_{experiment}"].frame(root))
    conjecture = {"table3": 248**-0.5, "table5": 0.01}.get(table)
    expected = {"printed": {}, "conjectured": {}}
    for mechanism, some in kept.items():
        value, _, half = PRINTED[table][mechanism].partition(" ")
        for name in some:
            cell = distinctrun._cell(Key(experiment, mechanism, "sweep", name, "1"))
            for unit, factor in (("printed", 1.0), ("conjectured", 1 / (conjecture or 1.0))):
                scale = float(FACTORS[table]) * factor
                gap = abs(cell.mean - float(value) * scale)
                if gap <= np.hypot(cell.ci95, float(half) * scale):
                    expected[unit].setdefault(mechanism, []).append(name)
                    break
    for unit, met in expected.items():
        if unit == "conjectured" and not conjecture:
            assert "conjectured unit" not in text
            continue
        (sentence,) = re.findall(rf"In the {unit} unit, .*?, in (.*?)\.(?= In the|$)", text)
        counts = re.findall(r"\((\d+) of (\d+)\)", sentence)
        assert counts == [(str(len(some)), str(len(kept[m]))) for m, some in met.items()]
        assert (sentence == "no row") == (not met)


def percent(text, cell):
    return shows(text, 100 * cell.mean, 100 * cell.ci95)


def test_private_features_are_compared_pair_by_pair(said, cells):
    own = {k.mechanism: c for k, c in cells.items() if k.experiment == "imdb" and k.epsilon == "1"}
    one, other, true = said(
        "figure1_imdb",
        r"nominal epsilon 1, IMGM adds the same noise as .* it has ([\d.]+ ± [\d.]+) % against "
        r"([\d.]+ ± [\d.]+) %, at a true epsilon of ([\d.]+)",
    )
    assert percent(one, own["imgm"])
    assert percent(other, own["analytic_gaussian"])
    assert shows(true.rstrip("."), own["imgm"].epsilon_actual)


def test_private_gradients_crown_the_highest_accuracy_within_the_budget(said, cells):
    own = {k.mechanism: c for k, c in cells.items() if k.experiment == "adult" and k.epsilon == "1"}
    words = catalogue.schemes("gradients")
    within = {one: cell for one, cell in own.items() if cell.epsilon_actual <= 1}
    assert 1 < len(within) < len(own)
    best, shown, free, others, low, high, beyond = said(
        "imgm_adult",
        r"within the budget is that of (.+?), ([\d.]+ ± [\d.]+) % \(without privacy ([\d.]+) %\)"
        r"(?:, not clearly better than (\d+) others?)?; true epsilons .* go from (\S+) to (\S+)\. "
        r".*True epsilons beyond it: (.+)\.$",
    )
    most = max(within, key=lambda one: within[one].mean)
    assert best == words[most].label
    assert percent(shown, within[most])
    assert shows(free, 100 * cells[Key("adult", "nonprivate", "", "", "")].mean)
    same = [
        one
        for one, cell in within.items()
        if one != most and not ttest_rel(cell.report, within[most].report).pvalue < 0.05
    ]
    assert int(others or 0) == len(same)
    true = [cell.epsilon_actual for cell in within.values()]
    assert shows(low, min(true))
    assert shows(high, max(true))
    listed = dict(re.findall(r"(.+?): ([\d.e]+)(?:; |$)", beyond))
    assert {*listed} == {words[one].label for one in own.keys() - within}
    for one in own.keys() - within:
        assert shows(listed[words[one].label], own[one].epsilon_actual)
