"""Every cell of a table of results, recomputed from the trials of a run with no two alike."""

from __future__ import annotations

import itertools

import distinctrun
import numpy as np
import pytest
import runfiles
from distinctrun import Key
from numbertexts import shows
from samplerun import FIXED
from scipy.stats import ttest_rel
from test_published import FACTORS, METHODS, PRINTED

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
SUSPECTED = {"table3": 248**0.5, "table5": 100, "section10_2": 248**0.5}
UNITS = {"table3": "RMSE", "table4": "Delta rho", "table5": "RSS", "section10_2": "RMSE"}


def read(root, name):
    """Return a table's CSV, and its rows as a person reads them: a dictionary each, with title."""
    frame = inputs.read_input(f"tables/{name}", inputs.files_of_folder(root))
    text = [c for c in ("configuration", "direction", "published", "outcome", "note") if c in frame]
    frame[text] = frame[text].astype(object).fillna("")
    frame["epsilon"] = [epsilon_text(epsilon) for epsilon in frame["epsilon"]]
    sheet = inputs.read_sheet(f"tables/{name}", inputs.files_of_folder(root))
    headers = [heading.header for heading in sheet.headings]
    rows = [
        {"_group": group.title} | dict(zip(headers, (cell.whole for cell in line), strict=True))
        for group in sheet.groups
        for line in group.lines
    ]
    return frame, rows


def epsilon_text(epsilon):
    """Return an epsilon as keys of cells have it, empty where there is none."""
    return "" if epsilon == "" or np.isnan(float(epsilon)) else f"{float(epsilon):g}"


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
    frame, _ = read(root, name)
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
            assert row["outcome"]
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
        label = row["method"].removesuffix(", fixed in public")
        paper = "table3" if name == "section10_2" and experiment == "regression" else name
        assert label.startswith(printed_name(paper, row["mechanism"]))
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


def printed_name(table, mechanism):
    """Return how a paper calls a row, without the end of the citation; else our own name."""
    if mechanism in PRINTED[table]:
        return METHODS[table][[*PRINTED[table]].index(mechanism)].removesuffix(")")
    return catalogue.label(mechanism)


@pytest.mark.parametrize("name", [*UNITS])
def test_a_reader_sees_the_cells_in_their_rows_and_columns(name, root):
    frame, shown = read(root, name)
    assert len(frame) == len(shown)
    # Each group has its rows in the order of the file.
    groups = {}
    for cell in shown:
        groups.setdefault(cell["_group"].lower(), []).append(cell)
    for row in frame.to_dict("records"):
        beyond = ["beyond the paper", "beyond the paper, further rows"]
        names = [row["features"]] if "features" in row else [""] if row["published"] else beyond
        first = (groups[name][0] for name in names if groups.get(name))
        cell = next(each for each in first if each["Method"].startswith(row["method"]))
        groups[cell["_group"].lower()].pop(0)
        power = f"{float(FACTORS[name]):.0e}".replace("e-0", "e-")
        words = row["configuration"].replace("=", " = ")
        # What runs in place of a row that the paper names may be said between the two.
        assert cell["Method"].endswith(f" ({words})") or not words
        mean, half = row["mean"], row["ci95"]
        assert shows(cell[f"Ours ({UNITS[name]})"], mean, half)
        assert_paper_columns(name, cell, row, power)
        assert shows(cell["Delivered epsilon"], row["epsilon_delivered"], row["mu"])
        for header, column in (
            ("Against the paper", "against_paper"),
            ("Against baseline", "against_baseline"),
        ):
            outcome = row[column] if isinstance(row[column], str) else ""
            assert cell[header] == outcome or np.isnan(mean)
    assert not any(groups.values())


def assert_paper_columns(name, cell, row, power):
    """Check what stands from the paper: a value in our unit, as it prints it, and both ratios."""
    ours, _, printed = cell[f"Paper ({UNITS[name]}; printed, {power})"].partition(" (")
    assert printed.removeprefix("~").rstrip(")").split(" ± ")[0] == row["published"]
    assert shows(ours.removeprefix("~"), row["published_value"] * SUSPECTED.get(name, 1), np.nan)
    base = catalogue.label(BASES[name]).lower()
    assert shows(cell[f"Ours / {base}"], row["over_base"], row["over_base_ci"])
    ratio = row["published_over_base"], row["published_over_base_ci"] or np.nan
    assert shows(cell[f"Paper / {base}"], *ratio)


@pytest.mark.parametrize("name", ["imgm_adult", "imgm_imdb"])
def test_schemes_stand_with_their_noise_and_their_true_epsilons(name, root, cells):
    experiment = RESULTS[name]
    words = catalogue.schemes(catalogue.experiment(experiment).perturbation)
    label_of = {
        one: words[one].label if one in words else catalogue.label(one)
        for one in (*distinctrun.MECHANISMS[experiment], *distinctrun.levels(experiment))
    }
    assert len({*label_of.values()}) == len(label_of)
    _, rows = read(root, name)
    rows = [row for row in rows if not row["_group"].lower().startswith("a classifier")]
    assert {row["Scheme"] for row in rows} == {*label_of.values()}
    for one, label in label_of.items():
        (row,) = (row for row in rows if row["Scheme"] == label)
        level = one in distinctrun.levels(experiment)
        assert row["_group"] == (words[one].group if one in words else "")
        for epsilon in distinctrun.EPSILONS:
            cell = cells.get(Key(experiment, one, "", "", "" if level else epsilon))
            if cell is None:
                assert row[epsilon] == "no guarantee"
                continue
            over_budget = cell.epsilon_delivered > float(epsilon)
            assert row[epsilon].endswith("†") == over_budget
            assert shows(row[epsilon].rstrip("†"), 100 * cell.mean, 100 * cell.ci95)
            if epsilon == "1":
                assert shows(row["Delivered epsilon"], cell.epsilon_delivered)
                assert shows(row["Noise (std)"], cell.noise_std)
                assert (row["Privacy"] == "not private") == over_budget


def test_another_reading_has_its_own_group(root, cells):
    _, rows = read(root, "imgm_imdb")
    other = [row for row in rows if row["_group"].lower().startswith("a classifier")]
    assert [row["Scheme"] for row in other] == ["IMGM", "MVG, binary allocation"]
    for scheme, row in zip(("imgm", "mvg_binary"), other, strict=True):
        for epsilon in distinctrun.EPSILONS:
            cell = cells[Key("imdb", scheme, "", "", epsilon)]
            assert shows(row[epsilon].rstrip("†"), 77 * cell.mean, 77 * cell.ci95)


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
    frame = inputs.read_input("tables/advice", inputs.files_of_folder(root))
    frame["epsilon"] = [epsilon_text(epsilon) for epsilon in frame["epsilon"]]
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


COLUMNS = {
    "Runs prove": "epsilon_certified",
    "Could prove": "epsilon_largest",
    "Noise inflation (times)": "noise_inflation",
    "Runs": "runs",
}


def test_the_audit_shows_the_range_of_each_mechanism(root):
    frame, rows = read(root, "audit")
    frame = frame[frame["subject"].eq("releases")]
    rows = [row for row in rows if row["Decided by"] == "exact curve" and row["Runs"]]
    groups = [*frame.groupby(["experiment", "mechanism"], sort=False)]
    assert len(rows) == len(groups)
    for row, ((experiment, mechanism), own) in zip(rows, groups, strict=True):
        assert row["_group"] == catalogue.experiment(experiment).title
        # Equal distributions are one row.
        assert row["Mechanism"].partition(" = ")[0] == catalogue.label(mechanism)
        for header, column in COLUMNS.items():
            ends = dict.fromkeys((own[column].min(), own[column].max()))
            assert shows(row[header], *ends), (header, row[header], ends)
        both = own[["epsilon_attained", "epsilon_bound"]]
        assert shows(row["Delivered epsilon"], both.min(axis=None), both.max(axis=None))
        assert row["Number"] == str(len(own))


#: Figures drawn from one table have its cells.
FIGURES = [name for name in distinctrun.FIGURES if name not in ("explainer", "noise_levels")]
READINGS = {"default": "default", "zeta=literal": "zeta_literal", "gamma=data": "gamma_of_data"}


@pytest.mark.parametrize("name", FIGURES)
def test_the_data_of_a_figure_are_the_cells_of_the_run(name, root, cells):
    frame = runfiles.figure(root, name).frame
    chosen, seen = distinctrun.chosen(cells), 0
    for row in frame[frame["role"].isin(["mechanism", "level"])].to_dict("records"):
        shown = ["mean", "ci95"]
        if "reading" in row:
            reading = READINGS[row["reading"]]
            cell = distinctrun._cell(
                Key(row["experiment"], row["mechanism"], "sweep", reading, "1")
            )
        else:
            epsilon = "" if np.isnan(row["epsilon"]) else f"{row['epsilon']:g}"
            key = Key(
                row["experiment"], row["mechanism"], row["direction"], row["configuration"], epsilon
            )
            if (key.mechanism, epsilon) in distinctrun.REFUSED:
                assert np.isnan(row["mean"])
                continue
            assert row["chosen"]
            cell = chosen[key]
            shown += ["noise_std", "mu", "epsilon_delivered"]
        for column in shown:
            if column in row:
                assert row[column] == pytest.approx(getattr(cell, column), rel=1e-9, nan_ok=True)
        seen += 1
    assert seen > 5
