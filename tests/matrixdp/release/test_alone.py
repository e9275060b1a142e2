"""The library stands alone: what it imports, and what its help and its messages say."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import samplefile

import matrixdp
from matrixdp import cli

PACKAGE = Path(matrixdp.__file__).parent

#: What a release must not load.
HEAVY = {"pandas", "yaml", "matplotlib", "jax", "reproduction", "sklearn", "pyarrow"}


def loaded(*words):
    """Return the packages that a verb of the library loads in a process of its own."""
    program = f"""
import contextlib, io, json, sys
old = {{*sys.modules}}
import matrixdp
from matrixdp import cli
with contextlib.redirect_stdout(io.StringIO()):
    assert cli.main({[*map(str, words)]!r}) == 0
print(json.dumps(sorted({{name.partition(".")[0] for name in {{*sys.modules}} - old}})))
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=PACKAGE.parent, check=True, capture_output=True, text=True)
    return {*json.loads(done.stdout)}


def test_no_verb_loads_what_the_study_needs(tmp_path):
    samplefile.save(tmp_path / "people.csv")
    specification = samplefile.written(tmp_path)
    for words in (
        ("recommend", specification),
        ("release", specification, "--out", tmp_path / "out"),
        ("account", tmp_path / "people.csv"),
    ):
        packages = loaded(*words)
        assert "numpy" in packages
        assert not packages & HEAVY


def test_help_lists_the_three_verbs_and_a_page_that_is_shipped(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert [*cli.VERBS] == ["recommend", "release", "account"]
    assert re.findall(r"^    (\w+)\b", text, re.MULTILINE) == [*cli.VERBS]
    (page,) = [line for line in text.splitlines() if line.endswith(".md")]
    assert Path(page).read_text(encoding="utf-8").startswith("# A private release")


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_explains_itself(verb, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([verb, "--help"])
    text = capsys.readouterr().out
    assert end.value.code == 0
    assert text.startswith(f"usage: matrixdp {verb} ")
    # Usage, a sentence, arguments.
    assert text.count("\n\n") >= 2


#: Windows has neither of these.
WINDOWS = """
import os, signal, sys
sys.modules["fcntl"] = None
for module, names in ((os, ("geteuid", "posix_fallocate", "O_NOFOLLOW")), (signal, ("SIGHUP",))):
    for name in names:
        delattr(module, name)
"""


def test_without_the_locks_of_an_account_all_else_works(tmp_path):
    samplefile.save(tmp_path / "people.csv")
    specification = samplefile.written(tmp_path)
    program = f"""{WINDOWS}
import numpy as np
import matrixdp as mdp
from matrixdp import cli
for name in mdp.__all__:
    getattr(mdp, name)
rows = np.zeros((400, 2))
settings = dict(query="mean", bounds=(0, 1), epsilon=1, missing="refuse")
mdp.make_release(rows, **settings)
mdp.PrivatePCA(epsilon=1, bounds=(0, 1)).fit(rows)
assert cli.main(["recommend", {str(specification)!r}]) == 0
assert cli.main(["account", {str(tmp_path / "people.csv")!r}]) == 0
for refused in (
    lambda: mdp.Account("a.json", epsilon=1, delta=0),
    lambda: mdp.make_release(rows, **settings, account="a.json", total=dict(epsilon=1, delta=0)),
    lambda: mdp.make_release({str(specification)!r}),
):
    try:
        refused()
    except mdp.InputError as error:
        print(error)
"""
    pytest.importorskip("sklearn", reason="the estimators need scikit-learn; it is an extra")
    words = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True)
    sentences = done.stdout.splitlines()[-3:]
    assert all("account needs Linux or macOS" in sentence for sentence in sentences)
    assert not [*tmp_path.glob("*.privacy.*")]
