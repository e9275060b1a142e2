import os
from pathlib import Path

import hypothesis
import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--nightly", action="store_true", help="also what is marked nightly, and more draws"
    )
    parser.addoption("--passed", metavar="FILE", help="leave out the tests that FILE names")
    parser.addoption("--keep-golden", action="store_true", help="keep what is shown now")


def pytest_configure(config):
    """Draw the same examples in every run, so that no test fails by chance; at night, new ones.

    No test fails because a machine is busy either.
    """
    night = config.getoption("--nightly")
    hypothesis.settings.register_profile("project", deadline=None, derandomize=not night)
    hypothesis.settings.load_profile("project")


def pytest_collection_modifyitems(config, items):
    """Leave out what is nightly: a test that is skipped is one that cannot run here."""
    file = config.getoption("--passed")
    passed = set(Path(file).read_text(encoding="utf-8").splitlines()) if file else set()
    today, others = [], []
    for item in items:
        nightly = item.get_closest_marker("nightly") and not config.getoption("--nightly")
        (others if nightly or item.nodeid in passed else today).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = today


@pytest.fixture(autouse=True)
def _same_bits(monkeypatch):
    """Give real noise the same bits in every run, so that no test fails by chance."""
    monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
