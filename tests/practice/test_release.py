"""A person's own file: through the command line to a release, a receipt and an account."""

import json
import subprocess
import sys
import threading
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pytest

from matrixdp import cli
from matrixdp.checks import InputError
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.practice import ledger
from matrixdp.privacy import gaussian
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import MeanQuery

ROWS = np.column_stack([np.linspace(0, 130, 400), np.linspace(3e5, 0, 400)])
SPECIFICATION = """
file = "people.csv"
query = "QUERY"
records = 400
epsilon = 2.0
delta = 1e-6
MORE
[bounds]
age = [0, 120]
income = [0, 200000]
"""


@pytest.fixture
def folder(tmp_path):
    np.savetxt(tmp_path / "people.csv", ROWS, delimiter=",", header="age,income", comments="")
    return tmp_path


def written(folder, query="mean", more="", **replaced):
    text = SPECIFICATION.replace("QUERY", query).replace("MORE", more)
    for old, new in replaced.items():
        lines = text.splitlines()
        text = "\n".join(
            f"{old} = {new}" if line.startswith(f"{old} =") else line for line in lines
        )
    path = folder / "spec.toml"
    path.write_text(text)
    return path


def release(folder, out="out", **given):
    return cli.main(["release", str(written(folder, **given)), "--out", str(folder / out)])


@pytest.mark.parametrize(
    ("query", "shape", "more"),
    [
        ("records", (400, 2), ""),
        ("mean", (1, 2), ""),
        ("second_moments", (2, 3), ""),
        ("first_component", (1, 2), ""),
        ("regression", (1, 2), 'target = "income"'),
        ("regression", (1, 2), 'target = "income"\nmechanism = "gaussian"'),
    ],
)
def test_every_query_gives_numbers_and_a_receipt(folder, query, shape, more):
    assert release(folder, query=query, more=more) == 0
    lines = (folder / f"out/{query}.csv").read_text().splitlines()[1:]
    numbers = [line.split(",") for line in lines]
    assert (len(numbers), len(numbers[0])) == shape
    receipt = json.loads((folder / f"out/{query}.receipt.json").read_text())
    assert receipt["epsilon_at_delta"] <= 2
    assert receipt["epsilon_of_all_releases_so_far"] <= 2
    assert (folder / f"out/{query}.receipt.md").read_text().startswith("# Receipt")


def test_means_are_those_of_clipped_records(folder):
    assert release(folder, epsilon="9.0") == 0
    age, income = map(float, (folder / "out/mean.csv").read_text().splitlines()[1].split(","))
    clipped = np.clip(ROWS, 0, [120, 200000]).mean(axis=0)
    assert [age, income] == pytest.approx(clipped, rel=0.02)


def test_receipt_tells_nothing_of_the_data(folder):
    assert release(folder) == 0
    first = json.loads((folder / "out/mean.receipt.json").read_text())
    np.savetxt(folder / "people.csv", ROWS / 7, delimiter=",", header="age,income", comments="")
    (folder / "people.csv.privacy.json").unlink()
    assert release(folder, out="second") == 0
    assert json.loads((folder / "second/mean.receipt.json").read_text()) == first


def test_second_release_beyond_the_total_is_refused(folder, capsys):
    assert release(folder) == 0
    before = (folder / "people.csv.privacy.json").read_text()
    assert release(folder, out="second") == 2
    message = capsys.readouterr().err
    assert "allows epsilon 2" in message
    assert message.count("\n") == 1
    assert (folder / "people.csv.privacy.json").read_text() == before
    assert not (folder / "second/mean.csv").exists()


def test_a_larger_total_allows_two_and_cannot_be_changed(folder, capsys):
    more = "total = {epsilon = 4.1, delta = 1e-5}"
    assert release(folder, more=more) == 0
    assert release(folder, more=more, out="second") == 0
    assert release(folder, more="total = {epsilon = 9, delta = 1e-5}", out="third") == 2
    assert "state the same" in capsys.readouterr().err


def test_an_existing_release_stays(folder, capsys):
    assert release(folder) == 0
    kept = (folder / "out/mean.csv").read_text()
    assert release(folder) == 2
    assert "is there already" in capsys.readouterr().err
    assert (folder / "out/mean.csv").read_text() == kept


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_arrays_go_by_number(folder, suffix):
    (np.save if suffix == "npy" else np.savez)(folder / f"people.{suffix}", ROWS)
    path = written(folder, file=f'"people.{suffix}"')
    path.write_text(path.read_text().replace("age", "0").replace("income", "1"))
    assert cli.main(["release", str(path), "--out", str(folder / "out")]) == 0


BAD_FILES = {
    "missing value": ("age,income\n1,\n", "no finite number in record 1, column 'income'"),
    "text": ("age,income\n1,2\nten,3\n", "no finite number in record 2, column 'age'"),
    "nan": ("age,income\n1,nan\n", "no finite number in record 1, column 'income'"),
    "infinite": ("age,income\n1,1e999\n", "no finite number"),
    "short line": ("age,income\n1,2\n3\n", "no finite number in record 2, column 'income'"),
    "too few": ("age,income\n1,2\n", "there are 1 records; the query was stated for 400"),
    "empty": ("", "has no column 'age'; it is empty"),
    "no column": ("age,incom\n1,2\n", "did you mean 'incom'"),
    "column twice": ("age,income,age\n1,2,3\n", "has the column 'age' twice"),
    "latin": ("age,income\n1,2\n\xe9,1\n".encode("latin-1"), "save it as UTF-8"),
}


@pytest.mark.parametrize("bad", BAD_FILES)
def test_a_bad_file_is_one_sentence_and_spends_nothing(folder, capsys, bad):
    content, message = BAD_FILES[bad]
    (folder / "people.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert release(folder) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert not (folder / "people.csv.privacy.json").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"query": "median"}, "query is 'median'"),
        ({"epsilon": "-1"}, "epsilon is -1"),
        ({"delta": "2"}, "delta is 2"),
        ({"delta": "1e-14"}, "safe noise on 2 numbers alone"),
        ({"records": "0"}, "records is 0"),
        ({"age": "[120, 0]"}, "each lower bound must be below"),
        ({"age": "[0]"}, "bounds.age is [0]"),
        ({"more": "epsilonn = 1"}, "did you mean 'epsilon'"),
        ({"more": 'target = "age"'}, "target is 'age'"),
        ({"more": 'mechanism = "mvg"'}, "mechanism is 'mvg'"),
        ({"more": "radius = -1"}, "radius is -1"),
        ({"more": "importance = {age = 0}"}, "age is 0"),
        ({"more": "total = 3"}, "total is 3"),
        ({"file": '"nothing.csv"'}, "nothing.csv is not there"),
        ({"file": '"people.xls"'}, "convert it"),
        ({"epsilon": "["}, "cannot be read as TOML"),
    ],
)
def test_a_bad_specification_is_one_sentence(folder, capsys, given, message):
    assert release(folder, **given) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_recommend_does_not_look_at_the_file(folder, capsys):
    path = written(folder, query="records")
    (folder / "people.csv").unlink()
    assert cli.main(["recommend", str(path)]) == 0
    assert "do not release this" in capsys.readouterr().out


def test_the_library_needs_numpy_and_scipy_alone(folder):
    others = {*packages_distributions()} - {"numpy", "scipy", "matrixdp"}
    assert {"pandas", "yaml", "threadpoolctl"} <= others
    program = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {others!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
from matrixdp import cli
sys.exit(cli.main(["release", {str(written(folder))!r}, "--out", {str(folder / "out")!r}]))
"""
    package = Path(cli.__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=package, check=False)
    assert done.returncode == 0
    assert (folder / "out/mean.csv").exists()


def mean(epsilon=1.0, mechanism=None):
    query = MeanQuery(Box((0.0,), (1.0,)), 50)
    return (mechanism or Gaussian()).calibrate(query, epsilon=epsilon, delta=1e-6)


def test_gaussian_budgets_add_in_squares(tmp_path):
    limit = {"epsilon": 2.0, "delta": 1.1e-6}
    total = gaussian.mu(2.0, 1e-6)
    count = int((total / gaussian.mu(0.5, 1e-6)) ** 2)
    for _ in range(count):
        ledger.spend(tmp_path / "a.json", {}, mean(0.5), limit)
    with pytest.raises(InputError, match="allows epsilon 2"):
        for _ in range(3):
            ledger.spend(tmp_path / "a.json", {}, mean(0.5), limit)


def test_pure_and_approximate_budgets_meet(tmp_path):
    limit = {"epsilon": 2.0, "delta": 1e-5, "pure": 1.0}
    path = tmp_path / "a.json"
    assert ledger.spend(path, {}, mean(1.0, Laplace()), limit) == pytest.approx(1)
    assert 1 < ledger.spend(path, {}, mean(0.9), limit) < 1.9
    with pytest.raises(InputError):
        ledger.spend(path, {}, mean(1.0, Laplace()), limit)


def test_pure_epsilon_as_mu_is_where_the_trade_offs_meet():
    mu = ledger.cost(mean(1.0, Laplace()))
    # mu-Gaussian DP implied by a pure epsilon: its delta curve is nowhere below.
    assert mu == pytest.approx(1.2320, abs=1e-3)
    grid = np.linspace(0, 1, 21)
    pure = np.maximum(0, (np.exp(1.0) - np.exp(grid)) / (1 + np.exp(1.0)))
    assert (gaussian.delta(grid, mu) >= pure - 1e-12).all()
    assert (gaussian.delta(grid, 0.99 * mu) < pure - 1e-12).any()


def test_of_many_at_once_only_as_many_pass_as_fit(tmp_path):
    limit, passed = {"epsilon": 1.0, "delta": 0}, []

    def one():
        try:
            ledger.spend(tmp_path / "a.json", {}, mean(0.3, Laplace()), limit)
            passed.append(1)
        except InputError:
            pass

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 3


@pytest.mark.parametrize("text", ["{", "[]", '{"total": {"epsilon": 1, "delta": 0}}'])
def test_a_damaged_account_is_refused(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match="no account of releases"):
        ledger.spend(tmp_path / "a.json", {}, mean(), {"epsilon": 1.0, "delta": 1e-6})
