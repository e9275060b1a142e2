"""A person's own file: through the command line to a release, a receipt and an account."""

import errno
import json
import os
import re
import subprocess
import sys
import threading
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pytest
import samplefile
from samplefile import ROWS, SPECIFICATION, release, written

import matrixdp as mdp
from matrixdp import __main__, cli
from matrixdp.checks import InputError
from matrixdp.privacy import gaussian
from matrixdp.release import ledger, specification
from matrixdp.release.choices import options
from matrixdp.release.release import make

CLIPPED = {"query": "regression", "more": 'target = "income"\nmechanism = "clipped"'}


@pytest.mark.parametrize(
    ("query", "shape", "more"),
    [
        ("records", (400, 2), ""),
        ("mean", (1, 2), ""),
        ("second_moments", (2, 3), ""),
        ("covariance", (2, 4), ""),
        ("components", (2, 4), ""),
        ("components", (1, 4), "number = 1"),
        ("components", (2, 4), "max_norm = 1e5"),
        ("regression", (1, 2), 'target = "income"'),
        ("regression", (1, 2), 'target = "income"\nmechanism = "gaussian"'),
        ("regression", (1, 2), 'target = "income"\nmechanism = "clipped"'),
        (
            "regression",
            (1, 2),
            'target = "income"\nmechanism = "clipped"\nadjacency = "add_or_remove"',
        ),
        ("second_moments", (2, 3), 'mechanism = "clipped"'),
        ("covariance", (2, 4), 'mechanism = "clipped"'),
        ("components", (2, 4), 'mechanism = "clipped"\nmax_norm = 1e5'),
        ("components", (1, 4), 'number = 1\nmechanism = "clipped"'),
    ],
)
def test_every_query_gives_numbers_and_a_receipt(folder, query, shape, more):
    assert release(folder, query=query, more=more, options=["--even-if-useless"]) == 0
    lines = (folder / f"out/{query}.csv").read_text().splitlines()[1:]
    numbers = [line.split(",") for line in lines]
    assert (len(numbers), len(numbers[0])) == shape
    receipt = json.loads((folder / f"out/{query}.receipt.json").read_text())
    assert receipt["epsilon_at_delta"] <= 2
    assert receipt["epsilon_of_all_releases_so_far"] <= 2
    assert (folder / f"out/{query}.receipt.md").read_text().startswith("# Receipt")


def test_a_release_in_parts_states_the_budget_of_each(folder, capsys):
    given = {"query": "covariance", "more": 'mechanism = "clipped"'}
    assert cli.main(["recommend", str(written(folder, **given))]) == 0
    assert "mean: 50% of the budget, mu" in capsys.readouterr().out
    assert release(folder, **given) == 0
    receipt = json.loads((folder / "out/covariance.receipt.json").read_text())
    (charge,) = json.loads((folder / "people.csv.privacy.json").read_text())["releases"]
    assert charge["parts"] == receipt["parts"]
    assert "noise_std" not in receipt
    assert "no noise, and no interval covers it" in receipt["clipping"]
    assert [part["part"] for part in charge["parts"]] == ["mean", "lengths", "moments"]
    assert sum(part["share"] for part in charge["parts"]) == pytest.approx(1)
    together = np.linalg.norm([part["mu"] for part in charge["parts"]])
    assert together / (1 + 1e-12) <= charge["mu"] <= gaussian.mu(2.0, 1e-6)
    details = json.loads((folder / "out/covariance.details.json").read_text())
    assert {*details["noise_of_mean"]} == {"age", "income"}
    # The same request again has all files, at no cost.
    assert release(folder, out="again", **given) == 0
    assert json.loads((folder / "again/covariance.details.json").read_text()) == details
    assert len(json.loads((folder / "people.csv.privacy.json").read_text())["releases"]) == 1


def test_means_are_those_of_clipped_records(folder):
    assert release(folder, epsilon="9.0") == 0
    age, income = map(float, (folder / "out/mean.csv").read_text().splitlines()[1].split(","))
    clipped = np.clip(ROWS, 0, [120, 200000]).mean(axis=0)
    assert [age, income] == pytest.approx(clipped, rel=0.02)


def test_receipt_tells_nothing_of_the_data(folder):
    assert release(folder) == 0
    first = json.loads((folder / "out/mean.receipt.json").read_text())
    samplefile.save(folder / "people.csv", ROWS / 7)
    (folder / "people.csv.privacy.json").unlink()
    assert release(folder, out="second") == 0
    assert json.loads((folder / "second/mean.receipt.json").read_text()) == first


def test_second_release_beyond_the_total_is_refused(folder, capsys):
    assert release(folder) == 0
    before = (folder / "people.csv.privacy.json").read_text()
    assert release(folder, query="second_moments", out="second") == 2
    message = capsys.readouterr().err
    assert "allows (epsilon 2, delta 1e-06) in all" in message
    assert "would be spent of 2; ask for nothing more" in message
    assert message.count("\n") == 1
    assert (folder / "people.csv.privacy.json").read_text() == before
    assert not (folder / "second/mean.csv").exists()


def test_a_larger_total_allows_two_and_cannot_be_changed(folder, capsys):
    more = "total = {epsilon = 4.1, delta = 1e-5}"
    assert release(folder, more=more) == 0
    assert release(folder, query="second_moments", more=more, out="second") == 0
    assert (
        release(folder, more="label = 'b'\ntotal = {epsilon = 9, delta = 1e-5}", out="third") == 2
    )
    assert "state the same" in capsys.readouterr().err


def test_an_existing_release_stays(folder, capsys):
    assert release(folder) == 0
    kept = (folder / "out/mean.csv").read_text()
    assert release(folder, epsilon="3.0") == 2
    assert "state the same" in capsys.readouterr().err
    (folder / "people.csv.privacy.json").unlink()
    assert release(folder, epsilon="3.0") == 2
    assert "is there already" in capsys.readouterr().err
    assert not (folder / "people.csv.privacy.json").exists()
    assert (folder / "out/mean.csv").read_text() == kept


def test_arrays_go_by_number(folder):
    np.save(folder / "people.npy", ROWS)
    path = written(folder, file='"people.npy"')
    path.write_text(path.read_text().replace("age", "0").replace("income", "1"))
    assert cli.main(["release", str(path), "--out", str(folder / "out")]) == 0


def test_a_delta_that_no_safe_noise_leaves_is_never_asked_for(folder, capsys):
    more = "total = {epsilon = 60, delta = 1e-5}"
    assert release(folder, epsilon="9.0", more=more) == 2
    told = capsys.readouterr().err
    assert "safe noise on so many numbers adds more than any delta of 1e-07" in told
    assert "total = {epsilon = " in told
    assert told.endswith("} would fit\n")
    assert release(folder, epsilon="40", more="total = {epsilon = 60, delta = 1e-5}") == 2
    told = capsys.readouterr().err
    assert "alone needs more than any at epsilon 40, as e^epsilon multiplies" in told
    assert "so give an epsilon of at most" in told


@pytest.mark.parametrize("out", ["people.csv", "people.csv/below", "folder"])
def test_a_place_that_cannot_take_a_release_costs_nothing(folder, capsys, out):
    (folder / "folder/.mean.csv.part").mkdir(parents=True)
    assert release(folder, out=out) == 2
    told = capsys.readouterr().err
    assert "give another --out" in told
    assert told.count("\n") == 1
    assert not (folder / "people.csv.privacy.json").exists()


def test_a_first_release_needs_a_total_and_is_told_one(folder, capsys):
    path = written(folder)
    text = "\n".join(line for line in path.read_text().splitlines() if "total" not in line)
    path.write_text(text)
    words = ["release", str(path), "--out", str(folder / "out")]
    assert cli.main(words) == 2
    told = capsys.readouterr().err
    assert not (folder / "people.csv.privacy.json").exists()
    (proposal,) = re.findall("total = {.*?}", told)
    path.write_text(f"{proposal}\n{text}")
    assert cli.main(words) == 0
    # Afterwards that of the account counts.
    path.write_text(text)
    assert cli.main([*words[:-1], str(folder / "second")]) == 0


def test_an_account_elsewhere_for_data_that_cannot_be_written_to(folder, capsys, monkeypatch):
    opened = os.open

    def deny(path, flags, *mode, **given):
        if flags & os.O_CREAT and Path(path).parent == folder:
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, flags, *mode, **given)

    (folder / "accounts").mkdir()
    monkeypatch.setattr(os, "open", deny)
    assert release(folder) == 2
    assert (
        'permission denied); free some space, or state account = "..."' in capsys.readouterr().err
    )
    assert release(folder, more='account = "accounts/people.json"') == 0
    assert len(json.loads((folder / "accounts/people.json").read_text())["releases"]) == 1
    assert "accounts" not in (folder / "out/mean.receipt.json").read_text()


def test_a_useless_release_costs_nothing_unless_its_owner_insists(folder, capsys):
    assert release(folder, query="records") == 2
    assert "do not release this; give a larger epsilon" in capsys.readouterr().err
    assert not (folder / "people.csv.privacy.json").exists()
    assert release(folder, query="records", options=["--even-if-useless"]) == 0


def test_a_regression_that_a_constant_predicts_as_well_as_costs_nothing(folder, capsys):
    given = {"query": "regression", "more": 'target = "income"', "epsilon": "0.05"}
    path = written(folder, **given)
    (best, *_) = options(specification.read(path))
    assert best.error < 1
    assert release(folder, **given) == 2
    told = capsys.readouterr().err
    assert "R^2 of about -" in told
    assert "it hides everything, do not release this; give a larger epsilon" in told
    assert not (folder / "people.csv.privacy.json").exists()
    assert release(folder, **given, options=["--even-if-useless"]) == 0


def test_a_useless_regression_in_parts_says_so_and_costs_nothing(folder, capsys):
    more = 'target = "income"\nmechanism = "clipped"'
    assert release(folder, query="regression", more=more, epsilon="0.001") == 2
    told = capsys.readouterr().err
    assert "it hides everything, do not release this; give a larger epsilon, " in told
    assert not (folder / "people.csv.privacy.json").exists()


@pytest.mark.parametrize(
    ("given", "notes"),
    [
        ({"delta": "0.01"}, ["delta is 0.01, above 1 / records", "total.delta is 0.01"]),
        ({"epsilon": "11"}, ["epsilon is 11, above 10", "total.epsilon is 11"]),
        ({}, []),
    ],
)
def test_unusual_guarantees_are_carried_out_with_a_warning(folder, capsys, given, notes):
    assert release(folder, **given) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(notes)
    assert all(note in line for note, line in zip(notes, lines, strict=True))


def test_missing_and_infinite_values_end_no_release(folder):
    rows = [f"{cell},0" for cell in ["", " ", "NA", "nan", "null", "inf", "-inf", "1e999"] * 50]
    (folder / "people.csv").write_text("\n".join(["age,income", *rows]) + "\n\n")
    for fill, age in ((None, 60.0), (0, 0.0)):
        more = "missing = 'middle'" if fill is None else f"missing = {{age = {fill}}}"
        out = f"out{fill}"
        assert release(folder, epsilon="9.0", more=more, out=out) == 0
        receipt = json.loads((folder / out / "mean.receipt.json").read_text())
        assert receipt["missing"] == {"age": age, "income": 100_000}
        mean = float((folder / out / "mean.csv").read_text().splitlines()[1].split(",")[0])
        assert mean == pytest.approx((5 * age + 2 * 120 + 0) / 8, abs=2)
        (folder / "people.csv.privacy.json").unlink()


def test_help_opens_with_what_a_person_does(capsys):
    for words, start in ((["--version"], "matrixdp 0."), (["--help"], "usage: matrixdp")):
        with pytest.raises(SystemExit) as end:
            cli.main(words)
        assert end.value.code == 0
        told = capsys.readouterr().out
        assert told.startswith(start)
    assert told.index("Release a matrix of your own") < told.index("positional arguments")
    assert "people.toml" in told


def test_an_early_interrupt_is_no_traceback(monkeypatch):
    def interrupt(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("importlib.import_module", interrupt)
    monkeypatch.setattr(sys, "argv", ["matrixdp", "release", "none.toml"])
    assert __main__.main() == 130


def test_little_is_imported_before_an_interrupt_is_caught():
    program = "import sys; old = {*sys.modules}; import matrixdp; print(*{*sys.modules} - old)"
    package = Path(cli.__file__).parents[2]
    words = [sys.executable, "-S", "-c", program]
    done = subprocess.run(words, cwd=package, check=True, capture_output=True, text=True)
    extra = {name for name in done.stdout.split() if name.partition(".")[0] != "importlib"}
    assert extra <= {"matrixdp", "matrixdp.version", "warnings"}


def test_estimators_without_scikit_learn_say_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "matrixdp.estimators", raising=False)
    with pytest.raises(ImportError, match=r"PrivatePCA needs scikit-learn; `pip install"):
        mdp.PrivatePCA()


def test_the_library_needs_numpy_and_scipy_alone(folder):
    others = {*packages_distributions()} - {"numpy", "scipy", "matrixdp"}
    if not others >= {"pandas", "yaml"}:
        pytest.skip("nothing else is installed here")
    program = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {others!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
import matrixdp as mdp
from matrixdp import cli
sys.exit(cli.main(["release", {str(written(folder))!r}, "--out", {str(folder / "out")!r}]))
"""
    package = Path(cli.__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=package, check=False)
    assert done.returncode == 0
    assert (folder / "out/mean.csv").exists()


def test_of_many_at_once_only_as_many_pass_as_fit(folder):
    passed = []

    def one(label):
        text = SPECIFICATION.replace("QUERY", "mean").replace("epsilon = 2.0", "epsilon = 0.3")
        text = text.replace("delta = 1e-6", "total = {epsilon = 1.0, delta = 0}")
        (folder / f"{label}.toml").write_text(
            text.replace("MORE", f'missing = "refuse"\nlabel = "{label}"')
        )
        try:
            make(specification.read(folder / f"{label}.toml"), folder / str(label))
            passed.append(label)
        except InputError:
            pass

    threads = [threading.Thread(target=one, args=[label]) for label in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 3
    assert len(ledger.read(folder / "people.csv.privacy.json")["releases"]) == 3
