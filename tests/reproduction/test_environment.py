"""pyproject.toml, the locks and environment.yml describe one environment."""

import os
import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from packages import PATH, ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from matrixdp.version import VERSION

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# What runs, and what checks.
LOCK, TOOLS = (
    (ROOT / "workflow" / f"{name}.lock").read_text() for name in ("requirements", "development")
)
RUN = [
    *PROJECT["project"]["dependencies"],
    *PROJECT["project"]["optional-dependencies"]["workflow"],
    *PROJECT["project"]["optional-dependencies"]["training"],
]
NAMED = [*RUN, *PROJECT["dependency-groups"]["dev"]]
DIRECT = list({one.name: one for one in map(Requirement, NAMED)}.values())
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())


def entries(lock):
    """Return (requirement, hashes) for each entry of a lock; any other line is an error."""
    found = []
    for entry in re.sub(r"\\\n", " ", lock).splitlines():
        if not entry.strip() or entry.startswith("#"):
            continue
        text, *hashes = re.split(r"\s+--hash=", entry.strip())
        found.append((Requirement(text), hashes))
    return found


def pins(lock):
    return {
        canonicalize_name(one.name): str(one.specifier).removeprefix("==")
        for one, _ in entries(lock)
    }


@pytest.mark.parametrize("direct", DIRECT, ids=lambda one: one.name)
def test_the_lock_meets_each_direct_dependency(direct):
    runs = {Requirement(one).name for one in RUN}
    lock = LOCK if direct.name in runs else TOOLS
    pinned = pins(lock)[canonicalize_name(direct.name)]
    named = [one for one in map(Requirement, NAMED) if one.name == direct.name]
    assert all(pinned in one.specifier for one in named)


def test_the_locks_name_no_index_and_no_folder():
    address = r"index-url|find-links|://|file:|(^|\s)[./~]\S*/"
    assert not re.search(address, LOCK + TOOLS, re.MULTILINE)


def test_the_locks_agree_and_tools_of_tests_are_in_one():
    both = pins(LOCK).keys() & pins(TOOLS).keys()
    assert {name: pins(LOCK)[name] for name in both} == {name: pins(TOOLS)[name] for name in both}
    # Of a tool that results do not rest on, a new version reruns nothing.
    assert not {"ruff", "mypy", "pytest", "hypothesis", "snakefmt"} & pins(LOCK).keys()


def test_conda_has_the_locked_versions_of_what_results_rest_on_and_no_tools_of_tests():
    *named, pip = CONDA["dependencies"]
    assert named.pop() == "pip"
    conda = dict(re.fullmatch(r"(\S+) =?(>?\S+)", one).groups() for one in named)
    conda |= dict(one.split("==") for one in pip["pip"])
    assert conda.pop("python") == PROJECT["project"]["requires-python"]
    tools = {Requirement(one).name for one in PROJECT["dependency-groups"]["dev"]}
    rest = [one.name for one in DIRECT if one.name not in tools]
    assert conda == {name: pins(LOCK)[canonicalize_name(name)] for name in rest}


def test_all_places_name_the_same_oldest_python():
    oldest = PROJECT["tool"]["mypy"]["python_version"]
    assert PROJECT["project"]["requires-python"] == f">={oldest}"
    assert f"version_info < ({oldest.replace('.', ', ')})" in (ROOT / "Makefile").read_text()
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    assert f"--python-version {oldest}" in (ROOT / "CONTRIBUTING.md").read_text()


def test_all_places_name_the_version_of_the_last_release():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first, last, *_ = re.findall(r"^## (.+)$", changes, re.MULTILINE)
    assert first == "Unreleased"
    assert last == citation["version"] == VERSION


@pytest.mark.nightly
def test_only_neural_experiments_need_jax():
    program = """
import importlib, pkgutil, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("jax", "jaxlib", "optax"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
import matrixdp, reproduction
walk = pkgutil.walk_packages
for module in [
    *walk(matrixdp.__path__, "matrixdp.", lambda name: None),
    *walk(reproduction.__path__, "reproduction.", lambda name: None),
]:
    if not module.name.endswith(("__main__", ".training")):
        importlib.import_module(module.name)
try:
    importlib.import_module("reproduction.experiments.training")
except matrixdp.InputError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("jax cannot be imported (jax), but neural experiments need it")
