from __future__ import annotations

import json
import re

import pandas as pd
import pytest
import runfiles
from samplerun import put, settle

from matrixdp.checks import InputError
from reproduction import catalogue, discovery
from reproduction.cli import latex

SHARED = {"trials": 50, "epsilons": ["0.1", "1"]}
CONFIG = {
    "delta": "1/n",
    "adjacency": "zero_out",
    "experiments": {
        "regression": {
            **SHARED,
            "dataset": "liver",
            "target": "drinks",
            "train": 248,
            "directions": {"a": ["sgpt", "drinks"], "b": ["sgpt"]},
            "mechanisms": ["mvg_binary", "mvg_maxpnr"],
        },
        "first_pc": {
            **SHARED,
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
    def run(*provenance, number=2, config=CONFIG):
        for facts in provenance:
            put(tmp_path / f"data/{facts['name']}/provenance.json", json.dumps(facts))
        settle(tmp_path, **config)
        runfiles.write(tmp_path, f"tables/table{number}")
        stem = tmp_path / f"tables/table{number}"
        table = pd.read_csv(f"{stem}.csv", index_col="item", keep_default_na=False)
        latex.run([f"{stem}.json"])
        return table, *(stem.with_suffix(end).read_text() for end in (".md", ".tex"))

    return run


def test_set_ups_as_run_stand_beside_the_papers(make):
    table, markdown, latex = make(LIVER, MOVEMENT)
    assert table.loc["samples"].tolist() == [
        *("248", "248, test 97", "10,176", "10,176", "2,126", "not run"),
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
        "1/n = 1/10,176",
    ]
    assert table.loc["epsilon", "regression"] == "0.1, 1"
    assert table.loc["trials", "regression"] == "50"
    assert table.loc["adjacency", "regression"] == "zero out one record"
    assert (table["covariance"] == "not run").all()
    assert table.loc["status":, "regression_published"].eq("").all()
    assert "SIMULATED" not in markdown + latex
    assert "|  | Exp. I, paper | Exp. I, ours | Exp. II, paper | Exp. II, ours |" in markdown
    assert "| Query size | 6 x 248 | 6 x 248 |" in markdown
    assert r"X X\textasciicircum{}T / n" in latex


def test_a_stand_in_is_shouted(make):
    table, markdown, latex = make(LIVER, MOVEMENT | {"status": "simulated"})
    assert table.loc["status", "first_pc"] == "simulated"
    assert markdown.startswith("> **SIMULATED DATA.")
    assert r"\textbf{SIMULATED DATA." in latex


def test_missing_provenance_is_named(make, tmp_path):
    with pytest.raises(InputError, match="lacks 'data/movement'; delete it and run again"):
        make(LIVER)
    with pytest.raises(InputError, match="data/liver, .* lacks 'licence'"):
        make({key: value for key, value in LIVER.items() if key != "licence"}, MOVEMENT)
    put(tmp_path / "data/ctg/provenance.json", "{")
    with pytest.raises(InputError, match=r"provenance\.json cannot be read .*`snakemake data`"):
        make(LIVER, MOVEMENT)


TRAINING = {
    "seed": 7,
    "training": {
        "adult": {
            "dataset": "adult",
            "lot": 512,
            "batch": 256,
            "epochs": 50,
            "clip": 1.5,
            "records": 4096,
            "trials": 5,
            "epsilons": ["0.1", "1"],
            "delta": "0.00001",
            "schemes": ["imgm"],
        },
        "imdb": {
            "dataset": "imdb",
            "lot": 256,
            "epochs": 10,
            "extractor_epochs": 3,
            "records": None,
            "trials": 6,
            "epsilons": ["1"],
            "delta": "0.00001",
            "schemes": ["imgm"],
        },
    },
}
ADULT = {
    "name": "adult",
    "title": "Adult",
    "status": "original",
    "licence": "CC BY 4.0",
    "arrays": {"test_labels": {"shape": [16281]}, "train_inputs": {"shape": [32561, 105]}},
}
IMDB = ADULT | {
    "name": "imdb",
    "title": "Movie reviews",
    "arrays": {"test_tokens": {"shape": [25000, 200]}, "train_tokens": {"shape": [25000, 200]}},
}


def test_table_1_has_all_six_data_sets_run_or_not(make):
    table, markdown, _ = make(ADULT, IMDB, number=1, config=TRAINING)
    assert table.loc["training", "adult_published"] == "32,561"
    assert table.loc["training", "adult"] == "4,096 of 32,561"
    assert table.loc["testing", "imdb"] == "25,000"
    assert table.loc["clip", ["adult", "imdb"]].tolist() == ["1.5", ""]
    in_batches = "512, for the authors' code in batches of 256"
    assert table.loc["lot", ["adult", "imdb"]].tolist() == [in_batches, "256"]
    assert table.loc["type2_epochs", ["adult", "imdb"]].tolist() == ["-", "10, of the extractor 3"]
    assert table.loc["trials", "imdb"] == "6, from seed 7"
    assert table.loc["protected", "adult"] == catalogue.experiment("adult").protected
    for name in ("cifar10", "svhn"):
        assert table.loc["lot", name] == "not run"
        assert "hours" in table.loc["needs", name]
    # One that was left out needs nothing but to be run.
    assert table.loc["lot", ["cora", "mnist"]].tolist() == ["not run"] * 2
    assert table.loc["needs", ["cora", "adult", "mnist"]].tolist() == [""] * 3
    names = ["MNIST", "CIFAR-10", "Cora", "Adult", "SVHN", "IMDB"]
    assert [markdown.index(f"| **{name}** |") for name in names] == sorted(
        markdown.index(f"| **{name}** |") for name in names
    )
    assert "| What it would need |  | the 60,000 images" in markdown


def test_a_data_set_that_is_trained_both_ways_says_both(make):
    about = ADULT | {
        "name": "mnist",
        "title": "Digits",
        "arrays": {"test_images": {"shape": [5000, 28]}, "train_images": {"shape": [55000, 28]}},
    }
    given = TRAINING["training"]
    ways = {
        "mnist": {**given["adult"], "records": None, "lot": 1024, "dataset": "mnist"},
        "mnist_features": {**given["imdb"], "trials": 5, "dataset": "mnist"},
    }
    table, _, _ = make(about, number=1, config={**TRAINING, "training": ways})
    found = table["mnist"]
    in_batches = "gradients: 1024, for the authors' code in batches of 256"
    assert found["lot"] == f"{in_batches}; features: 256"
    assert found[["type1_epochs", "type2_epochs"]].tolist() == ["50", "10, of the extractor 3"]
    assert found[["training", "testing", "trials"]].tolist() == [
        "55,000",
        "5,000",
        "5, from seed 7",
    ]
    assert found["epsilon"] == "gradients: 0.1, 1; features: 1"
    assert found["clip"] == "1.5"
    assert table.loc["lot", "adult"] == "not run"


def test_table_1_shouts_and_names_what_is_missing(make):
    simulated = ADULT | {"status": "simulated"}
    assert make(simulated, IMDB, number=1, config=TRAINING)[1].startswith("> **SIMULATED")
    bare = {key: value for key, value in IMDB.items() if key != "arrays"}
    with pytest.raises(InputError, match="data/imdb, .* lacks 'arrays'"):
        make(ADULT, bare, number=1, config=TRAINING)


def numbers(text):
    """Return the numbers in a text."""
    return {float(word.replace(",", "")) for word in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}


def test_table_1_says_what_the_training_does():
    from reproduction.data import cora
    from reproduction.experiments.training import extractor, features, gradients, lstm, models

    optimisers, networks = (
        {
            name: numbers(catalogue.experiment(name).setup[row])
            for name in ("adult", "cora", "imdb", "mnist")
        }
        for row in ("optimiser", "model")
    )
    sgd = {gradients.RATE, gradients.DECAY, gradients.DECAY_STEPS, gradients.MOMENTUM}
    assert optimisers["adult"] == sgd
    assert optimisers["imdb"] == {extractor.RATE, extractor.BATCH, features.RATE, 1}
    planetoid = 1140 - cora._VALIDATION - cora._NEXT
    assert optimisers["cora"] == {planetoid, cora._VALIDATION, cora._NEXT}
    assert networks["adult"] == {105, models.SIGMOID_UNITS, 2}
    assert networks["cora"] == {1433, models.GRAPH_UNITS, 7}
    lenet = {shape[1] for shape in models.shapes(models.LENET).values()} - {1}
    assert networks["mnist"] == lenet | {5, 2}
    assert networks["imdb"] == {lstm.EMBEDDING, 2, lstm.UNITS, lstm.FEATURES}


def test_every_training_says_what_is_protected_and_of_which_kind_it_is():
    from reproduction.experiments import training

    for name in discovery.trainings():
        one = training.find(name)
        about = catalogue.experiment(name)
        assert about.protected
        assert about.perturbation == one.perturbation
