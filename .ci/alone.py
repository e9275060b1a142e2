"""Test the library alone: its wheel, in an environment with what its tests need and no more.

    python .ci/alone.py [FILE]

The environment takes its packages from the one that runs this, so that no network is needed for
them. The verbs run there too, in a folder outside of the project. FILE gets the names of the tests
that have passed here, a line each, for `pytest --passed FILE`: elsewhere they would do the same, by
the same versions. A test that is skipped for want of a package is not among them.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from xml.etree import ElementTree

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]

#: What the library needs, and its tests; pytest-xdist runs them side by side.
NEEDED = ("numpy", "scipy", "pytest", "hypothesis", "mpmath", "pytest-xdist")

#: What a copy of the sources leaves behind.
COMPILED = shutil.ignore_patterns("__pycache__")

#: A file that releases the mean of two columns.
SPECIFICATION = """
file = "people.csv"
query = "mean"
records = 400
epsilon = 1.0
total = {epsilon = 2.0, delta = 1e-5}
missing = "refuse"
[bounds]
age = [0, 120]
income = [0, 200000]
"""


def with_requirements(*names: str) -> set[str]:
    """Return the names of distributions and of all that they require here."""
    needed: set[str] = set()
    pending = [*names]
    while pending:
        name = pending.pop()
        if name in needed:
            continue
        needed.add(name)
        for text in distribution(name).requires or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                pending.append(requirement.name)
    return needed


def main() -> None:
    """Make the environment, install the wheel, and run tests and verbs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # A copy: what an earlier build has left would come along.
        shutil.copytree(ROOT / "src/matrixdp", folder / "project/src/matrixdp", ignore=COMPILED)
        for file in ("pyproject.toml", "LICENSE"):
            shutil.copy(ROOT / file, folder / "project")
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder]
        if not importlib.util.find_spec("pip"):
            pip = ["uv", "build", "--quiet", "--wheel", "--out-dir", folder]
        subprocess.run([*pip, folder / "project"], check=True)
        venv.create(folder / "bare")
        (site,) = (folder / "bare/lib").glob("python3*/site-packages")
        for needed in with_requirements(*NEEDED):
            for file in distribution(needed).files or []:
                top, target = Path(file.parts[0]), site / file.parts[0]
                if top.name not in ("..", "__pycache__") and not target.exists():
                    target.symlink_to(distribution(needed).locate_file(top))
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            folders = {name.partition("/")[0] for name in archive.namelist()}
            assert all(name.startswith("matrixdp") for name in folders), folders
            archive.extractall(site)
        python = folder / "bare/bin/python"
        variables = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
        # As `make test`: two processes on two cores.
        variables["OPENBLAS_NUM_THREADS"] = "1"
        verbs(python, folder, variables)
        words = ["-P", "-m", "pytest", "-q", "-o", "pythonpath=", "-p", "no:cacheprovider"]
        words += ["-n", "2", "--dist", "worksteal", "--junit-xml", folder / "tests.xml"]
        words += ["-o", "junit_family=xunit1"]
        subprocess.run([python, *words, "tests/matrixdp"], cwd=ROOT, env=variables, check=True)
        for out in sys.argv[1:]:
            Path(out).write_text("\n".join(passed(folder / "tests.xml")))


def passed(report: Path) -> Iterator[str]:
    """Yield the names of the tests of a report by pytest that have passed."""
    for case in ElementTree.parse(report).iter("testcase"):
        # What failed, was skipped or could not be read has an element of its own.
        if not len(case):
            yield f"{case.attrib['file']}::{case.attrib['name']}"


def verbs(python: Path, folder: Path, variables: dict[str, str]) -> None:
    """Run the three verbs on a file of 400 records."""
    (folder / "people.toml").write_text(SPECIFICATION)
    rows = [f"{20 + k % 60},{1000 * k}" for k in range(200)] * 2
    (folder / "people.csv").write_text("\n".join(["age,income", *rows]) + "\n")
    for verb, file in (("recommend", "toml"), ("release", "toml"), ("account", "csv")):
        words = [python, "-m", "matrixdp", verb, f"people.{file}"]
        subprocess.run(words, cwd=folder, env=variables, check=True)


if __name__ == "__main__":
    main()
