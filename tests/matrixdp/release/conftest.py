import functools

import harness
import numpy as np
import pytest

from matrixdp.noise import safe
from matrixdp.release import choices, outlooks


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a file of 400 records of ages and incomes."""
    harness.save(tmp_path / "people.csv")
    return tmp_path


@pytest.fixture
def silent(monkeypatch):
    """Leave the noise out of releases."""
    monkeypatch.setattr(safe, "noise", lambda unit, count, bits: np.zeros(count, np.int64))


@pytest.fixture
def few_draws(monkeypatch):
    """Simulate little, and keep what is simulated from other tests."""
    monkeypatch.setattr(outlooks, "_WORK", 1)
    monkeypatch.setattr(choices, "_listed", functools.cache(choices._listed.__wrapped__))
