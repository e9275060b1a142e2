from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import distinctrun
import pandas as pd
import pytest
import refutedrun
import runfiles


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes trial rows to a gzipped file and returns its path."""

    def save(*parts: pd.DataFrame, name: str = "trials") -> Path:
        path = tmp_path / f"{name}.csv.gz"
        pd.concat(parts).to_csv(path, index=False)
        return path

    return save


# Known runs with their tables, each made once and only for reading.


@pytest.fixture(scope="session")
def root(common: Callable[..., Path]) -> Path:
    """Return a run of which no two results are alike."""

    def write(folder: Path) -> None:
        distinctrun.write(folder)
        runfiles.write_known(folder, *distinctrun.TABLES)

    return common("distinct", write)


@pytest.fixture(scope="session")
def simulated(common: Callable[..., Path], root: Path) -> Path:
    """Return the same run on simulated data."""

    def write(folder: Path) -> None:
        distinctrun.write_simulated(folder, root)
        runfiles.write_known(folder, *distinctrun.TABLES)

    return common("simulated", write)


@pytest.fixture(scope="session")
def refuted(common: Callable[..., Path]) -> Path:
    """Return a run in which the best mechanisms are refuted."""
    return common("refuted", refutedrun.write)


@pytest.fixture(scope="session")
def cells() -> dict[distinctrun.Key, distinctrun.Cell]:
    """Return the cells of that run."""
    return distinctrun.cells()
