"""What Python refuses, as tables: each call of ``calls.toml`` is one sentence and changes nothing.

Neither sentence nor traceback shows a value of records: a text with "secret", a number with 7077.
"""

from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import mechanismqueries
import numpy as np
import pytest
import refusals

import matrixdp as mdp
from matrixdp import checks
from matrixdp.mechanisms import centred, clipped
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.privacy import exact_sums, gaussian_dp, groups, present, sensitivity, sizes

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

TABLES = Path(__file__).with_name("calls.toml")
SECRETS = ("secret", "7077")
X = np.random.default_rng(0).uniform(0, 1, (400, 3))
FITTED = mdp.PrivatePCA(2, epsilon=9, bounds=(0, 1)).fit(X)
PLANE = mdp.Box.cube(2, -1, 1)
PLANE_MEAN = mdp.MeanQuery(PLANE, 40)


def calibrate(mechanism, query):
    return mechanism.calibrate(query, epsilon=1.0, delta=1e-3)


def compose(mechanism):
    query = mdp.SecondMomentQuery(mdp.Box.cube(3, -1, 1), 60)
    return ComposedMoments.calibrated(mechanism, query, epsilon=1.0, delta=0.01)


def audit(mechanism, query=PLANE_MEAN, **claim):
    return mdp.audit(mechanism, query, **{"epsilon": 1.0, "delta": 1e-6, **claim})


def noisy(records, generator):
    return records.mean(axis=0) + generator.normal(0.0, 1.0, 2)


def release(source, /, **settings):
    stated = {"query": "mean", "bounds": (0, 1), "epsilon": 2.0, "delta": 1e-6, "missing": "refuse"}
    return mdp.make_release(source, **stated | settings)


def summed(source, query="mean", /, **settings):
    stated = {"bounds": (0, 1), "records": 400, "missing": "refuse", "account": "s.privacy.json"}
    return mdp.sums(query, source, **stated | settings)


def found(source, /, **settings):
    return mdp.private_bounds(source, **{"epsilon": 2.0, "missing": "refuse"} | settings)


def spent(account):
    return account.spend(calibrate(mdp.Gaussian(), PLANE_MEAN))


def masked(numbers):
    mask = [False, True, False][: len(numbers)]
    return np.ma.array(np.array(numbers), mask=mask)


#: An array that holds records, in whichever argument.
TABLE = np.full((400, 3), 7077.25)


def with_entry(entry):
    rows = np.zeros((3, 2), dtype=object)
    rows[1, 1] = entry
    return rows


class Unreadable:
    """A data frame of which numpy makes no array, as of whole numbers of 128 bits."""

    columns, dtypes = ["age", "income"], [None, None]

    def __len__(self):
        return 400

    def __getitem__(self, name):
        return self

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("secret")


class Wide(Unreadable):
    """A data frame with two columns under one name."""

    def __getitem__(self, name):
        return np.ones((400, 2))


class Times:
    """A data frame as of polars: whole numbers in a table, but times of a day in their column."""

    columns, dtypes = ["age", "hour"], [None, None]

    def __len__(self):
        return 40

    def __getitem__(self, name):
        return np.ones(40) if name == "age" else np.full(40, time(7, 0, 7), dtype=object)

    def __array__(self, dtype=None, copy=None):
        return np.full((40, 2), 7077.0, dtype=dtype)


def estimator(kind, account, **sides):
    return lambda **options: kind(**{"bounds": (0, 1), "account": account, **sides, **options})


@pytest.fixture
def names(tmp_path, monkeypatch):
    """Return the names of calls, in a folder of their own, with an account of nothing spent."""
    monkeypatch.chdir(tmp_path)
    account = mdp.Account(tmp_path / "a.privacy.json", epsilon=2, delta=1e-5)
    frame = pd.DataFrame(X, columns=["age", "income", "score"])
    lacking = X.copy()
    lacking[5, 1] = np.nan
    modules = (mechanismqueries, centred, clipped, groups, present, sensitivity, sizes)
    return {name: value for module in modules for name, value in vars(module).items()} | {
        **globals(),
        "Directional": mdp.DirectionalGaussian,
        "TOTAL": {"epsilon": 2.0, "delta": 1e-6},
        "account": account,
        "covariance": estimator(mdp.Covariance, account),
        "checks": checks,
        "date": date,
        "Decimal": Decimal,
        "Fraction": Fraction,
        "exact_sums": exact_sums,
        "far": mdp.MeanQuery(mdp.Box((0.0,), (1e9,)), 10**9),
        "fitted": FITTED,
        "folder": tmp_path,
        "frame": frame,
        "gaussian_dp": gaussian_dp,
        "grouped": mdp.MeanQuery(PLANE, 40, per_person=4),
        "half_character": frame.set_axis(pd.Index(["a", "b", "\ud800"], dtype=object), axis=1),
        "lacking": lacking,
        "pca": estimator(mdp.PrivatePCA, account),
        "ridge": estimator(mdp.PrivateRidge, account, target_bounds=(0, 3)),
        "several": pd.MultiIndex.from_product([["a"], ["age", "income", "score"]]),
        "twice": pd.DataFrame(X, columns=["a", "b", "a"]),
        "y": X.sum(axis=1),
        "zeroed": mdp.MeanQuery(PLANE, 40, "zero_out"),
    }


def refused(names, call, says):
    """Check how Python refuses a call."""
    private = [value for value in SECRETS if value in call]
    kinds = (TypeError, ValueError, AttributeError)
    refusals.call(lambda: eval(call, names), names["folder"], says, private, kinds)
    assert not names["account"].spent


CALLS = [
    row
    for table in ("mechanisms", "audits", "privacy", "checks", "estimators", "releases")
    for row in refusals.rows(TABLES, table)
]


@pytest.mark.parametrize(("call", "says"), CALLS)
def test_a_call(names, call, says):
    refused(names, call, says)


DOORS = {
    "estimator": "covariance().fit({})",
    "target": "ridge().fit(np.zeros((3, 2)), [row[-1] for row in {}])",
    "release": "calibrate(mdp.Laplace(), mdp.MeanQuery(PLANE, 3)).release({})",
    "inverse": "fitted.inverse_transform({})",
}


@pytest.mark.parametrize(("records", "says"), refusals.rows(TABLES, "records"))
@pytest.mark.parametrize("door", DOORS)
def test_records_at_every_door(names, door, records, says):
    column = [part.partition(", column")[0] for part in says]
    refused(names, DOORS[door].format(records), column if door == "target" else says)


def test_what_is_valid_is_not_refused(names):
    """The control of all tables."""
    for call in (
        "Directional((0.6, 0.4))",
        "covariance().fit(X)",
        "release(frame)",
        'release(frame, epsilon=Decimal("2"), delta=Fraction(1, 10**6), records=np.array(400.0))',
        'spent(mdp.Account("b.json", **TOTAL, sampler=Decimal("1e-8")))',
        "pca().fit(frame)",
        "summed(frame[:9]) + summed(frame[9:])",
    ):
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            refused(names, call, [])
    with pytest.raises(AssertionError):
        refused(names, "Directional((0.6, 0.6))", ["sums to 1.3"])
