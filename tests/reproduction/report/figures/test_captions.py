"""Captions are short; every number in a headline of results is recomputed by another way."""

from __future__ import annotations

import re

import distinctrun
import numpy as np
import pandas as pd
import pytest
import runfiles
from numbertexts import shows

from reproduction import catalogue, discovery
from reproduction.report import comparisons, figures, inputs, tables
from reproduction.report.figures import noise_levels

TABLES = {"regression": "table3", "first_pc": "table4", "covariance": "table5"}


@pytest.mark.parametrize(("package", "table"), [(figures, "FIGURES"), (tables, "TABLES")])
def test_a_caption_is_fixed_and_has_at_most_60_words(package, table):
    for name, entry in discovery.collect(package, table).items():
        if isinstance(entry.caption, str):
            assert 3 < len(entry.caption.split()) <= 60, name
            assert entry.caption.endswith("."), name


def test_figures_are_few():
    assert len(runfiles.FIGURES) <= 17


@pytest.fixture
def headline(root):
    """Return a function from a figure and a pattern to what its headline has in the groups."""

    def find(name, pattern):
        text = runfiles.entry(f"figures/{name}").headline(runfiles.frame(root, name))
        match = re.search(pattern, text)
        assert match, text
        return match.groups()

    return find


def at(cells, experiment, epsilon="1", direction="a"):
    """Return the cells that a table shows at one epsilon, by mechanism."""
    chosen = distinctrun.chosen(cells, experiment=experiment, epsilon=epsilon)
    return {k.mechanism: cell for k, cell in chosen.items() if k.direction in ("", direction)}


@pytest.mark.parametrize("experiment", TABLES)
def test_curves_count_those_that_the_judge_finds_no_better(experiment, headline, cells, root):
    own = at(cells, experiment)
    if "analytic_gaussian" in own:
        # One distribution, which counts once.
        own.pop("imgm", None)
    failed, total, level = headline(
        f"curves_{experiment}",
        r"ε = 1, (\d+) of (\d+) .* better than the (.+)",
    )
    means = {
        key.mechanism: cell.mean
        for key, cell in cells.items()
        if key.experiment == experiment and key.mechanism in catalogue.RECORD_FREE
    }
    chance = min(means, key=means.get)
    assert level == catalogue.label(chance).lower()
    assert int(total) == len(own)
    compared = inputs.read(f"comparisons/{experiment}", inputs.below(root))
    rows = comparisons.oriented(compared)
    rows = rows[rows["against"].eq(chance) & rows["epsilon"].eq(1) & rows["mechanism"].isin(own)]
    rows = rows[rows["direction"].isin(["", "a"])]
    better = {*rows.loc[rows["verdict"].eq(comparisons.BETTER), "mechanism"]}
    assert int(failed) == len(own.keys() - better)


def test_noise_levels_hold_the_noisiest_family_against_exact_calibration():
    names = ["mvg_thm2", "mvg_thm3", "analyze_gauss_analytic"]
    frame = pd.DataFrame(
        {
            "experiment": ["first_pc"] * 3 + ["covariance"] * 3,
            "mechanism": [*names, "mvg_binary", "analytic_gaussian", "directional_gaussian"],
            "noise_std": [100.0, 5.0, 0.5, 400.0, 2.0, 4.0],
        }
    )
    frame.attrs["claimed_epsilon"] = 0.3
    assert re.search("ε = 0.3, MVG .*10 to 200 times", noise_levels.finding(frame))
    # Where another family is the noisiest in one experiment, there is nothing to say of all.
    other = frame.assign(noise_std=[100.0, 5.0, 0.5, 3.0, 2.0, 4.0])
    assert noise_levels.finding(other) == ""


@pytest.mark.parametrize("experiment", TABLES)
def test_noise_levels_are_those_at_the_claimed_epsilon(experiment, root):
    summary = inputs.read(f"summary/{experiment}", inputs.below(root))
    summary = summary.query("epsilon == '1' and chosen")
    on_records = catalogue.experiment(experiment).setup["query"] == "X"
    frame = runfiles.frame(root, "noise_levels")
    frame = frame[frame["experiment"].eq(experiment) & frame["configuration"].eq("")]
    assert len(frame) > 3
    for row in frame.to_dict("records"):
        same = summary["mechanism"].eq(row["mechanism"]) & summary["direction"].eq(row["direction"])
        noise = summary.loc[same, "noise_std"]
        # On records, mechanisms for second moments have noise in another unit.
        if on_records and row["mechanism"] in noise_levels.ON_MOMENTS:
            assert np.isnan(row["noise_std"])
        else:
            assert noise.tolist() == pytest.approx([row["noise_std"]], nan_ok=True)


@pytest.mark.parametrize("experiment", TABLES)
def test_directions_are_held_against_a_by_the_judge(experiment, headline, root):
    figure = catalogue.experiment(experiment).figures[0]
    *counts, of, wins_exactly, losses_exactly, of_exact = map(
        int,
        headline(
            figure,
            r"wins (\d+)\D+(\d+) of (\d+)\D+MVG, (\d+) and (\d+) of (\d+) calibrated exactly",
        ),
    )
    frame = runfiles.frame(root, figure)
    rows = frame[frame["role"].eq("mechanism") & frame["direction"].ne("a")]
    exact = rows["mechanism"].eq("directional_gaussian")
    # One other direction at each epsilon.
    assert (of, of_exact) == (len(distinctrun.EPSILONS),) * 2
    worse, better = (
        rows["verdict"].eq(verdict) for verdict in (comparisons.WORSE, comparisons.BETTER)
    )
    assert counts == [(worse & ~exact).sum(), (better & ~exact).sum()]
    assert [wins_exactly, losses_exactly] == [(worse & exact).sum(), (better & exact).sum()]
    assert (rows.loc[worse, "ratio"] > 1).all()


def test_training_names_the_ends_of_the_true_epsilons(headline, cells):
    (high,) = headline("imgm_gradients", r"tight ε from .+ to ([\d.,]+), by scheme")
    true = [
        cell.epsilon_delivered
        for key, cell in cells.items()
        if key.experiment in ("adult", "cora") and key.epsilon == "1" and cell.epsilon_delivered > 0
    ]
    assert shows(high.replace(",", ""), max(true)) or float(high.replace(",", "")) == pytest.approx(
        max(true), rel=0.06
    )
