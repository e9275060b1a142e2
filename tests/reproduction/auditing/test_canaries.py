"""Canaries of one training run tell too little noise from enough."""

import pytest

from reproduction.auditing import training
from reproduction.seeds import streams


@pytest.mark.parametrize(
    "correlated",
    [False, pytest.param(True, marks=pytest.mark.nightly)],
    ids=["independent", "banded"],
)
@pytest.mark.parametrize("wrong", [True, False])
def test_too_little_noise_in_training_is_found(wrong, correlated):
    # Final parameters show banded noise less clearly.
    factor = (0.7 if correlated else 0.8) if wrong else 1.0
    generators = streams(7, "canaries", trials=range(3))
    guesses = training.guesses(generators, factor=factor, correlated=correlated)
    assert (guesses.mu > training.MU) == wrong
