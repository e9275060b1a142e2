from __future__ import annotations

import json

import pandas as pd
import pytest

from matrixdp.checks import InputError
from matrixdp.results import setups

CONFIG = {
    "trials": 50,
    "epsilons": ["0.1", "1"],
    "delta": "1/n",
    "adjacency": "add_remove",
    "experiments": {
        "regression": {
            "dataset": "liver",
            "target": "drinks",
            "train": 248,
            "directions": {"a": ["sgpt", "drinks"], "b": ["sgpt"]},
            "mechanisms": ["mvg_binary", "mvg_maxpnr"],
        },
        "first_pc": {
            "dataset": "movement",
            "directions": {"a": ["anchor0"], "iid": []},
            "mechanisms": ["mvg_thm2"],
        },
    },
}

LIVER = {
    "name": "liver",
    "title": "Liver Disorders (BUPA)",
    "status": "original",
    "features": ["mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"],
    "rows_used": 345,
    "scaling": {"name": "default", "description": "centred, divided by the largest"},
    "lower": [-1.0] * 6,
    "upper": [1.0] * 6,
    "licence": "CC BY 4.0",
    "unknown": "ignored",
}
MOVEMENT = LIVER | {
    "name": "movement",
    "title": "Movement",
    "features": ["anchor0", "anchor1", "anchor2", "anchor3"],
    "rows_used": 10176,
    "lower": [-1.0, -0.5, -1.0, -1.0],
    "upper": [1.0] * 4,
}


@pytest.fixture
def make(tmp_path):
    def run(*provenance, config=CONFIG):
        paths = [tmp_path / f"{facts['name']}.json" for facts in provenance]
        for path, facts in zip(paths, provenance, strict=True):
            path.write_text(json.dumps(facts))
        setups.write(config=config, provenance_files=paths, out=tmp_path)
        table = pd.read_csv(tmp_path / "table2.csv", index_col="item", keep_default_na=False)
        return table, *((tmp_path / f"table2.{end}").read_text() for end in ("md", "tex"))

    return run


def test_set_ups_as_run_stand_beside_the_papers(make):
    table, markdown, latex = make(LIVER, MOVEMENT)
    assert table.loc["samples"].tolist() == [
        *("248", "248, test 97", "10176", "10176", "2126", "not run"),
    ]
    assert table.loc["query_size"].tolist()[:4] == ["6 x 248", "6 x 248", "4 x 4", "4 x 4"]
    assert table.loc["features", "regression_published"] == "6"
    assert table.loc["features", "regression"].startswith("6: mcv, ")
    assert table.loc["task", "regression"].endswith("of drinks")
    directions = table.loc["directions"]
    assert directions["regression"] == "(a) sgpt, drinks; (b) sgpt; private SVD"
    assert directions["first_pc"] == "(a) anchor0; (iid) none, i.i.d. noise"
    assert table.loc["bounds", ["regression", "first_pc"]].tolist() == [
        "[-1, 1]",
        "2 different intervals, one per feature",
    ]
    assert table.loc["delta", ["regression", "first_pc"]].tolist() == [
        "1/n = 1/248",
        "1/n = 1/10176",
    ]
    assert table.loc["epsilon", "regression"] == "0.1, 1"
    assert table.loc["trials", "regression"] == "50"
    assert table.loc["adjacency", "regression"] == "add or remove one record"
    assert (table["covariance"] == "not run").all()
    assert table.loc["status":, "regression_published"].eq("").all()
    assert "SIMULATED" not in markdown + latex
    assert "| Query size | 6 x 248 | 6 x 248 |" in markdown
    assert r"X X\textasciicircum{}T / n" in latex


def test_a_stand_in_is_shouted(make):
    table, markdown, latex = make(LIVER, MOVEMENT | {"status": "simulated"})
    assert table.loc["status", "first_pc"] == "simulated"
    assert markdown.startswith("> **SIMULATED DATA.")
    assert r"\textbf{SIMULATED DATA." in latex


def test_missing_provenance_is_named(make, tmp_path):
    with pytest.raises(InputError, match="no provenance of the data set movement"):
        make(LIVER)
    with pytest.raises(InputError, match="lacks 'licence'"):
        make({key: value for key, value in LIVER.items() if key != "licence"}, MOVEMENT)
    (tmp_path / "bad.json").write_text("{")
    for name in ("bad.json", "absent.json"):
        with pytest.raises(InputError, match=f"{name} cannot be read"):
            setups.write(config=CONFIG, provenance_files=[tmp_path / name], out=tmp_path)
