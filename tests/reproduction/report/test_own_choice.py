"""What a person is told to use agrees: the cards of the page, its text, own_matrix.md, the tool."""

import re

import numpy as np
import pandas as pd
import pytest
from packages import KEPT, ROOT

import matrixdp as mdp
from matrixdp.release import outlooks
from reproduction import catalogue, config

#: What a person asks for the result of each of MVG's experiments.
QUERIES = {"regression": "regression", "first_pc": "components", "covariance": "covariance"}
#: Errors that are alike beside the baseline's.
ALIKE = 1e-3


def kept(name, experiment):
    rows = pd.read_csv(KEPT / f"{name}.csv", keep_default_na=False)
    return rows[
        rows["experiment"].eq(experiment) & pd.to_numeric(rows["epsilon"], errors="coerce").eq(1)
    ]


def choice(experiment, query):
    """Return what the tool takes, at ε = 1, from the shape and the delta of an experiment."""
    (delta,) = kept("tables/advice", experiment)["delta"].unique()[-1:]
    (dataset,) = kept(f"summary/{experiment}", experiment)["dataset"].unique()
    columns = config.datasets({})[dataset]["shape"][1]
    target = {"target": columns - 1} if query == "regression" else {}
    records = np.zeros((round(1 / float(delta)), columns))
    keys = {"query": query, "bounds": (-1, 1), "missing": "refuse", **target}
    return mdp.recommend(records, epsilon=1, delta=float(delta), **keys)[0].key


def named(mechanism):
    """Return the key of a row of the study, as its card names it."""
    return re.findall('mechanism = "(.*?)"', catalogue.section("offered")[mechanism])[0]


@pytest.mark.parametrize(("experiment", "query"), QUERIES.items())
def test_the_tool_takes_what_the_cards_advise_or_what_is_as_good(experiment, query):
    taken = choice(experiment, query)
    text = (ROOT / "workflow/reproduction/report/page/texts/recommend.md").read_text()
    assert re.findall("all three of MVG's experiments it takes `(.*?)`", text) == [taken]
    card = kept("tables/advice", experiment).iloc[-1]
    rows = kept(f"summary/{experiment}", experiment)
    errors = {
        named(mechanism): float(mean)
        for mechanism, mean in zip(rows["mechanism"], rows["mean"], strict=True)
        if mechanism in catalogue.section("offered")
    }
    least, baseline = float(card["offer_error"]), float(card["baseline_error"])
    assert errors[taken] - least < ALIKE * baseline
    # Another mechanism would not do.
    if experiment != "first_pc":
        assert taken == named(card["offer_mechanism"])
        assert errors["laplace"] - least > ALIKE * baseline


def test_own_matrix_states_the_numbers_of_the_rule():
    text = (ROOT / "src/matrixdp/own_matrix.md").read_text()
    words = " ".join(text.partition("### What `recommend` takes")[2].partition("###")[0].split())
    *fills, last = (f"{100 * fill:.0f}" for fill in outlooks.FILLS)
    assert f"that fill {', '.join(fills)} and {last} % of their bounds" in words
    assert f"where {outlooks.FLOOR:g} is the least that counts" in words
    assert f"at most {outlooks.TIE:g} times as large" in words
    assert f"more than {outlooks.MOST_COLUMNS} columns" in words
    rows = pd.read_csv(ROOT / "benchmarks/recommend_rule.csv").query(
        "output == 'all' and set == 'BC'"
    )
    rows = rows.set_index("rule")
    taken, capped = rows.loc["mean ratio"], rows.loc["excess, lost is 1"]
    assert f"Tested on {taken['tables']} tables" in words
    assert f"its error is {taken['G']:.2f} times that of the best" in words
    assert f"and {capped['G']:.2f} times by the rule of 0.1.0" in words
    assert taken["G"] == rows["G"].min()


def test_the_example_of_a_mechanism_by_itself_is_what_a_release_takes():
    bounds = ((0, 120), (0, 200_000))
    query = mdp.SecondMomentQuery(mdp.Box(*zip(*bounds, strict=True)), n_records=400)
    first = mdp.compare_mechanisms(query, epsilon=1, delta=1e-6)[0]
    keys = {"bounds": dict(enumerate(bounds)), "missing": "refuse", "epsilon": 1, "delta": 1e-6}
    assert (
        first.name.lower()
        == mdp.recommend(np.zeros((400, 2)), query="second_moments", **keys)[0].key
    )
