"""No variable of the host changes a result unseen: each row, with the harm that it averts."""

from __future__ import annotations

import fnmatch
import os
import shutil
import subprocess
import sys

import pytest
from packages import PATH
from test_setup import Folder, script

from reproduction import environment
from reproduction.report.page import machine

#: What a host has set that changes results or is fatal, and a program that shows it.
HARMFUL = [
    ("JAX_ENABLE_X64", "1", "import jax; print(jax.config.jax_enable_x64)"),
    ("MPLBACKEND", "jupyter", "import matplotlib.figure; print('works')"),
    ("MATPLOTLIBRC", os.devnull, "import matplotlib; print(matplotlib.matplotlib_fname())"),
]

#: What a host has set that changes no result, and an expression that shows that Python heeds it.
FREE = [
    ("PYTHONHASHSEED", "7", "hash('a')"),
    ("LC_ALL", "C", "os.environ['LC_ALL']"),
    ("LANG", "C", "os.environ['LANG']"),
    ("TZ", "Asia/Tokyo", "time.localtime(0).tm_hour"),
]

#: What the Makefile keeps from the set-up and from runs.
OF_MAKE = ["PYTHONDONTWRITEBYTECODE", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_CONSTRAINT"]
OF_MAKE += ["PIP_NO_DEPS", "UV_CONSTRAINT", "UV_OVERRIDE"]

START = "import reproduction.__main__\n"


def python(program, variables):
    """Return what a program prints, or its last word on an error."""
    unset = [*(row[0] for row in FREE), *environment.FIXED, *environment.RECORDED]
    rest = {
        name: text
        for name, text in os.environ.items()
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in unset)
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**rest, "PATH": os.environ["PATH"], "PYTHONPATH": PATH, **variables},
        capture_output=True,
        text=True,
    )
    return (done.stdout or done.stderr).strip()


def write(folder, variables):
    """Return a file that a command writes."""
    words = ["theory", "ellipses", "--out", str(folder / "ellipses.csv")]
    program = f"from reproduction import cli; cli.main({words})"
    assert python(START + program, variables) == ""
    return (folder / "ellipses.csv").read_bytes()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write(tmp_path_factory.mktemp("plain"), {})


def test_a_command_sets_or_removes_all_that_is_fixed_and_nothing_else():
    host = {name.replace("*", "ENABLE_X64"): "of the host" for name in environment.FIXED}
    environment.fix(variables := {**host, "PATH": "of the host"})
    environment.fix(plain := {})
    assert variables == {**plain, "PATH": "of the host"}
    assert plain["OPENBLAS_NUM_THREADS"] == "1"


@pytest.mark.parametrize(("name", "text", "program"), HARMFUL, ids=[row[0] for row in HARMFUL])
def test_a_fixed_variable_is_the_same_in_every_command(name, text, program):
    plain = python(START + program, {})
    assert python(START + program, {name: text}) == plain
    # Without the start of a command it would be another matter.
    assert python(program, {name: text}) != plain


@pytest.mark.parametrize(("name", "text", "sign"), FREE, ids=[row[0] for row in FREE])
def test_a_free_variable_changes_no_byte(name, text, sign, written, tmp_path):
    show = f"import os, time; print({sign})"
    assert python(show, {name: text}) != python(show, {name: "C" if name == "TZ" else "0"})
    assert write(tmp_path, {name: text}) == written


def test_what_the_host_may_choose_is_on_the_page(monkeypatch):
    for name in environment.RECORDED:
        monkeypatch.delenv(name, raising=False)
    assert not environment.RECORDED.keys() & machine.facts().keys()
    for name in environment.RECORDED:
        monkeypatch.setenv(name, "another")
        environment.fix(variables := {name: "another"})
        assert variables[name] == "another"
        assert machine.facts()[name] == "another"


def test_a_platform_that_jax_lacks_is_one_sentence():
    program = (
        "from matrixdp.checks import InputError\n"
        "try:\n    import reproduction.experiments.training\n"
        "except InputError as error:\n    print(error)"
    )
    assert python(START + program, {"JAX_PLATFORMS": "cpu"}) == ""
    said = python(START + program, {"JAX_PLATFORMS": "abacus"})
    assert said.startswith("JAX_PLATFORMS is 'abacus', which jax cannot use here (")
    assert said.count("\n") == 0


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make here")
def test_make_keeps_its_variables_from_the_set_up(tmp_path, monkeypatch):
    folder = Folder(tmp_path)
    script(folder.uv, f"env >{folder.calls}")
    for name in [*OF_MAKE, "PYTHONPATH", "PIP_INDEX_URL"]:
        monkeypatch.setenv(name, "of the host")
    for name in ("HOME", "USER"):
        monkeypatch.delenv(name, raising=False)
    assert folder.make("setup")[0] == 0
    variables = dict(line.partition("=")[::2] for line in folder.noted() if "=" in line)
    # A mirror of packages stays.
    assert variables["PIP_INDEX_URL"] == "of the host"
    assert variables["HOME"] == f"{folder.root}/.snakemake"
    assert variables["USER"] == "nobody"
    assert variables["PYTHONPATH"] == f"{folder.root}/src:{folder.root}/workflow"
    assert not {*OF_MAKE} & variables.keys()


def test_what_is_compiled_is_kept_and_a_damaged_file_of_it_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = (
        "import reproduction.experiments.training, jax\n"
        "print(float(jax.jit(lambda x: (x @ x).sum())(jax.numpy.ones((9, 9)))))"
    )
    assert python(START + program, {}) == "729.0"
    files = [*(tmp_path / ".snakemake/jax").glob("*-cache")]
    for file in files:
        file.write_bytes(file.read_bytes()[:99])
    assert files
    assert python(START + program, {}) == "729.0"
