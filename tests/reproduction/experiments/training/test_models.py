"""The networks, written out with numpy in float64."""

import numpy as np
import pytest
from exampleloss import losses

from reproduction.experiments.training import models
from reproduction.experiments.training.models import GraphNetwork, LeNet, Perceptron


def parameters(model):
    stream = np.random.default_rng(6)
    return {name: stream.standard_normal(shape) for name, shape in model.shapes.items()}


def loss(outputs, labels):
    rows = np.arange(len(labels))
    return np.log(np.exp(outputs).sum(axis=1)) - outputs[rows, labels]


def single(params):
    return {name: np.asarray(value, np.float32) for name, value in params.items()}


def test_the_perceptron(table):
    model, lot = Perceptron.of(table), np.arange(40)
    params = parameters(model)

    def outputs(inputs):
        inner = inputs.astype(float) @ params["hidden"] + params["hidden_bias"][:, 0]
        return 1 / (1 + np.exp(-inner)) @ params["output"] + params["output_bias"][:, 0]

    found = model.logits(single(params))
    np.testing.assert_allclose(found, outputs(table["test_inputs"]), rtol=1e-3, atol=1e-4)
    expected = loss(outputs(table["train_inputs"][lot]), table["train_labels"][lot])
    np.testing.assert_allclose(losses(model, single(params), lot), expected, rtol=1e-3, atol=1e-4)


def test_lenet_by_definition(pictures):
    """Convolutions of 5 x 5 at every place, each averaged over 2 x 2, then tanh; in float64."""
    model, params = LeNet.of(pictures), {}
    for name, value in LeNet.of(pictures).initial(np.random.default_rng(6)).items():
        params[name] = np.asarray(value, np.float64)
    stream = np.random.default_rng(7)
    for name in params:
        if name.endswith("bias"):
            params[name] = stream.standard_normal(params[name].shape) / 3
    x = pictures["test_images"][:4].astype(float)
    x = np.pad(x, ((0, 0), (2, 2), (2, 2)))[..., None] * (1.275 / 255) - 0.1
    for name in ("first", "second"):
        size, (places, units) = x.shape[1] - 4, params[name].shape
        kernel = params[name].reshape(5, 5, places // 25, units)
        total = sum(
            x[:, i : i + size, j : j + size] @ kernel[i, j] for i in range(5) for j in range(5)
        )
        mean = total.reshape(4, size // 2, 2, size // 2, 2, units).mean(axis=(2, 4))
        x = np.tanh(mean + params[f"{name}_bias"][:, 0])
    x = x.reshape(4, 400)
    for name in ("third", "fourth"):
        x = np.tanh(x @ params[name] + params[f"{name}_bias"][:, 0])
    outputs = x @ params["output"] + params["output_bias"][:, 0]
    found = model.logits(single(params))[:4]
    np.testing.assert_allclose(found, outputs, rtol=1e-3, atol=1e-4)
    assert sum(np.prod(shape) for shape in model.shapes.values()) == 61_706


@pytest.mark.parametrize("length", [1, 7])
def test_the_graph_network_whatever_the_length_of_a_document(graph, length):
    """A relu(A X W) V with A = D^-1/2 (E + I) D^-1/2 and rows of X of unit norm."""
    long = graph["features"] * np.where(np.arange(60) % 2, length, 1)[:, None]
    model, lot = GraphNetwork.of({**graph, "features": long}), np.arange(20)
    nodes = len(long)
    neighbours = {node: {node} for node in range(nodes)}
    for one, other in graph["edges"].tolist():
        neighbours[one].add(other)
        neighbours[other].add(one)
    adjacency = np.zeros((nodes, nodes))
    for node, around in neighbours.items():
        for other in around:
            adjacency[node, other] = (len(around) * len(neighbours[other])) ** -0.5
    unit = graph["features"] / np.linalg.norm(graph["features"], axis=1, keepdims=True)
    params = parameters(model)
    outputs = adjacency @ np.maximum(adjacency @ unit @ params["hidden"], 0) @ params["output"]
    test, train = outputs[graph["test"]], outputs[graph["train"]][lot]
    np.testing.assert_allclose(model.logits(single(params)), test, rtol=1e-3, atol=1e-4)
    expected = loss(train, graph["labels"][graph["train"]][lot])
    np.testing.assert_allclose(losses(model, single(params), lot), expected, rtol=1e-3, atol=1e-4)


def test_initial_weights_are_uniform_within_their_bound_and_biases_zero(table):
    found = Perceptron.of(table).initial(np.random.default_rng(7))
    assert not found["hidden_bias"].any()
    weights = np.asarray(models.glorot(np.random.default_rng(8), (300, 100)))
    assert 0.999 < np.abs(weights).max() / np.sqrt(6 / 400) <= 1
    assert weights.var() == pytest.approx(6 / 400 / 3, rel=0.02)
