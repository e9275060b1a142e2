"""Docstrings: every public name has an example, and all examples run."""

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import matrixdp as mdp

PACKAGE = Path(mdp.__file__).parent
MODULES = [
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for file in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", mdp.__all__)
def test_a_public_name_has_an_example(name):
    assert ">>> " in (getattr(mdp, name).__doc__ or "")


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(name)
    # What the docstring of the package imports stands for all of them.
    failed, attempted = doctest.testmod(module, extraglobs={"mdp": mdp, "np": np})
    assert attempted
    assert not failed


def test_the_page_has_every_public_name_and_nothing_of_this_machine(tmp_path):
    pytest.importorskip("pdoc", reason="pdoc makes the page; workflow/requirements.lock has it")
    program = f"import api, pathlib; api.main(pathlib.Path({str(tmp_path)!r}))"
    path = os.pathsep.join(str(folder) for folder in (PACKAGE.parent, PACKAGE.parents[1] / "docs"))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    page = (tmp_path / "matrixdp.html").read_text(encoding="utf-8")
    assert all(f'id="{name}"' in page for name in mdp.__all__)
    # Arguments that private bases explain; types by the names that readers know.
    assert "public number of records" in page
    assert "tuple[typing.Any" not in page
    assert str(PACKAGE.parents[1]) not in page
