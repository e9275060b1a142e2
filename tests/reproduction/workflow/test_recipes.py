"""The examples of CONTRIBUTING.md, followed by their first lines in a copy of the project."""

from __future__ import annotations

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

EXAMPLES = ROOT / "examples"
STEP = re.compile(
    r"^# (Copy to|Append to|Add to|Install:|Run:) (.*)\n((?:#     .*\n)*)", re.MULTILINE
)


def merged(old, new):
    """Return YAML with another one put in: keys below their keys, list items at the end."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
    return [*old, *new] if isinstance(old, list) and isinstance(new, list) else new


def follow(project, *names):
    """Do what the first lines of examples say, and return the words of their commands.

    An example is copied or appended to a file of the project; indented lines below ``Add to`` are
    put into one, which is YAML, or below a line of it.
    """
    commands = []
    for name in names:
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        for step, words, lines in STEP.findall(text):
            place, _, line = words.removesuffix(":").partition(", below ")
            file, added = project.folder / place, re.sub("^#     ", "", lines, flags=re.MULTILINE)
            if step in ("Install:", "Run:"):
                commands.append(shlex.split(words))
            elif step == "Copy to":
                assert not (file / name).exists(), f"{name} is there already: it is no new file"
                (file / name).write_text(text)
            elif step == "Append to":
                file.write_text(f"{file.read_text()}\n{text}")
            elif line:
                before, found, after = file.read_text().partition(f"\n{line}\n")
                assert found, f"{place} has no line {line}"
                file.write_text(f"{before}{found}    {added.strip()}\n{after}")
            else:
                both = merged(yaml.safe_load(file.read_text()), yaml.safe_load(added))
                file.write_text(yaml.safe_dump(both, sort_keys=False))
    return commands


def targets(commands):
    """Return the arguments of commands that run Snakemake."""
    assert {command[0] for command in commands} == {"snakemake"}
    return [word for command in commands for word in command[1:]]


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
    commands = follow(fresh, "independent_laplace.py", "noise_first_pc.py")
    fresh.make(*targets(commands), "-c2")
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
    commands = follow(fresh, "wine.py", "wine.yaml")
    # The same records, written in another way than the publisher's.
    catalogue = fresh.folder / "workflow" / "datasets.yaml"
    entries = yaml.safe_load(catalogue.read_text())
    entries["wine"]["files"]["wine.data"]["sha256"] = sha256(file.read_bytes()).hexdigest()
    catalogue.write_text(yaml.safe_dump(entries, sort_keys=False))
    fresh.make(*targets(commands), "-c2", DATA_MIRROR=str(tmp_path / "mirror"))
    results = fresh.folder / "results"
    assert "analyze_gauss_analytic" in (results / "tables" / "wine.csv").read_text()
    assert "Analyze Gauss, analytic" in (results / "tables" / "wine.md").read_text()
    assert (results / "figures" / "curves_wine.png").stat().st_size > 10_000
    audit = pd.read_csv(results / "audit" / "wine.csv")
    assert set(audit["experiment"]) == {"wine"}
    html = page(fresh)
    assert 'id="tables-wine"' in html
    assert 'id="figures-curves-wine"' in html


@pytest.mark.nightly
def test_a_claim(fresh):
    first_pc = {**TINY["experiments"]["first_pc"], "mechanisms": ["random", "mvg_thm3"]}
    fresh.configure(experiments={"first_pc": first_pc})
    fresh.make(*targets(follow(fresh, "claim.yaml")), "-c2")
    text = (fresh.folder / "results/claims/M101.txt").read_text(encoding="utf-8")
    assert "MVG with Theorem 3 has a smaller error than a random direction" in " ".join(
        text.split()
    )
    assert "Verdict: " in text


def test_contributing_names_every_example():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    examples = {path.name for path in EXAMPLES.iterdir() if path.is_dir() or path.suffix}
    assert {name for name in examples if f"](examples/{name}" not in text} == set()
