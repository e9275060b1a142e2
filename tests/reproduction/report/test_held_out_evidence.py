"""Evidence from other data for mechanisms whose rule was made on the papers' data."""

import numpy as np
import pandas as pd
import pytest
from trialrows import SPLIT, trials

from reproduction import catalogue
from reproduction.report import comparisons, held_out_table, summary


def row(mechanism, mean, seed, **fields):
    noise = 0.01 * np.random.default_rng(seed).standard_normal(20)
    return trials(mechanism, mean + 0.1 * SPLIT + noise, **fields)


@pytest.fixture
def table(saved):
    file = saved(
        row("clipped_private", 0.3, 1),
        row("clipped_public", 0.1, 2),
        row("goe", 0.2, 3),
        row("laplace", 0.4, 4),
        row("zero", 0.9, 5, epsilon="", delta=np.nan),
    )
    compared = comparisons.table([file], summary.summarise([file]))
    return held_out_table.table(compared).assign(experiment="regression", dataset="wine")


def test_tuned_mechanisms_are_held_against_the_best_of_the_others(table):
    assert {"clipped_private", "clipped_public"} < catalogue.tuned()
    assert "goe" not in catalogue.tuned()
    rows = table.set_index("mechanism")
    assert [*rows.index] == ["clipped_private", "clipped_public"]
    assert (rows["against"] == "goe").all()
    assert [*rows["verdict"]] == ["worse", "better"]
    assert rows["difference"].to_numpy() == pytest.approx([0.1, -0.1], abs=0.01)


@pytest.mark.parametrize("name", ["a_first_by_name", "zz_last_by_name"])
def test_a_mechanism_without_an_entry_moves_no_other_wherever_it_stands(saved, tmp_path, name):
    means = {"clipped_private": 0.21, "clipped_public": 0.19, "goe": 0.2}
    rows = [row(one, mean, i, dataset="wine") for i, (one, mean) in enumerate(means.items())]
    added = row(name, 9.0, 6, dataset="wine")
    for number, parts in enumerate((rows, [added, *rows])):
        held_out_table.write([saved(*parts, name=str(number))], tmp_path / f"{number}.csv")
    before, after = ((tmp_path / f"{number}.csv").read_bytes() for number in range(2))
    assert before == after
    # In the order of the file others would move.
    file = saved(added, *rows, name="first")
    moved = held_out_table.table(comparisons.table([file], summary.summarise([file])))
    kept = pd.read_csv(tmp_path / "0.csv")
    assert (moved["p_corrected"].to_numpy() > 1.2 * kept["p_corrected"].to_numpy()).any()


def test_losses_are_said_too(table):
    said = held_out_table.sentence(table, "regression", "clipped_private")
    assert said == "better in 0 of 1 comparisons on 1 other data sets, worse in 1"
    assert held_out_table.sentence(table, "covariance", "clipped_private") == ""
    assert held_out_table.sentence(table, "regression", "goe") == ""
    assert held_out_table.sentence(None, "regression", "clipped_private") == ""


def test_few_trials_are_no_evidence(table):
    table = table.assign(verdict=np.nan)
    assert held_out_table.sentence(table, "regression", "clipped_private") == ""
