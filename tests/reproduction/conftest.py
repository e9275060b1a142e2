from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reproduction.data import Dataset


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that fills a folder once for all test processes."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make(name: str, fill: Callable[[Path], object]) -> Path:
        folder, done = shared / name, shared / f"{name}.done"
        with open(shared / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                folder.mkdir()
                fill(folder)
                done.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def data():
    rng = np.random.default_rng(1)
    matrix = np.clip(rng.standard_normal((4, 60)) * np.array([[1], [0.5], [0.3], [0.2]]), -1, 1)
    return Dataset("liver", matrix, tuple("abcd"), (-1.0,) * 4, (1.0,) * 4, "simulated")
