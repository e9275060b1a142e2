"""AdaSSP from the command line has the errors of the paper's regression, as the experiments do."""

import csv

import numpy as np
import pytest
from packages import ROOT

from matrixdp import cli
from matrixdp.mechanisms.adassp import AdaSSP
from matrixdp.privacy.sensitivity import Box, NormalEquations
from reproduction.data import load, store

MIRROR = ROOT.parent / "shared/data"
KEPT = ROOT / "results/reference/summary/regression.csv"
#: Training records of the experiment, and its delta.
TRAIN, DELTA = 248, 1 / 248

SPECIFICATION = """
file = "train.npy"
query = "regression"
target = "5"
mechanism = "adassp"
intercept = false
records = 248
epsilon = {epsilon}
delta = {delta!r}
total = {{epsilon = {epsilon}, delta = {total!r}}}
missing = "refuse"
[bounds]
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Records of the experiment in [-1, 1], the target last: original where a mirror has them."""
    folder = tmp_path_factory.mktemp("liver")
    original = (MIRROR / "liver").is_dir()
    source = {"source": "original", "mirror": MIRROR} if original else {"source": "simulated"}
    store.prepare("liver", out=folder, **source)
    data = load(folder)
    target = data.features.index("drinks")
    assert (data.lower, data.upper) == ((-1.0,) * 6, (1.0,) * 6)
    order = [*np.delete(np.arange(6), target), target]
    return data.matrix[order].T, original


def splits(rows, trials):
    rng = np.random.default_rng(0)
    for _ in range(trials):
        order = rng.permutation(len(rows))
        yield rows[order[:TRAIN]], rows[order[TRAIN:]]


def error(coefficients, test):
    return np.sqrt(np.mean((test[:, :-1] @ coefficients - test[:, -1]) ** 2))


def released(folder, rows, epsilon, trials):
    """Return the errors of releases from the command line."""
    errors = []
    text = SPECIFICATION.format(epsilon=epsilon, delta=DELTA, total=DELTA + 1e-6)
    (folder / "s.toml").write_text(text + "\n".join(f"{k} = [-1, 1]" for k in range(6)))
    for number, (train, test) in enumerate(splits(rows, trials)):
        np.save(folder / "train.npy", train)
        out = folder / f"out{number}"
        words = ["release", str(folder / "s.toml"), "--out", str(out), "--even-if-useless"]
        assert cli.main(words) == 0
        (folder / "train.npy.privacy.json").unlink()
        header, numbers = csv.reader((out / "regression.csv").read_text().splitlines())
        assert header == [*map(str, range(5)), "intercept"]
        errors.append(error(np.array(numbers[:-1], float), test))
    return np.array(errors)


def simulated(rows, epsilon, trials):
    """Return the errors of the experiments' own simulation on the same splits."""
    query, errors = NormalEquations(Box.cube(6, -1.0, 1.0), TRAIN, target=5), []
    release = AdaSSP().calibrate(query, epsilon=epsilon, delta=DELTA)
    streams = np.random.default_rng(1).spawn(trials)
    for stream, (train, test) in zip(streams, splits(rows, trials), strict=True):
        moments = release.simulate(query.value(train.T), [stream])[0]
        errors.append(error(np.linalg.solve(moments[:-1, :-1], moments[:-1, -1]), test))
    return np.array(errors)


def apart(one, other):
    """Return how many standard errors the means of paired errors are apart."""
    off = one - other
    return abs(off.mean()) / (off.std(ddof=1) / np.sqrt(len(off)))


@pytest.mark.parametrize("epsilon", [1.0, 10.0])
def test_errors_are_those_of_the_experiments(records, tmp_path, monkeypatch, request, epsilon):
    rows, original = records
    trials = 1000 if request.config.getoption("--long") else 60
    monkeypatch.setattr("os.fsync", lambda handle: None)
    errors = released(tmp_path, rows, epsilon, trials)
    assert apart(errors, simulated(rows, epsilon, trials)) < 4
    if trials == 1000:
        # The test sees noise for twice the epsilon.
        assert apart(errors, simulated(rows, 2 * epsilon, trials)) > 4
    if original:
        with KEPT.open() as stream:
            table = [row for row in csv.DictReader(stream) if row["mechanism"] == "adassp"]
        (kept,) = [row for row in table if float(row["epsilon"]) == epsilon]
        spread = np.hypot(errors.std() / np.sqrt(trials), float(kept["sd"]) / 10)
        assert abs(errors.mean() - float(kept["mean"])) < 4 * spread
