import numpy as np
import pytest

from reproduction.data import LearningSet
from reproduction.experiments.training.models import GraphNetwork, LeNet, Perceptron


@pytest.fixture(scope="session", autouse=True)
def _compiled_quickly():
    """Let XLA optimise little: compiling takes longer than running here."""
    import jax

    jax.config.update("jax_disable_most_optimizations", True)


@pytest.fixture(scope="session")
def table():
    """A learning set like Adult, with 300 training records of 6 inputs."""
    rng = np.random.default_rng(1)
    inputs = rng.standard_normal((500, 6)).astype(np.float32) * 3
    labels = (inputs[:, 0] + rng.standard_normal(500) > 0).astype(np.int8)
    return {
        "train_inputs": inputs[:300],
        "train_labels": labels[:300],
        "test_inputs": inputs[300:],
        "test_labels": labels[300:],
    }


@pytest.fixture(scope="session")
def graph():
    """A learning set like Cora: 60 nodes, 25 words, 3 classes, with a hub and a lonely node."""
    rng = np.random.default_rng(2)
    labels = np.arange(60, dtype=np.int8) % 3
    rates = np.where(np.arange(25) % 3 == labels[:, None], 0.5, 0.1)
    pairs = rng.integers(0, 59, (150, 2))
    pairs = np.concatenate([pairs, np.stack([np.zeros(30, int), np.arange(1, 31)], axis=1)])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return {
        "features": (rng.random((60, 25)) < rates).astype(np.float32),
        "edges": pairs.astype(np.int32),
        "labels": labels,
        "train": np.r_[0:35, 59].astype(np.int32),
        "test": np.arange(35, 59, dtype=np.int32),
    }


@pytest.fixture(scope="session")
def features():
    """What an extractor could have made: 600 training records of 8 features in [-1, 1]."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 1000).astype(np.int8)
    values = np.tanh(0.5 * (2 * labels[:, None] - 1) + rng.standard_normal((1000, 8)))
    values = values.astype(np.float32)
    arrays = {
        "train_features": values[:600],
        "train_labels": labels[:600],
        "test_features": values[600:],
        "test_labels": labels[600:],
    }
    return LearningSet("imdb", arrays, "simulated")


@pytest.fixture(scope="session")
def pictures():
    """A learning set like MNIST: 200 training pictures of a spot whose place is the digit."""
    rng = np.random.default_rng(5)
    labels = np.arange(300, dtype=np.int8) % 10
    images = rng.integers(0, 60, (300, 28, 28)).astype(np.uint8)
    for image, label in zip(images, labels, strict=True):
        top, left = 3 + 13 * (label // 5), 1 + 5 * (label % 5)
        image[top : top + 8, left : left + 6] += 150
    parts = {"train": slice(200), "test": slice(200, None)}
    return {
        f"{part}_{name}": values[rows]
        for part, rows in parts.items()
        for name, values in (("images", images), ("labels", labels))
    }


@pytest.fixture(scope="session", params=["perceptron", "graph", "lenet"])
def model(request, table, graph, pictures):
    network, arrays = {
        "perceptron": (Perceptron, table),
        "graph": (GraphNetwork, graph),
        "lenet": (LeNet, pictures),
    }[request.param]
    return network.of(arrays)
