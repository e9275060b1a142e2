"""What people ask of a release, on public data sets and on many records with heavy tails.

Each is asked from the command line and from Python. Answers are held against those without noise by
what the release itself says of its noise. `make test-all` (``--nightly``) adds the file of 100,000
records.
"""

import json
from functools import cache

import numpy as np
import pytest
from sklearn import datasets
from sklearn.linear_model import LinearRegression, Ridge

import matrixdp as mdp
from matrixdp import cli

BUDGET = {"epsilon": 4.0, "delta": 1e-6}
LONG = "heavy tails"


@cache
def records(name):
    """Return records whose last column is a target, (n, m)."""
    if name == "breast cancer":
        return datasets.load_breast_cancer().data[:, [1, 4, 8, 0]]
    if name == "wine":
        return datasets.load_wine().data[:, [5, 9, 10, 6]]
    if name == "diabetes":
        return np.column_stack(datasets.load_diabetes(return_X_y=True))[:, [2, 3, 8, 10]]
    rng = np.random.default_rng(1)
    X = rng.standard_t(3, (100_000, 20)) @ rng.standard_normal((20, 20)) / 20
    X[:, -1] = X[:, :-1] @ rng.standard_normal(19) + 0.1 * rng.standard_t(3, len(X))
    return X


class Case:
    """A file of records with a column of people, who have two rows each, and its bounds.

    Attributes:
        X: records, clipped to the bounds, which few of them exceed.
        names, low, high: of the columns and their bounds.
    """

    def __init__(self, folder, name):
        rows = records(name)
        self.folder, self.names = folder, [f"c{k}" for k in range(rows.shape[1])]
        self.low, self.high = np.quantile(rows, [0.001, 0.999], axis=0)
        self.X = np.clip(rows, self.low, self.high)
        self.people = np.arange(len(rows)) // 2
        table = np.column_stack([rows, self.people])
        header = ",".join([*self.names, "person"])
        np.savetxt(folder / "file.csv", table, delimiter=",", header=header, comments="")

    @property
    def half(self):
        return (self.high - self.low) / 2

    @property
    def sides(self):
        """Arguments of an estimator of all columns."""
        return {**BUDGET, "bounds": dict(enumerate(zip(self.low, self.high, strict=True)))}

    @property
    def line(self):
        """Arguments of a regression of the last column."""
        bounds = self.sides["bounds"]
        return {**BUDGET, "target_bounds": bounds.pop(len(self.low) - 1), "bounds": bounds}

    def write(self, text):
        """Write a specification of the file, its records and bounds."""
        for old in self.folder.glob("file.csv.privacy*"):
            old.unlink()
        bounds = zip(self.names, self.low.tolist(), self.high.tolist(), strict=True)
        lines = [f"{name} = [{low!r}, {high!r}]" for name, low, high in bounds]
        head = f'file = "file.csv"\nrecords = {len(self.X)}\nmissing = "refuse"\n'
        head += "total = {epsilon = 10, delta = 1e-5}"
        several = text.partition("[[release]]")
        parts = [head, several[0], "[bounds]", *lines, *several[1:]]
        (self.folder / "s.toml").write_text("\n".join(parts[:-2]) + "\n" + "".join(parts[-2:]))
        return str(self.folder / "s.toml")

    def release(self, query, out="out", **keys):
        """Release by the command line; return the numbers, the receipt and the details."""
        keys = {**BUDGET, **keys, "label": out}
        if query == "regression":
            keys["target"] = self.names[-1]
        text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())
        path, folder = self.write(f'query = "{query}"\n{text}'), self.folder / out
        assert cli.main(["release", path, "--out", str(folder), "--even-if-useless"]) == 0
        lines = (folder / f"{query}.csv").read_text().splitlines()[1:]
        cells = [line.split(",") for line in lines]
        named = query in ("second_moments", "covariance")
        numbers = np.array([[float(cell) for cell in row[named:]] for row in cells])
        receipt = json.loads((folder / f"{query}.receipt.json").read_text())
        file = folder / f"{query}.details.json"
        return numbers, receipt, json.loads(file.read_text()) if file.exists() else {}


def covariance_and_components(case):
    numbers, _, details = case.release("covariance", mechanism="goe")
    exact = np.cov(case.X.T, bias=True)
    limits = details["interval_95"]["covariance"]
    inside = [
        limits[row][column][0] <= exact[i, j] <= limits[row][column][1]
        for i, row in enumerate(case.names)
        for j, column in enumerate(case.names)
    ]
    assert all(inside)
    assert (np.linalg.eigvalsh(numbers[:, 1:] / np.outer(case.half, case.half)) > -1e-9).all()
    numbers, _, details = case.release("components", "components", number=2, mechanism="goe")
    values = np.linalg.eigvalsh(exact / np.outer(case.half, case.half))[::-1][:2]
    limits = np.array(details["interval_95"]["eigenvalue"])[:2]
    assert ((limits[:, 0] <= values) & (values <= limits[:, 1])).all()
    fitted = mdp.Covariance(**case.sides).fit(case.X)
    assert fitted.covariance_.shape == exact.shape
    assert mdp.PrivatePCA(2, **case.sides).fit(case.X).components_.shape == (2, len(exact))


def clipped_moments(case):
    numbers, receipt, details = case.release("covariance", mechanism="clipped")
    assert [part["part"] for part in receipt["parts"]] == ["mean", "lengths", "moments"]
    assert details["radius_in_half_ranges"] > 0
    noise = np.array([*details["noise_of_mean"].values()])
    assert (np.abs(numbers[:, 0] - case.X.mean(axis=0)) < 5 * noise).all()
    fitted = mdp.Covariance(**case.sides, mechanism="clipped").fit(case.X)
    assert (np.abs(fitted.location_ - case.X.mean(axis=0)) < 5 * noise).all()


def account_and_events(case):
    case.release("mean", mechanism="gaussian")
    account = mdp.Account(case.folder / "file.csv.privacy.json")
    before = account.spent
    mdp.PrivatePCA(**case.sides, account=account).fit(case.X)
    assert before < account.spent <= 10
    assert [one["event"] for one in account.events()["events"]] == ["GaussianDpEvent"] * 2


def private_number_of_records(case):
    numbers, receipt, _ = case.release("mean", adjacency="add_or_remove")
    assert "their number is private" in receipt["neighbours"]
    assert (np.abs(numbers[0] - case.X.mean(axis=0)) < case.half).all()
    numbers, _, _ = case.release("regression", "line", adjacency="add_or_remove")
    assert np.isfinite(numbers).all()
    box = mdp.Box(tuple(case.low), tuple(case.high))
    query = mdp.MeanQuery(box, len(case.X), "add_or_remove")
    release = mdp.Gaussian().calibrate(query, **BUDGET)
    assert np.isfinite(release.release(case.X[:-1])).all()


def whole_people(case):
    keys = {"person": "person", "per_person": 2, "adjacency": "replace"}
    numbers, receipt, _ = case.release("mean", mechanism="gaussian", **keys)
    assert "all records of one person" in receipt["neighbours"]
    noise = np.array([*receipt["noise_std"].values()])
    assert (np.abs(numbers[0] - case.X.mean(axis=0)) < 5 * noise).all()
    ridge = mdp.PrivateRidge(**case.line, per_person=2)
    ridge.fit(case.X[:, :-1], case.X[:, -1], people=case.people)
    assert ridge.release_.query.per_person == 2


def intervals(case):
    numbers, receipt, _ = case.release("mean", mechanism="gaussian")
    widths = np.array([*receipt["interval_95_plus_or_minus"].values()])
    assert (np.abs(numbers[0] - case.X.mean(axis=0)) < widths).all()
    query = mdp.SecondMomentQuery(mdp.Box(tuple(case.low), tuple(case.high)), len(case.X))
    for option in mdp.options(query, **BUDGET):
        off = option.release.release(case.X) - case.X.T @ case.X / len(case.X)
        assert (np.abs(off) < 1.5 * option.release.interval(0.95)).all()


def regressions(case):
    X, y = case.X[:, :-1], case.X[:, -1]
    exact = LinearRegression().fit(X, y)
    for mechanism in ("recommend", "clipped"):
        keys = {"alpha": 0.1, "intercept": True, "mechanism": mechanism}
        numbers, _, details = case.release("regression", mechanism, **keys)
        assert {*details["standard_errors_of_the_noise_alone"]} == {*case.names[:-1], "intercept"}
        assert np.isfinite([*details["standard_errors_of_the_noise_alone"].values()]).all()
        assert np.isfinite(numbers).all()
    ridge = mdp.PrivateRidge(**case.line, alpha=0.1).fit(X, y)
    assert (ridge.coef_std_ > 0).all()
    # Its ridge shrinks, towards the middle of the bounds.
    middle = (case.low + case.high)[-1] / 2
    assert np.std(ridge.predict(X)) < 1.5 * np.std(exact.predict(X)) + 0.2 * case.half[-1]
    if len(X) > 10_000:
        off = ridge.predict(X) - Ridge(0.1).fit(X, y).predict(X)
        assert np.std(off) < 0.2 * np.std(y)
    assert np.abs(np.mean(ridge.predict(X)) - middle) < 2 * case.half[-1]
    through_zero = mdp.PrivateRidge(**case.line, fit_intercept=False)
    assert through_zero.fit(X, y).intercept_ == 0


def several_releases(case):
    text = '[[release]]\nquery = "mean"\n[[release]]\nquery = "regression"\nweight = 3\n'
    text += f'target = "{case.names[-1]}"\n'
    path, out = case.write(text), str(case.folder / "several")
    assert cli.main(["release", path, "--out", out, "--even-if-useless"]) == 0
    for file in ("mean/mean.csv", "regression/regression.csv"):
        assert (case.folder / "several" / file).exists()
    assert cli.main(["account", str(case.folder / "file.csv")]) == 0
    path = case.write('query = "second_moments"\nepsilon = 4\ndelta = 1e-6')
    assert cli.main(["recommend", path]) == 0
    account = mdp.Account(case.folder / "other.json", epsilon=10, delta=1e-5)
    account.spend(mdp.Covariance(**case.sides, mechanism="clipped").fit(case.X).release_)
    assert 0 < account.left < 10


WISHES = [
    covariance_and_components,
    clipped_moments,
    account_and_events,
    private_number_of_records,
    whole_people,
    intervals,
    regressions,
    several_releases,
]


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.__name__)
@pytest.mark.parametrize(
    "name", ["breast cancer", "wine", "diabetes", pytest.param(LONG, marks=pytest.mark.nightly)]
)
def test_every_wish_is_granted_on_every_file(tmp_path, monkeypatch, name, wish):
    monkeypatch.setattr("os.urandom", np.random.default_rng(0).bytes)
    wish(Case(tmp_path, name))
