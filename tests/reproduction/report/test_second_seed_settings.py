"""Verdicts stand beside those of a run that differs in the root seed, and in nothing else."""

from __future__ import annotations

import pytest
import yaml
from packages import ROOT

from reproduction import config
from reproduction.report import second_seed

FULL = config.resolve(yaml.safe_load((ROOT / "config.yaml").read_text()))
EXPERIMENTS = FULL["experiments"]
#: What another run has otherwise, and whether the seed is all that counts of it.
OTHERS = {
    "the same seed": ({"seed": FULL["seed"]}, False),
    "another seed": ({}, True),
    "fewer experiments": ({"experiments": {"first_pc": EXPERIMENTS["first_pc"]}}, True),
    "one more experiment": (
        {"experiments": EXPERIMENTS | {"more": EXPERIMENTS["first_pc"]}},
        False,
    ),
    "other trials": (
        {"experiments": EXPERIMENTS | {"first_pc": EXPERIMENTS["first_pc"] | {"trials": 5}}},
        False,
    ),
    "another grid": ({"taus": ["0.5"]}, False),
    "another reading": ({"reading": "zeta_literal"}, False),
    "another place of the data": ({"data": {"source": "original", "mirror": ""}}, True),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_second_seed_is_all_that_differs(name):
    changes, expected = OTHERS[name]
    assert second_seed.is_second_seed(FULL, {**FULL, "seed": 1, **changes}) == expected
