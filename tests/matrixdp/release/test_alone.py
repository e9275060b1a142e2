"""The library stands alone: what it imports, what its help says, and where it has no locks."""

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from harness import write

import matrixdp as mdp
from matrixdp import cli

PACKAGE = Path(mdp.__file__).parent


def execute(program, *options, folder=PACKAGE.parent):
    """Return what a program prints in a process of its own."""
    words = [sys.executable, *options, "-c", program]
    done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def test_every_verb_needs_numpy_and_scipy_alone(folder):
    others = {*packages_distributions()} - {"numpy", "scipy", "matrixdp"}
    if not others >= {"pandas", "yaml"}:
        pytest.skip("nothing else is installed here")
    spec = str(write(folder))
    verbs = [["recommend", spec], ["release", spec, "--out", str(folder / "out")]]
    verbs.append(["account", str(folder / "people.csv")])
    execute(f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {others!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
import matrixdp as mdp
from matrixdp import cli
for words in {verbs!r}:
    assert cli.main(words) == 0
query = mdp.MeanQuery(mdp.Box.cube(1, 0, 1), n_records=9)
result = mdp.audit(mdp.Gaussian(), query, epsilon=1, delta=1e-6, runs=500)
assert result.status == "certified"
""")
    assert (folder / "out/mean.csv").exists()


def test_little_is_imported_before_an_interrupt_is_caught():
    program = "import sys; old = {*sys.modules}; import matrixdp; print(*{*sys.modules} - old)"
    extra = {name for name in execute(program, "-S").split() if "importlib" not in name}
    assert extra <= {"matrixdp", "matrixdp.version", "warnings"}


def test_estimators_without_scikit_learn_say_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "matrixdp.estimators", raising=False)
    with pytest.raises(ImportError, match=r"PrivatePCA needs scikit-learn; `pip install"):
        mdp.PrivatePCA()


@pytest.mark.parametrize("verb", ["", *cli.VERBS])
def test_help_lists_the_verbs_and_a_page_that_is_shipped(capsys, verb):
    with pytest.raises(SystemExit) as end:
        cli.main([*filter(None, [verb]), "--help"])
    text = capsys.readouterr().out
    assert end.value.code == 0
    assert text.startswith(f"usage: matrixdp {verb} ".replace("  ", " "))
    if not verb:
        assert re.findall(r"^    (\w+)\b", text, re.MULTILINE) == [*cli.VERBS]
        (page,) = [line for line in text.splitlines() if line.endswith(".md")]
        assert Path(page).read_text(encoding="utf-8").startswith("# A private release")


#: Windows has neither of these.
WINDOWS = """
import os, signal, sys
sys.modules["fcntl"] = None
for module, names in ((os, ("geteuid", "posix_fallocate", "O_NOFOLLOW")), (signal, ("SIGHUP",))):
    for name in names:
        delattr(module, name)
"""


def test_without_the_locks_of_an_account_all_else_works(folder):
    pytest.importorskip("sklearn", reason="the estimators need scikit-learn; it is an extra")
    spec = str(write(folder))
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
assert cli.main(["recommend", {spec!r}]) == 0
assert cli.main(["account", {str(folder / "people.csv")!r}]) == 0
for refused in (
    lambda: mdp.Account("a.json", epsilon=1, delta=0),
    lambda: mdp.make_release(rows, **settings, account="a.json", total=dict(epsilon=1, delta=0)),
    lambda: mdp.make_release({spec!r}),
):
    try:
        refused()
    except mdp.InputError as error:
        print(error)
"""
    sentences = execute(program, "-W", "ignore", folder=folder).splitlines()[-3:]
    assert all("account needs Linux or macOS" in sentence for sentence in sentences)
    assert not [*folder.glob("*.privacy.*")]


def test_a_reader_who_stops_is_no_error(folder):
    command = [sys.executable, "-m", "matrixdp", "recommend", str(write(folder))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.wait()
