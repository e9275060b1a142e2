"""Every module that a job has imported is an input of it, so that no edit is missed."""

from __future__ import annotations

import json
import re

import pytest
from test_training import TINY as TRAINING
from tinyproject import TINY

pytestmark = pytest.mark.slow

#: Folders of which only the file of an entry is an input.
REGISTRIES = re.compile(r"\S+/(mechanisms|experiments/training|theory)/\w+\.py")

#: Notes the files of all modules of both packages that a verb has imported, beside its log.
MAIN = """
import json, pathlib, sys
from reproduction.cli import main
root = pathlib.Path(__file__).parents[2]
status = main()
modules = [one for name, one in sys.modules.items()
           if name.startswith(("matrixdp", "reproduction"))]
files = sorted(str(pathlib.Path(one.__file__).relative_to(root)) for one in modules)
words = " ".join(sys.argv[1:]) + " "
with open(pathlib.Path("results") / "imports.jsonl", "a") as stream:
    stream.write(json.dumps([words, files]) + "\\n")
sys.exit(status)
"""


#: One job of each verb; of `trials`, one for each axis of mechanisms.
TARGETS = [
    "results/data/adult/provenance.json",
    "results/data/ctg/provenance.json",
    "results/trials/regression/default/mvg_binary.csv.gz",
    "results/trials/regression/default/jl_exact.csv.gz",
    "results/trials/adult/default/imgm.csv.gz",
    "results/summary/regression.csv",
    "results/tables/table3.csv",
    "results/audit/first_pc.csv",
    "results/readings/first_pc.csv",
    "results/figures/curves_first_pc.svg",
    "results/theory/dimension.csv",
]


@pytest.fixture(scope="module")
def noted(finished, tmp_path_factory):
    """Return by output file the inputs, and what was imported by a job of each verb."""
    project = finished.copy(tmp_path_factory.mktemp("noted") / "project")
    project.configure(training={"adult": {**TRAINING["adult"], "schemes": ["imgm"]}})
    (project.folder / "workflow" / "reproduction" / "__main__.py").write_text(MAIN)
    project.make("--force", "-c2", "--", *TARGETS)
    listed = project.snakemake("--detailed-summary", "--quiet", "all", "--", *TARGETS).output
    rows = [line.split("\t") for line in listed.splitlines() if line.startswith("results/")]
    inputs = {row[0]: {*row[4].split(",")} for row in rows}
    lines = (project.folder / "results" / "imports.jsonl").read_text().splitlines()
    return inputs, [json.loads(line) for line in lines]


def test_what_a_job_imports_is_among_its_inputs(noted):
    inputs, lines = noted
    checked = set()
    for words, modules in lines:
        written = f" {words.partition(' --out ')[2]}"
        made = [name for name in inputs if f" {name} " in written]
        if words.startswith(("table ", "figure ")):
            verb, name = words.split()[:2]
            ending = "csv" if verb == "table" else "svg"
            made = [f"results/{verb}s/{name}.{ending}"]
        elif words.startswith("data "):
            made = [f"results/data/{words.split()[1]}/provenance.json"]
        for output in made:
            needed = {name for name in modules if not name.endswith("__main__.py")}
            missed = {name for name in needed - inputs[output] if not REGISTRIES.fullmatch(name)}
            assert not missed, (words, missed)
            checked.add(words.split()[0])
    verbs = {"data", "trials", "train", "summary", "table", "figure", "sweep", "audit", "theory"}
    assert verbs <= checked


def test_the_entry_that_a_job_uses_is_among_its_inputs(noted):
    inputs, _ = noted
    name = "results/trials/regression/default/{}.csv.gz"
    for row, file in (("mvg_binary", "mvg.py"), ("jl_exact", "jl.py")):
        assert f"workflow/reproduction/mechanisms/{file}" in inputs[name.format(row)]
        assert "workflow/reproduction/experiments/tasks/regression.py" in inputs[name.format(row)]
        assert TINY["experiments"]["regression"]["mechanisms"]
