"""Audits, simulations and comparisons touch no account: only what releases records is charged."""

import numpy as np
import pytest

import matrixdp as mdp

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
QUERY = mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 50)
REQUEST = {"query": "mean", "bounds": (0, 1), "missing": "refuse", **BUDGET}
RELEASE = mdp.Gaussian().calibrate(QUERY, **BUDGET)


def noisy_mean(records, generator):
    return records.mean(axis=0) + generator.laplace(0, 0.02, 1)


def simulate():
    return RELEASE.simulate(np.full((1, 1), 0.5), np.random.default_rng(0), 1)


def spend():
    mdp.Account("account.json", epsilon=2.0, delta=1e-5).spend(RELEASE)


#: What a person does beside releases, in a folder with an account.
FREE = {
    "audit of a mechanism": lambda: mdp.audit(mdp.Gaussian(), QUERY, runs=500, **BUDGET),
    "audit of a release": lambda: mdp.audit(RELEASE, QUERY, runs=500, **BUDGET),
    "audit of a function": lambda: mdp.audit(noisy_mean, QUERY, epsilon=1.0, runs=500),
    "simulation": simulate,
    "comparison": lambda: mdp.compare_mechanisms(QUERY, **BUDGET),
    "recommendation": lambda: mdp.recommend(np.zeros((50, 1)), **REQUEST),
    "recommendation for the account": lambda: mdp.recommend(
        np.zeros((50, 1)), account="account.json", **REQUEST
    ),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with an account that has been charged once, in which all happens."""
    monkeypatch.chdir(tmp_path)
    spend()
    return tmp_path


def contents(folder):
    """Return all paths of a folder, with bytes and time of change of each file."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        if path.is_file()
        else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("act", FREE.values(), ids=FREE)
def test_no_account_is_touched(folder, act):
    before = contents(folder)
    assert "account.json" in before
    act()
    assert contents(folder) == before


def test_a_release_is_charged(folder):
    before = contents(folder)
    spend()
    assert contents(folder) != before
