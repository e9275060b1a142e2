"""A release as a black box, from the file that asks for it to the number written, on neighbours.

Both neighbours get the same noise, pair by pair, and the event to look for is fixed in advance.
Honest noise must not be refuted, and prove part of its epsilon; noise that is made for a larger
epsilon than claimed, or that is too small by a defect on the way, must be refuted.
"""

import os

import numpy as np
import pytest

from matrixdp.auditing import evidence
from matrixdp.cli import release
from matrixdp.noise import safe

SPECIFICATION = """
file = "{}.csv"
query = "mean"
records = 20
mechanism = "{}"
epsilon = {}
delta = {}
total = {{epsilon = 4, delta = {}}}
missing = "refuse"
[bounds]
x = [0, 1]
"""
DELTA = {"gaussian": 0.01, "laplace": 0}
CLAIMED = 1.0


def numbers(folder, mechanism):
    """Return the published number whose distribution depends most on the first record."""
    return float((folder / "mean.csv").read_text().split()[1])


@pytest.fixture
def proof(tmp_path, monkeypatch):
    """Return a function that releases so many pairs: whether they refute, and what they prove."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda handle: None)

    def released(mechanism, epsilon, first, seed, words):
        records = f"x,y\n{first},{first}\n" + "0,0\n" * 19
        text = SPECIFICATION
        if words:
            records = f"x;y\n{bool(first)};0,5\n" + "false;0,5\n-0,0;0,5\n" * 9 + "FALSE;NA\n"
            text = f'separator = ";"\ndecimal = ","\n{text}'
        (tmp_path / f"{first}.csv").write_text(records)
        (tmp_path / "s.toml").write_text(
            text.format(first, mechanism, epsilon, DELTA[mechanism], DELTA[mechanism])
        )
        monkeypatch.setattr(os, "urandom", np.random.default_rng(seed).bytes)
        release.run("s.toml", out=f"{first}-{seed}", even_if_useless=True)
        # Every pair stands for the same file, released once.
        (tmp_path / f"{first}.csv.privacy.json").unlink()
        return numbers(tmp_path / f"{first}-{seed}", mechanism)

    def run(mechanism, epsilon, pairs, above=1 / 20, words=False):
        found = [
            [released(mechanism, epsilon, k, seed, words) for k in (1, 0)] for seed in range(pairs)
        ]
        one, other = np.transpose(found) > above
        both = (one & other).sum()
        counts = evidence.Counts(both, one.sum() - both, other.sum() - both, pairs)
        wealth = evidence.log_wealth(counts, evidence.bets([np.exp(CLAIMED)], DELTA[mechanism]))
        proved = evidence.epsilon(counts, DELTA[mechanism])
        # A few tests at the level of one, not of a run of hundreds of releases.
        return wealth[0] >= -np.log(1 - evidence.SUSPECTED), proved

    return run


@pytest.mark.parametrize("mechanism", DELTA)
def test_honest_noise_is_not_refuted(proof, mechanism, request):
    many = request.config.getoption("--nightly")
    refuted, epsilon = proof(mechanism, CLAIMED, 2000 if many else 60)
    assert not refuted
    assert epsilon <= CLAIMED
    assert not many or epsilon > 0.3


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "short", "many", "above"),
    [
        ("laplace", 4, 80, 400, 0.05),
        pytest.param("laplace", 2, 0, 1000, 0.05, marks=pytest.mark.nightly),
        pytest.param("gaussian", 4, 0, 600, 0.05, marks=pytest.mark.nightly),
        pytest.param("gaussian", 2, 0, 3000, 0.106, marks=pytest.mark.nightly),
    ],
)
def test_noise_for_more_than_claimed_is_refuted(
    proof, mechanism, epsilon, short, many, above, request
):
    pairs = many if request.config.getoption("--nightly") else short
    refuted, proved = proof(mechanism, epsilon, pairs, above)
    assert refuted
    assert CLAIMED < proved <= epsilon


@pytest.mark.parametrize(
    ("mechanism", "share", "short", "many", "above"),
    [
        ("gaussian", 4, 100, 400, 0.05),
        pytest.param("gaussian", 2, 0, 1500, 0.08, marks=pytest.mark.nightly),
    ],
)
def test_noise_that_is_too_small_on_the_way_is_refuted(
    proof, mechanism, share, short, many, above, request, monkeypatch
):
    pairs = many if request.config.getoption("--nightly") else short
    whole = safe.noise
    monkeypatch.setattr(safe, "noise", lambda *given: whole(*given) // share)
    assert proof(mechanism, CLAIMED, pairs, above)[0]


@pytest.mark.parametrize(("epsilon", "short", "many"), [(CLAIMED, 60, 2000), (4, 80, 400)])
def test_a_file_of_words_and_commas_keeps_the_promise(proof, epsilon, short, many, request):
    """Noise for more than claimed is refuted."""
    pairs = many if request.config.getoption("--nightly") else short
    refuted, proved = proof("laplace", epsilon, pairs, words=True)
    assert refuted == (epsilon > CLAIMED)
    assert (CLAIMED < proved <= epsilon) if refuted else (proved <= CLAIMED)
