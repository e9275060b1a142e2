"""What `import matrixdp` gives: every public name has an example, all examples run, `make docs`."""

import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp import cli

PACKAGE = Path(mdp.__file__).parent
MODULES = [
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for file in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", mdp.__all__)
def test_a_public_name_has_an_example(name):
    assert ">>> " in (getattr(mdp, name).__doc__ or "")


@pytest.mark.parametrize("name", ["Covariance", "PrivatePCA", "PrivateRidge", "MeanQuery"])
def test_help_explains_the_arguments_of_a_base(name):
    if name != "MeanQuery":
        pytest.importorskip("sklearn")
    arguments = inspect.signature(getattr(mdp, name)).parameters
    assert all(re.search(rf"\b{one}\b", getattr(mdp, name).__doc__) for one in arguments)


def test_a_name_that_is_near_says_which_one_is_meant():
    importlib.import_module("matrixdp.release")
    with pytest.raises(TypeError, match="call matrixdp.make_release"):
        mdp.release("people.toml")
    with pytest.raises(AttributeError, match="did you mean PrivateRidge"):
        _ = mdp.ridge


def test_editors_complete_what_a_request_may_state():
    from matrixdp.release import keys, missing

    hints = get_type_hints(keys.Settings)
    assert {*hints} == {*keys.KEYS} - {"file", "separator", "decimal", "account"}
    words = {
        "query": [*keys.every()],
        "mechanism": [keys.RECOMMENDED, *keys.MECHANISMS, keys.CLIPPED],
        "adjacency": [*keys.RELATIONS],
        "missing": [missing.REFUSE, missing.MIDDLE, missing.PRESENT],
    }
    for name, allowed in words.items():
        kinds = [kind for kind in get_args(hints[name]) if get_origin(kind) is Literal]
        assert [word for kind in kinds for word in get_args(kind)] == allowed
    for verb in (mdp.make_release, mdp.private_bounds, mdp.recommend, mdp.sums):
        hint = get_type_hints(inspect.unwrap(verb))["settings"]
        assert get_args(hint) == (keys.Settings,)


def test_the_version_is_that_of_the_command(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"matrixdp {mdp.__version__}\n"


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, tmp_path, monkeypatch):
    module = importlib.import_module(name)
    # One keeps an account.
    monkeypatch.chdir(tmp_path)
    # The package's docstring imports these names once for all examples.
    result = doctest.testmod(module, extraglobs={"mdp": mdp, "np": np})
    assert result.attempted
    assert not result.failed


def test_the_page_has_every_public_name_and_no_path_of_this_machine(tmp_path):
    pytest.importorskip("pdoc", reason="pdoc makes the page; workflow/requirements.lock has it")
    program = f"import api, pathlib; api.main(pathlib.Path({str(tmp_path)!r}))"
    path = os.pathsep.join(str(folder) for folder in (PACKAGE.parent, PACKAGE.parents[1] / "docs"))
    process = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not process.stderr
    page = (tmp_path / "matrixdp.html").read_text(encoding="utf-8")
    assert all(f'id="{name}"' in page for name in mdp.__all__)
    # Arguments that private bases explain, and types by the names that readers know.
    assert "public number of records" in page
    assert "tuple[typing.Any" not in page
    assert str(PACKAGE.parents[1]) not in page
