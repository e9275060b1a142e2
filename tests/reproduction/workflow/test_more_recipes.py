"""The examples of a scheme, a table and a file of one's own, followed by their first lines."""

from __future__ import annotations

import json
import re
from hashlib import sha256

import pandas as pd
import pytest
from test_recipes import follow, targets
from tinyproject import TINY

from reproduction.report.page import crate

pytestmark = pytest.mark.nightly

ADULT = {
    "perturbation": "gradients",
    "dataset": "adult",
    "schemes": ["nonprivate", "analytic_gaussian"],
    "trials": 2,
    "records": 256,
    "lot": 64,
    "epochs": 2,
    "epsilons": [0.5, 1],
}


def made(project, name):
    """Follow an example and run its commands."""
    project.make(*targets(follow(project, name)), "-c2")
    return project.folder / "results"


def test_a_scheme(fresh):
    fresh.configure(training={"adult": ADULT})
    results = made(fresh, "half_budget.py")
    rows = pd.read_csv(results / "summary/adult.csv").set_index(["mechanism", "epsilon"])
    # Half of the budget is the budget of half the epsilon, computed for another scheme.
    half, other = rows.loc[("half_budget", 1)], rows.loc[("analytic_gaussian", 0.5)]
    assert half["noise_std"] == pytest.approx(other["noise_std"], rel=1e-9)
    assert half["noise_std"] > 1.01 * rows.loc[("analytic_gaussian", 1), "noise_std"]
    assert half["epsilon_delivered"] <= 0.5
    assert "half_budget" in (results / "tables/imgm_adult.md").read_text()


def test_a_table(fresh):
    fresh.configure(experiments={"first_pc": TINY["experiments"]["first_pc"]})
    results = made(fresh, "least_noise.py")
    table = (results / "tables/least_noise.md").read_text()
    assert "| Mechanism | Noise |" in table
    assert "Directional Gaussian" in table


def test_a_file_of_ones_own_and_its_page(fresh):
    # The example leaves out all experiments of config.yaml, this one too.
    section = {"section10_2": TINY["experiments"]["covariance"]}
    fresh.configure(experiments={**TINY["experiments"], **section}, data={"source": "auto"})
    rows = "".join(f"{i},{i * i % 11}\n" for i in range(40))
    (fresh.folder / "cellar.csv").write_text(f"sugar,acid\n{rows}")
    before = (fresh.folder / "cellar.csv").read_bytes()
    results = made(fresh, "cellar.yaml") / "cellar"
    assert (fresh.folder / "cellar.csv").read_bytes() == before
    facts = json.loads((results / "data/cellar/provenance.json").read_text())
    assert facts["files"] == [{"file": "cellar.csv", "sha256": sha256(before).hexdigest()}]
    assert (facts["publisher"], facts["citation"], facts["doi"]) == ("", "", None)
    html = (results / "report.html").read_text(encoding="utf-8")
    assert re.findall(r'<section class="chapter[^"]*" id="(\w+)">', html)[0] == "cellar"
    assert str(fresh.folder) not in html
    source = crate._source(results / "data/cellar/provenance.json")
    assert not {"license", "creditText", "identifier"} & source.keys()
    (fresh.folder / "cellar.csv").write_text(f"sugar,acid\n{rows}40,1\n")
    matrix = ("results/cellar/data/cellar/matrix.npy", "--configfile", "cellar.yaml")
    done = fresh.snakemake(*matrix, "-c1")
    assert done.code == 1
    assert "has 41 records where 40 are stated; correct one" in done.output
    assert "Traceback" not in done.output
