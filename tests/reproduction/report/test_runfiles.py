"""The tests make tables and figures from what the rules make them from."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import runfiles
from packages import PATH, ROOT

from reproduction.report import inputs


@pytest.mark.nightly
def test_tables_and_figures_are_made_from_what_the_rules_list(tmp_path):
    """The quick run has every experiment and training."""
    words = ["-n", "--forceall", "--printshellcmds", "--quiet", "host", "--workflow-profile=none"]
    words += ["--snakefile", ROOT / "Snakefile", "--directory", tmp_path]
    words += ["--configfile", ROOT / "workflow/config/quick.yaml"]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *map(str, words)],
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
    )
    folder = "results/quick/"
    commands = re.findall(r"reproduction (?:table|figure) (\w+) (.*) --out (\S+)", done.stdout)
    planned = {}
    for recipe, words, out in commands:
        name = out.removeprefix(folder).rpartition(".")[0]
        options = [word.removeprefix("--") for word in words.split() if word.startswith("--")]
        of = dict(option.split("=") for option in options)
        files = [word for word in words.split() if not word.startswith("--")]
        planned[name] = (recipe, of), {inputs._name(Path(f), Path(folder)) for f in files}
    # Another run than a full one has nothing beside the kept one of another seed.
    names = [f"tables/{name}" for name in runfiles.TABLES if name != "second_seed"]
    names += [f"figures/{name}" for name in runfiles.FIGURES]
    assert planned == {name: (runfiles.recipe(name), {*runfiles.needed(name)}) for name in names}
