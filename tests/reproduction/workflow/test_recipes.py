"""The recipes of CONTRIBUTING.md, followed from their text in a copy of the project."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import sys
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.datasets import load_wine
from tinyproject import ROOT, TINY

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(title):
    """Return the fenced blocks of a recipe as (language, file, content)."""
    (recipe,) = re.findall(rf"^### {title}\n(.*?)(?=^##)", TEXT, re.MULTILINE | re.DOTALL)
    return BLOCK.findall(recipe)


def merged(old, new):
    """Return YAML with another one put in: keys below their keys, list items at the end."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
    return [*old, *new] if isinstance(old, list) and isinstance(new, list) else new


def follow(project, title):
    """Do what a recipe says, and return the words of its commands."""
    commands = []
    for language, name, content in blocks(title):
        file = project.folder / name
        if (first := content.splitlines(True)[0]).endswith(" = {\n"):
            # Below the line of the file that is the block's first one.
            before, line, after = file.read_text().partition(f"\n{first}")
            file.write_text(f"{before}\n{content}{after}")
            assert line
        elif language == "python":
            assert not file.exists(), f"{name} is there already: it is no new file"
            file.write_text(content)
        elif language == "yaml":
            old = yaml.safe_load(file.read_text()) if file.exists() else {}
            both = merged(old, yaml.safe_load(content))
            file.write_text(yaml.safe_dump(both, sort_keys=False))
        else:
            commands += [shlex.split(line)[1:] for line in content.splitlines()]
    return commands


def page(project):
    """Return the page on what is there."""
    out = project.folder / "page.html"
    files = (project.folder / "results").rglob("*")
    words = ["report", *(file for file in files if file.is_file()), "--out", out]
    packages = os.pathsep.join(str(project.folder / name) for name in ("src", "workflow"))
    done = project.run(sys.executable, "-m", "reproduction", *words, PYTHONPATH=packages)
    assert done.code == 0, done.output
    return out.read_text(encoding="utf-8")


@pytest.mark.nightly
def test_the_recipes_for_a_mechanism_and_a_figure_work(fresh):
    first_pc = TINY["experiments"]["first_pc"]
    fresh.configure(experiments={"first_pc": first_pc})
    drawn = follow(fresh, "A figure")
    made = follow(fresh, "A mechanism")
    fresh.make(*itertools.chain(*made, *drawn), "-c2")
    results = fresh.folder / "results"
    assert "independent_laplace" in (results / "tables" / "table4.md").read_text()
    assert (results / "figures" / "noise_first_pc.png").stat().st_size > 10_000
    data = pd.read_csv(results / "figures" / "data" / "noise_first_pc.csv")
    assert "independent_laplace" in set(data["mechanism"])
    audit = pd.read_csv(results / "tables" / "audit.csv").set_index("mechanism")
    assert audit.loc["independent_laplace", "verdict"].startswith(("certified", "not refuted"))
    html = page(fresh)
    assert "independent_laplace" in html
    assert "Noise against epsilon" in html


@pytest.mark.nightly
def test_a_data_set_with_an_experiment(fresh, tmp_path):
    bunch = load_wine()
    rows = np.column_stack([bunch.target + 1, bunch.data])
    (tmp_path / "mirror").mkdir()
    lines = [",".join(map(repr, map(float, row))) for row in rows]
    file = tmp_path / "mirror" / "wine.data"
    file.write_text("\n".join(lines))
    fresh.configure(experiments={}, data={"source": "original"})
    commands = follow(fresh, "A data set with an experiment")
    # The same records, written in another way than the publisher's.
    catalogue = fresh.folder / "workflow" / "datasets.yaml"
    entries = yaml.safe_load(catalogue.read_text())
    entries["wine"]["files"]["wine.data"]["sha256"] = sha256(file.read_bytes()).hexdigest()
    catalogue.write_text(yaml.safe_dump(entries, sort_keys=False))
    fresh.make(*itertools.chain(*commands), "-c2", DATA_MIRROR=str(tmp_path / "mirror"))
    results = fresh.folder / "results"
    assert "analyze_gauss_analytic" in (results / "tables" / "wine.csv").read_text()
    assert "Analyze Gauss, analytic" in (results / "tables" / "wine.md").read_text()
    assert (results / "figures" / "curves_wine.png").stat().st_size > 10_000
    audit = pd.read_csv(results / "audit" / "wine.csv")
    assert set(audit["experiment"]) == {"wine"}
    html = page(fresh)
    assert 'id="tables-wine"' in html
    assert 'id="figures-curves-wine"' in html
