"""What the page's scripts work on: the chooser, the explorer and the dashboard of claims."""

from functools import partial

import distinctrun
import numpy as np
import pandas as pd
import pytest
from distinctrun import Key
from numbertexts import shows
from samplerun import put

from matrixdp import catalogue
from matrixdp.report import inputs, page
from matrixdp.report.claims.findings import tally
from matrixdp.report.page import layout, views

COMMANDS = {"trials/*": "snakemake results/{name}.csv.gz"}


def test_the_chooser_has_the_rows_of_the_advice_and_what_they_lose(root):
    advice = inputs.read("tables/advice", root)
    command = partial(layout.command, commands=COMMANDS, arguments="--config trials=9")
    view = views.chooser(advice, command)
    assert [*view["tasks"]] == [*dict.fromkeys(advice["experiment"])]
    lost = set()
    for row, shown in zip(advice.to_dict("records"), view["rows"], strict=True):
        assert all(
            shown[name] == row[name.lower()]
            for name in ("Advice", "outcome", "released", "epsilon")
        )
        assert shows(shown["Error"], row["error"], row["ci95"])
        assert shows(shown["True epsilon"], row["epsilon_actual"])
        stem = f"trials/{row['experiment']}/default/{row['best_mechanism']}"
        assert shown["command"] == f"snakemake results/{stem}.csv.gz --config trials=9"
        if np.isnan(row["chance"]):
            assert shown["lost"] is None
            continue
        share = (row["nonprivate"] - row["error"]) / (row["nonprivate"] - row["chance"])
        assert shown["lost"] == pytest.approx(share, abs=1e-4)
        lost.add(shown["lost"])
    assert len(lost) > 5


def test_the_explorer_has_the_cells_that_tables_show(root, cells):
    (drawn,) = views.explorer(root, ["covariance", "section10_2", "not_run"])
    chosen = distinctrun.chosen(cells, experiment="covariance")
    series = {one["label"]: one["points"] for one in drawn["series"]}
    assert {*series} == {catalogue.label(key.mechanism) for key in chosen if key.epsilon}
    for key, cell in chosen.items():
        if key.epsilon and key.direction in ("", "a"):
            (point,) = (
                p for p in series[catalogue.label(key.mechanism)] if p[0] == float(key.epsilon)
            )
            told = [np.nan if value is None else value for value in point[1:]]
            true = [cell.epsilon_actual, cell.mu_actual, cell.mean, cell.ci95]
            np.testing.assert_allclose(told, true, rtol=1e-3)
    levels = {one["label"]: one["mean"] for one in drawn["levels"]}
    level = cells[Key("covariance", "random", "", "", "")].mean
    assert levels[catalogue.label("random")] == pytest.approx(level, rel=1e-3)


def test_the_explorer_has_accuracies_in_the_unit_of_their_axis(root, cells):
    (drawn,) = views.explorer(root, ["imdb"])
    assert "%" in drawn["axis"]
    mean = cells[Key("imdb", "mvg_binary", "", "", "1")].mean
    (series,) = (one for one in drawn["series"] if one["label"] == catalogue.label("mvg_binary"))
    (point,) = (point for point in series["points"] if point[0] == 1)
    assert point[3] == pytest.approx(100 * mean, rel=1e-3)


def claim(name, paper, kind, verdict, **fields):
    text = dict.fromkeys(("place", "statistic", "evidence", "shown_by", "claim", "reason"), "")
    text["same_as"] = ""
    numbers = ("effect", "effect_low", "effect_high", "margin", "power", "p_corrected")
    numbers += ("readings_holding", "readings_total")
    about = {"id": name, "paper": paper, "kind": kind, "verdict": verdict}
    return text | dict.fromkeys(numbers, np.nan) | about | fields


CLAIMS = pd.DataFrame(
    [
        claim("M1", "MVG", "theorem", "reproduced", reason="By Eq. (25), it does. And more"),
        claim("M2", "MVG", "identity", "reproduced only under some condition"),
        claim("M3", "MVG", "experiment", "reproduced", p_corrected=1e-9, margin=2.0),
        claim("M4", "MVG", "experiment", "undecided", shown_by="tables/table3 theory/exact"),
        claim("M5", "MVG", "theorem", "reproduced", same_as="M1"),
    ]
)


def test_the_dashboard_counts_as_the_tally_does():
    view = views.dashboard(CLAIMS)
    assert view["bars"] == [
        {"paper": "MVG", "kind": "theorem", "total": 1} | {"parts": [("reproduced", 1)]},
        {"paper": "MVG", "kind": "identity", "total": 1}
        | {"parts": [("reproduced only under", 1)]},
        {"paper": "MVG", "kind": "experiment", "total": 2}
        | {"parts": [("reproduced", 1), ("undecided", 1)]},
    ]
    assert [tally(CLAIMS).count(one) for one in ("1 of 1", "0 of 1", "1 of 2")] == [1, 1, 1]
    first, _, third, last, _ = view["claims"]
    assert (first["why"], first["more"]) == ("By Eq. (25), it does", "And more")
    assert third["numbers"] == [("Asks", "> 2"), ("p", "< 0.001")]
    assert last["shown_by"] == ["table3", "exact"]


def test_a_run_without_advice_has_no_chooser(tmp_path):
    distinctrun.write(tmp_path)
    for name in ("advice", "claims"):
        put(tmp_path / f"tables/{name}.csv", "note\nnothing of it\n")
    html = page.build(tmp_path, run={})
    assert 'id="choose"' not in html
    assert 'class="ledger"' not in html
    assert 'id="explore"' in html
