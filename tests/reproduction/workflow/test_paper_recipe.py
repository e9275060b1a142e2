"""What CONTRIBUTING.md says of what goes into a paper."""

import re

import pandas as pd
import pytest
from packages import ROOT
from test_recipes import follow


@pytest.mark.nightly
def test_what_goes_into_a_paper(fresh):
    follow(fresh, "independent_laplace.py")
    folder = fresh.folder / "results"
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## What goes into")[2]
    targets = re.findall(r"^snakemake (\S+)$", text, re.MULTILINE)
    assert len(targets) == 3
    fresh.make(*targets, "-c2")
    table = folder / "tables/against_first_pc_independent_laplace"
    fresh.make("results/tables/against_first_pc_independent_laplace.csv", "-c1")
    rows = pd.read_csv(table.with_suffix(".csv"))
    assert {*rows["mechanism"]} == {"independent_laplace"}
    assert {*rows["against"]} == {"independent_laplace", "directional_gaussian", "random"}
    assert {*rows["epsilon"]} == {0.1, 1.0}
    own = rows[rows["against"].eq("independent_laplace")]
    assert own["delta"].eq(0).all()
    assert own["epsilon_delivered"].eq(own["epsilon"]).all()
    latex = table.with_suffix(".tex").read_text()
    assert r"independent\_laplace" in latex
    assert r"\textbf{SIMULATED DATA" in latex
    assert r"\toprule" in (folder / "tables/table4.tex").read_text()
    works = (folder / "citations_first_pc.bib").read_text()
    entry = r"title = {{independent\_laplace}}, note = {no reference known}, }"
    assert f"@misc{{independent_laplace, {entry}" in " ".join(works.split())
    assert works.count("@article{movement,") == 1
    assert "coordinates" in works
    assert "liver" not in works
