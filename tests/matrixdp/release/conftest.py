import harness
import pytest


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a file of 400 records of ages and incomes."""
    harness.save(tmp_path / "people.csv")
    return tmp_path
