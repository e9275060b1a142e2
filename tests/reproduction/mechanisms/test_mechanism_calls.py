"""What mechanisms of the study refuse, as a table: each call of ``calls.toml`` is one sentence."""

from pathlib import Path

import pytest
import refusals
from mechanismqueries import LIVER

import matrixdp as mdp
from reproduction.mechanisms import adassp, allocation
from reproduction.mechanisms.directional import AllocatedGaussian

NAMES = {
    **vars(adassp),
    **vars(allocation),
    "Allocated": AllocatedGaussian,
    "BUDGET": {"epsilon": 1.0, "delta": 1e-3},
    "LIVER": LIVER,
    "PLANE": mdp.Box.cube(2, -1, 1),
    "mdp": mdp,
}


@pytest.mark.parametrize(
    ("call", "says"), refusals.rows(Path(__file__).with_name("calls.toml"), "mechanisms")
)
def test_a_call_of_the_study(tmp_path, call, says):
    refusals.call(lambda: eval(call, dict(NAMES)), tmp_path, says)
