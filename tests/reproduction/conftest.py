import numpy as np
import pytest

from reproduction.data import Dataset


@pytest.fixture(scope="session")
def data():
    rng = np.random.default_rng(1)
    matrix = np.clip(rng.standard_normal((4, 60)) * np.array([[1], [0.5], [0.3], [0.2]]), -1, 1)
    return Dataset("liver", matrix, tuple("abcd"), (-1.0,) * 4, (1.0,) * 4, "simulated")
