"""A release as a black box, from the file that asks for it to the number written, on neighbours.

Both neighbours get the same noise, pair by pair, and the event to look for is fixed in advance.
Honest noise must not be refuted, and prove part of its epsilon; noise that is made for a larger
epsilon than claimed, or that is too small by a defect on the way, must be refuted.
"""

import os

import numpy as np
import pytest

from matrixdp import safe
from matrixdp.audit import evidence
from matrixdp.cli import release

SPECIFICATION = """
file = "{}.csv"
query = "mean"
records = 20
mechanism = "{}"
epsilon = {}
delta = {}
total = {{epsilon = 4, delta = {}}}
[bounds]
x = [0, 1]
"""
DELTA = {"gaussian": 0.01, "laplace": 0}
CLAIMED = 1.0


@pytest.fixture
def proof(tmp_path, monkeypatch):
    """Return a function that releases so many pairs: whether they refute, and what they prove."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda handle: None)

    def released(mechanism, epsilon, first, seed):
        (tmp_path / f"{first}.csv").write_text(f"x\n{first}\n" + "0\n" * 19)
        (tmp_path / "s.toml").write_text(
            SPECIFICATION.format(first, mechanism, epsilon, DELTA[mechanism], DELTA[mechanism])
        )
        monkeypatch.setattr(os, "urandom", np.random.default_rng(seed).bytes)
        release.run("s.toml", out=f"{first}-{seed}")
        # Every pair stands for the same file, released once.
        (tmp_path / f"{first}.csv.privacy.json").unlink()
        return float((tmp_path / f"{first}-{seed}/mean.csv").read_text().split()[1])

    def run(mechanism, epsilon, pairs, above=1 / 20):
        found = [[released(mechanism, epsilon, k, seed) for k in (1, 0)] for seed in range(pairs)]
        one, other = np.transpose(found) > above
        both = (one & other).sum()
        counts = evidence.Counts(both, one.sum() - both, other.sum() - both, pairs)
        wealth = evidence.log_wealth(counts, evidence.bets([np.exp(CLAIMED)], DELTA[mechanism]))
        proved = evidence.epsilon(counts, DELTA[mechanism])
        return wealth[0] >= -np.log(1 - evidence.REFUTED), proved

    return run


@pytest.mark.parametrize("mechanism", DELTA)
def test_honest_noise_is_not_refuted(proof, mechanism, request):
    many = request.config.getoption("--long", False)
    refuted, epsilon = proof(mechanism, CLAIMED, 2000 if many else 120)
    assert not refuted
    assert epsilon <= CLAIMED
    assert not many or epsilon > 0.3


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "short", "many", "above"),
    [
        ("laplace", 4, 80, 400, 0.05),
        ("laplace", 2, 0, 1000, 0.05),
        ("gaussian", 4, 0, 600, 0.05),
        ("gaussian", 2, 0, 3000, 0.106),
    ],
)
def test_noise_for_more_than_claimed_is_refuted(
    proof, mechanism, epsilon, short, many, above, request
):
    pairs = many if request.config.getoption("--long", False) else short
    if not pairs:
        pytest.skip("takes --long")
    refuted, proved = proof(mechanism, epsilon, pairs, above)
    assert refuted
    assert CLAIMED < proved <= epsilon


@pytest.mark.parametrize(("share", "short", "many"), [(4, 100, 400), (2, 0, 1500)])
def test_noise_that_is_too_small_on_the_way_is_refuted(
    proof, share, short, many, request, monkeypatch
):
    pairs = many if request.config.getoption("--long", False) else short
    if not pairs:
        pytest.skip("takes --long")
    whole = safe.noise
    monkeypatch.setattr(safe, "noise", lambda *given: whole(*given) // share)
    assert proof("gaussian", CLAIMED, pairs, 0.05 if share == 4 else 0.08)[0]
