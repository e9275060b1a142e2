import harness
import numpy as np
import pytest

from matrixdp.noise import safe


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a file of 400 records of ages and incomes."""
    harness.save(tmp_path / "people.csv")
    return tmp_path


@pytest.fixture
def silent(monkeypatch):
    """Leave the noise out of releases."""
    monkeypatch.setattr(safe, "noise", lambda unit, count, bits: np.zeros(count, np.int64))
