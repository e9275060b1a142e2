import os

import hypothesis
import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="search and inject much more")


def pytest_configure(config):
    """Draw the same examples in every run, so that no test fails by chance; in long runs, new ones.

    No test fails because a machine is busy either.
    """
    long = config.getoption("--long")
    hypothesis.settings.register_profile("project", deadline=None, derandomize=not long)
    hypothesis.settings.load_profile("project")


def pytest_collection_modifyitems(config, items):
    """Leave out what takes ``--long``: a test that is skipped is one that cannot run here."""
    if config.getoption("--long"):
        return
    short, long = [], []
    for item in items:
        (long if item.get_closest_marker("long") else short).append(item)
    config.hook.pytest_deselected(items=long)
    items[:] = short


@pytest.fixture(autouse=True)
def _same_bits(monkeypatch):
    """Give real noise the same bits in every run, so that no test fails by chance."""
    monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
