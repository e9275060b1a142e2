from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import distinctrun
import pandas as pd
import pytest
import runfiles


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes trial rows to a gzipped file and returns its path."""

    def save(*parts: pd.DataFrame, name: str = "trials") -> Path:
        path = tmp_path / f"{name}.csv.gz"
        pd.concat(parts).to_csv(path, index=False)
        return path

    return save


def write(folder: Path) -> None:
    """Write a run of which no two results are alike, with its tables."""
    distinctrun.write(folder)
    runfiles.write(folder, *distinctrun.TABLES)


@pytest.fixture(scope="session")
def root(common: Callable[..., Path]) -> Path:
    """Return a folder with that run, only for reading."""
    return common("distinct", write)


@pytest.fixture(scope="session")
def cells() -> dict[distinctrun.Key, distinctrun.Cell]:
    """Return the cells of that run."""
    return distinctrun.cells()
