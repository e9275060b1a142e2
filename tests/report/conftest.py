from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes trial rows to a gzipped file and returns its path."""

    def save(*parts: pd.DataFrame, name: str = "trials") -> Path:
        path = tmp_path / f"{name}.csv.gz"
        pd.concat(parts).to_csv(path, index=False)
        return path

    return save
