"""A release of records in memory as a black box, from the data frame to the number, on neighbours.

As in the test of files: both neighbours get the same noise, and the event is fixed in advance.
"""

import os

import numpy as np
import pandas as pd
import pytest

import matrixdp as mdp
from matrixdp.auditing import evidence
from matrixdp.noise import safe
from matrixdp.release import tables

CLAIMED, DELTA = 1.0, 0.01
#: One record is replaced, or the six records of one person, of whom two count.
RECORDS = {"bounds": {"x": (0, 1)}, "missing": {"x": 0}, "query": "mean"}
PEOPLE = {"person": "name", "per_person": 2, "adjacency": "replace", "records": 20}


def frame(value, people):
    """Return 20 records that count, of which the first ones have the value, or are missing."""
    if not people:
        return pd.DataFrame({"x": [1.0 if value else None, *[0.0] * 19]})
    names = np.repeat(np.arange(10), 6)
    return pd.DataFrame({"x": np.where(names == 0, 1.0 if value else np.nan, 0.0), "name": names})


def proof(people, epsilon, pairs, above, monkeypatch):
    """Return whether so many pairs of releases refute the claim, and the epsilon they prove."""
    given = {**RECORDS, **(PEOPLE if people else {}), "mechanism": "gaussian", "delta": DELTA}
    answers = []
    for seed in range(pairs):
        for value in (1, 0):
            monkeypatch.setattr(os, "urandom", np.random.default_rng(seed).bytes)
            release = mdp.make_release(
                frame(value, people), **given, epsilon=epsilon, even_if_useless=True
            )
            answers.append(release.answer["x"][0])
    one, other = (np.array(answers) > above).reshape(-1, 2).T
    both = (one & other).sum()
    counts = evidence.Counts(both, one.sum() - both, other.sum() - both, pairs)
    wealth = evidence.log_wealth(counts, evidence.bets([np.exp(CLAIMED)], DELTA))
    return wealth[0] >= -np.log(1 - evidence.SUSPECTED), evidence.epsilon(counts, DELTA)


@pytest.mark.parametrize(("people", "above"), [(False, 1 / 20), (True, 1 / 10)])
def test_honest_noise_is_not_refuted(people, above, monkeypatch, request):
    pairs = 2000 if request.config.getoption("--nightly") else 60
    refuted, proved = proof(people, CLAIMED, pairs, above, monkeypatch)
    assert not refuted
    assert proved <= CLAIMED


@pytest.mark.parametrize("people", [False, True])
def test_noise_with_a_defect_is_refuted(people, monkeypatch):
    """Too small by a factor; or a record of a person counts that no noise is made for."""
    if people:
        monkeypatch.setattr(tables.FirstRecords, "keep", lambda self, names: np.array(names) < 2)
        monkeypatch.setitem(PEOPLE, "records", 12)
        monkeypatch.setitem(PEOPLE, "per_person", 1)
    else:
        whole = safe.noise
        monkeypatch.setattr(safe, "noise", lambda *given: whole(*given) // 8)
    refuted, _ = proof(people, CLAIMED, 100, 1 / 4 if people else 1 / 40, monkeypatch)
    assert refuted
