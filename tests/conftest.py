import os

import hypothesis
import numpy as np
import pytest


def pytest_configure(config):
    """Draw the same examples in every run, so that no test fails by chance; in long runs, new ones.

    No test fails because a machine is busy either.
    """
    long = config.getoption("--long", default=False)
    hypothesis.settings.register_profile("project", deadline=None, derandomize=not long)
    hypothesis.settings.load_profile("project")


@pytest.fixture(autouse=True)
def _same_bits(monkeypatch):
    """Give real noise the same bits in every run, so that no test fails by chance."""
    monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
