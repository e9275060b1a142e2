"""Evidence from other data for mechanisms whose rule was made on the papers' data."""

import re

import numpy as np
import pandas as pd
import pytest
from trialrows import SPLIT, trials

from reproduction import catalogue
from reproduction.report import comparisons, held_out_table, summary


def row(mechanism, mean, seed, **fields):
    noise = 0.01 * np.random.default_rng(seed).standard_normal(20)
    return trials(mechanism, mean + 0.1 * SPLIT + noise, **{"epsilon_delivered": 1.0} | fields)


def numbers(sentence):
    """Return its numbers: better in, comparisons, data sets, simulated, budgets, worse in."""
    return [*map(int, re.findall(r"\d+", sentence))]


@pytest.fixture
def judge(saved):
    """Return a function from the mean errors of baselines to the table."""

    def run(**baselines):
        level = {"epsilon": "", "delta": np.nan, "epsilon_delivered": np.nan}
        file = saved(
            row("clipped_private", 0.3, 1),
            row("clipped_public", 0.1, 2),
            row("goe", 0.2, 3),
            row("laplace", 0.4, 4),
            *(row(name, mean, 5, **level) for name, mean in baselines.items()),
        )
        results = summary.summarise_trials([file])
        table = held_out_table.compare_held_out(comparisons.compare_rows([file], results), results)
        return table.assign(experiment="regression", dataset="wine", simulated=False)

    return run


@pytest.fixture
def table(judge):
    return judge(zero=0.9)


def test_tuned_mechanisms_are_held_against_the_best_of_the_others(table):
    assert {"clipped_private", "clipped_public"} < catalogue.tuned()
    assert "goe" not in catalogue.tuned()
    rows = table.set_index("mechanism")
    assert [*rows.index] == ["clipped_private", "clipped_public"]
    assert (rows["against"] == "goe").all()
    assert [*rows["verdict"]] == ["worse", "better"]
    assert rows["difference"].to_numpy() == pytest.approx([0.1, -0.1], abs=0.01)


@pytest.mark.parametrize("baseline", catalogue.RECORD_FREE)
def test_who_loses_to_a_free_baseline_is_not_better(judge, baseline):
    rows = judge(**{baseline: 0.05})
    assert set(rows["against"]) == {baseline}
    assert [*rows["verdict"]] == ["worse", "worse"]
    text = held_out_table.held_out_sentence(rows, "regression", "clipped_public")
    assert numbers(text) == [0, 1, 1, 0, 1, 1]
    assert "wine" in text


@pytest.mark.parametrize("baseline", [catalogue.NONPRIVATE, *catalogue.CLIPPED])
def test_a_result_without_privacy_is_no_alternative(judge, baseline):
    rows = judge(**{baseline: 0.05})
    assert (rows["against"] == "goe").all()


@pytest.mark.parametrize("name", ["a_first_by_name", "zz_last_by_name"])
def test_a_mechanism_without_an_entry_moves_no_other_wherever_it_stands(saved, tmp_path, name):
    means = {"clipped_private": 0.21, "clipped_public": 0.19, "goe": 0.2}
    rows = [row(one, mean, i, dataset="wine") for i, (one, mean) in enumerate(means.items())]
    added = row(name, 9.0, 6, dataset="wine")
    for number, parts in enumerate((rows, [added, *rows])):
        held_out_table.write_held_out([saved(*parts, name=str(number))], tmp_path / f"{number}.csv")
    before, after = ((tmp_path / f"{number}.csv").read_bytes() for number in range(2))
    assert before == after
    # In the order of the file others would move.
    file = saved(added, *rows, name="first")
    results = summary.summarise_trials([file])
    moved = held_out_table.compare_held_out(comparisons.compare_rows([file], results), results)
    kept = pd.read_csv(tmp_path / "0.csv")
    assert (moved["p_corrected"].to_numpy() > 1.2 * kept["p_corrected"].to_numpy()).any()


def test_losses_are_said_too(table):
    said = held_out_table.held_out_sentence(table, "regression", "clipped_private")
    assert numbers(said) == [0, 1, 1, 0, 1, 1]
    assert "wine" in said
    assert held_out_table.held_out_sentence(table, "covariance", "clipped_private") == ""
    assert held_out_table.held_out_sentence(table, "regression", "goe") == ""
    assert held_out_table.held_out_sentence(None, "regression", "clipped_private") == ""


def test_simulated_data_say_so(saved, tmp_path):
    rows = [row("clipped_public", 0.1, 2, dataset="wine"), row("goe", 0.2, 3, dataset="wine")]
    law = [part.assign(dataset="simulated_t", data_status="simulated") for part in rows]
    held_out_table.write_held_out(
        [saved(*rows, name="wine"), saved(*law, name="law")], tmp_path / "out.csv"
    )
    table = pd.read_csv(tmp_path / "out.csv")
    assert dict(zip(table["dataset"], table["simulated"], strict=True)) == {
        "wine": False,
        "simulated_t": True,
    }
    text = held_out_table.held_out_sentence(table, "regression", "clipped_public")
    assert numbers(text) == [2, 2, 2, 1, 1, 0]


def test_few_trials_are_no_evidence(table):
    table = table.assign(verdict=np.nan)
    assert held_out_table.held_out_sentence(table, "regression", "clipped_private") == ""
