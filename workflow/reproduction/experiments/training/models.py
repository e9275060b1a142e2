"""The networks of the Type I experiments, and the gradients of their single training examples.

The gradient of one example is not computed in full. Let a layer multiply its input x by a weight
matrix, and let d be the loss's derivative by the layer's output. The gradient is then the outer
product of x and d. Its norm is |x| |d|, and a weighted sum over examples is one matrix product
(Goodfellow 2015, "Efficient per-example gradient computations"). The derivatives d come from
``jax.grad``, from ``jax.vmap`` over the examples, or from a formula. By ``jax.vmap(jax.grad)`` the
clipped sums of a lot take 4 times as long for LeNet-5 and the perceptron, and 100 for the graph
network (benchmarks/training.py).

Parameters are dictionaries of float32 matrices by name; a bias is a column.
"""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray
from optax import softmax_cross_entropy_with_integer_labels as cross_entropy

Params = dict[str, Array]

#: Number of hidden units of the Adult network, and of the graph network.
SIGMOID_UNITS = 12
GRAPH_UNITS = 16

#: The nodes near a lot of the graph network are padded to a multiple of this.
NEAR_BLOCK = 256


class Model(abc.ABC):
    """A network with its private training examples and its test examples, a jax pytree."""

    labels: Array
    test_labels: Array

    @classmethod
    @abc.abstractmethod
    def of(cls, arrays: Mapping[str, NDArray]) -> Self:
        """Return the network of a prepared data set."""

    @property
    @abc.abstractmethod
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Return the shape of every parameter matrix."""

    def initial(self, stream: np.random.Generator) -> Params:
        """Return initial parameters, as :func:`draw_weights`."""
        return draw_weights(self.shapes, stream)

    def for_lots(self, lots: NDArray) -> Self:
        """Return the network made ready for these lots, of which it may take no others.

        Args:
            lots: indices of training examples, shape (steps, k).
        """
        return self

    @abc.abstractmethod
    def gradients(self, params: Params, lot: Array) -> tuple[Array, Callable[[Array], Params]]:
        """Return norms and a weighted sum of the gradients of single examples' cross-entropy.

        Args:
            params: parameters.
            lot: indices of training examples, shape (k,).

        Returns:
            The joint l2 norm over all parameters of each example's gradient, shape (k,), and a
            function from k weights to the weighted sum of the gradients.
        """

    @abc.abstractmethod
    def logits(self, params: Params) -> Array:
        """Return the outputs for the test examples, one row each."""


def draw_weights(shapes: Mapping[str, tuple[int, int]], stream: np.random.Generator) -> Params:
    """Return initial parameters: biases zero, weights uniform as in :func:`glorot`."""
    return {
        name: jnp.zeros(shape) if name.endswith("bias") else glorot(stream, shape)
        for name, shape in shapes.items()
    }


def glorot(stream: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return weights uniform within sqrt(6 / (inputs + outputs)), the last two axes."""
    bound = np.sqrt(6 / sum(shape[-2:]))
    return jnp.asarray(stream.uniform(-bound, bound, shape), jnp.float32)


class Layer(NamedTuple):
    """Units that all take the same inputs, times weights and plus a bias.

    Attributes:
        inputs, units: shape of the weights.
        places: 1 for a dense layer; otherwise number of windows in a picture of a convolution with
            5 x 5 weights, whose outputs are averaged over 2 x 2 neighbours.
    """

    inputs: int
    units: int
    places: int = 1


def shapes(layers: Mapping[str, Layer]) -> dict[str, tuple[int, int]]:
    """Return the shapes of the weights and the bias of every layer."""
    result: dict[str, tuple[int, int]] = {}
    for name, layer in layers.items():
        result |= {name: (layer.inputs, layer.units), f"{name}_bias": (layer.units, 1)}
    return result


def forward(
    layers: Mapping[str, Layer],
    activation: Callable[[Array], Array],
    params: Params,
    x: Array,
    added: Params | None = None,
) -> tuple[Array, Params]:
    """Return the outputs of the last layer, examples x places x units, and the inputs of each.

    ``activation`` acts between layers; ``added`` is added to the outputs of each layer.
    """
    taken: Params = {}
    for name, layer in layers.items():
        x = activation(x) if taken else x
        weights = params[name]
        if layer.places > 1:
            x = windows(x)
            weights = (_POOLED @ weights.reshape(25, -1)).reshape(-1, layer.units)
        else:
            x = x.reshape(len(x), 1, -1)
        taken[name] = x
        x = x @ weights + params[f"{name}_bias"][:, 0]
        x = x + added[name] if added else x
    return x, taken


#: Matrix, 36 x 25, from 5 x 5 weights to the weights on a window of 6 x 6 points. It includes the
#: average over 2 x 2 neighbours. The points are in the order of :func:`windows`.
_HALVES = (np.eye(6, 5) + np.eye(6, 5, -1)) / 2
_POOLED = jnp.asarray(
    np.kron(_HALVES, _HALVES).reshape(3, 2, 3, 2, 25).swapaxes(1, 2).reshape(36, 25), jnp.float32
)


def windows(pictures: Array) -> Array:
    """Return the windows of 6 x 6 points of pictures, at a stride of 2 in both directions.

    A convolution with averaged outputs is one product with these, at a quarter of the cost.

    Args:
        pictures: examples x points x channels, square, of an even side.

    Returns:
        Array of examples x windows x 36 channels, ordered by blocks of 2 x 2 points.
    """
    count, points, channels = pictures.shape
    side = math.isqrt(points) // 2
    blocks = pictures.reshape(count, side, 2, side, 2, channels).swapaxes(2, 3)
    blocks = blocks.reshape(count, side, side, 4 * channels)
    last = side - 2
    parts = [blocks[:, i : i + last, j : j + last] for i in range(3) for j in range(3)]
    return jnp.concatenate(parts, axis=3).reshape(count, last**2, 36 * channels)


@dataclass(frozen=True, eq=False)
class Layered(Model):
    """A network of consecutive layers.

    Attributes:
        inputs, test_inputs: one example along axis 0.
        labels, test_labels: classes from 0.
    """

    inputs: Array
    labels: Array
    test_inputs: Array
    test_labels: Array

    #: Name of the inputs in the prepared data set, and their type in memory.
    stored: ClassVar[tuple[str, Any]] = ("inputs", jnp.float32)

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray]) -> Self:
        """Return the network of the training and the test examples of a prepared data set."""
        names = itertools.product(("train", "test"), (cls.stored, ("labels", jnp.int32)))
        return cls(*(jnp.asarray(arrays[f"{part}_{of}"], kind) for part, (of, kind) in names))

    @property
    @abc.abstractmethod
    def layers(self) -> dict[str, Layer]:
        """Return the layers by name."""

    @staticmethod
    def activation(x: Array) -> Array:
        """Return the activation of a layer's outputs."""
        return jax.nn.sigmoid(x)

    @staticmethod
    def read(inputs: Array) -> Array:
        """Return the inputs of the first layer from stored examples."""
        return inputs

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Return the weights and the bias of every layer."""
        return shapes(self.layers)

    def logits(self, params: Params) -> Array:
        """Return the outputs for the test examples."""
        inputs = self.read(self.test_inputs)
        return forward(self.layers, self.activation, params, inputs)[0][:, 0]

    def gradients(self, params: Params, lot: Array) -> tuple[Array, Callable[[Array], Params]]:
        """Return norms and weighted sums of single gradients (see :class:`Model`)."""
        x, y = self.read(self.inputs[lot]), self.labels[lot]

        def total(added: Params) -> tuple[Array, Params]:
            outputs, taken = forward(self.layers, self.activation, params, x, added)
            return cross_entropy(outputs[:, 0], y).sum(), taken

        nothing = {
            name: jnp.zeros((len(lot), layer.places, layer.units))
            for name, layer in self.layers.items()
        }
        by_output, taken = jax.grad(total, has_aux=True)(nothing)
        # The gradients of convolutions are small enough to compute in full.
        each = {
            name: _by_weights(taken[name], by_output[name], layer.inputs)
            for name, layer in self.layers.items()
            if layer.places > 1
        }
        # A bias is the weight of an input that is always 1.
        squares = sum(
            _squares(each[name]) + _squares(d.sum(axis=1))
            if name in each
            else (1 + _squares(taken[name])) * _squares(d)
            for name, d in by_output.items()
        )

        def weighted(weights: Array) -> Params:
            sums = {}
            for name, d in by_output.items():
                if name in each:
                    sums[name] = jnp.tensordot(weights, each[name], 1)
                else:
                    sums[name] = taken[name][:, 0].T @ (weights[:, None] * d[:, 0])
                sums[f"{name}_bias"] = (weights @ d.sum(axis=1))[:, None]
            return sums

        return jnp.sqrt(jnp.asarray(squares)), weighted


def _by_weights(taken: Array, by_output: Array, inputs: int) -> Array:
    """Return per-example gradients by the weights of a convolution, examples x inputs x units."""
    count, _, units = by_output.shape
    gradients = jnp.einsum("npk,npu->nuk", taken, by_output).swapaxes(1, 2)
    gradients = jnp.einsum("pq,npr->nqr", _POOLED, gradients.reshape(count, 36, -1))
    return gradients.reshape(count, inputs, units)


def _squares(rows: Array) -> Array:
    return (rows * rows).reshape(len(rows), -1).sum(axis=1)


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Perceptron(Layered):
    """One hidden layer of 12 sigmoid units."""

    @property
    def layers(self) -> dict[str, Layer]:
        """Return inputs x 12 and 12 x 2."""
        return {
            "hidden": Layer(self.inputs.shape[1], SIGMOID_UNITS),
            "output": Layer(SIGMOID_UNITS, 2),
        }

    def gradients(self, params: Params, lot: Array) -> tuple[Array, Callable[[Array], Params]]:
        """Return norms and weighted sums of single gradients (see :class:`Model`).

        Examples are the last axis here: under six noises a step takes .6 of the time of the
        general way, whose last axis is the few units.
        """
        x, y = self.inputs[lot].T, self.labels[lot]
        hidden = self.activation(params["hidden"].T @ x + params["hidden_bias"])
        outputs = params["output"].T @ hidden + params["output_bias"]
        by_output = jax.nn.softmax(outputs, axis=0) - (jnp.arange(2)[:, None] == y)
        by_hidden = (params["output"] @ by_output) * hidden * (1 - hidden)
        layers = {"hidden": (x, by_hidden), "output": (hidden, by_output)}
        # A bias is the weight of an input that is always 1.
        squares = sum(
            (1 + (inputs**2).sum(axis=0)) * (d**2).sum(axis=0) for inputs, d in layers.values()
        )

        def weighted(weights: Array) -> Params:
            sums = {}
            for name, (inputs, d) in layers.items():
                sums[name] = inputs @ (weights * d).T
                sums[f"{name}_bias"] = (d @ weights)[:, None]
            return sums

        return jnp.sqrt(jnp.asarray(squares)), weighted


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class LeNet(Layered):
    """LeNet-5 (LeCun et al. 1998, section II) on pictures of 28 x 28 points.

    Two convolutions of 5 x 5, each averaged over 2 x 2 points before its tanh, precede 120, 84 and
    10 units. All maps of the first convolution feed all maps of the second. The last layer is
    linear.
    """

    stored = "images", jnp.uint8

    @property
    def layers(self) -> dict[str, Layer]:
        """Return the five layers, with 61,706 weights and biases."""
        return LENET

    @staticmethod
    def activation(x: Array) -> Array:
        """Return the tanh, which gives features in [-1, 1] as in the paper."""
        return jnp.tanh(x)

    @staticmethod
    def read(inputs: Array) -> Array:
        """Return pictures with a border of two points, paper at -0.1 and ink at 1.175."""
        padded = jnp.pad(inputs, ((0, 0), (2, 2), (2, 2))).reshape(len(inputs), -1, 1)
        return padded.astype(jnp.float32) * (1.275 / 255) - 0.1


LENET = {
    "first": Layer(25, 6, 14 * 14),
    "second": Layer(25 * 6, 16, 5 * 5),
    "third": Layer(400, 120),
    "fourth": Layer(120, 84),
    "output": Layer(84, 10),
}


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class GraphNetwork(Model):
    """A graph convolutional network with 16 hidden units (Kipf & Welling 2017, Eq. 9).

    Its outputs are A relu(A X W) V, where A is the symmetric normalised adjacency of the graph with
    self loops and the rows of X have unit Euclidean norm. An example is the loss term of one
    training node i. Let v be the derivative of the loss by row i of A relu(A X W). The gradient by
    column u of W is v_u sum_j A_ij 1[(A X W)_ju > 0] (A X)_j over the node's neighbours j. The
    squared norm of that sum is a sum over pairs of neighbours.

    Attributes:
        aggregated: A X, nodes x words.
        rows, test_rows: rows of A for the training and the test nodes.
        labels, test_labels: classes of these nodes, from 0.
        left, right, owner: pairs of neighbours l <= r of every training node: the two nodes, and
            the index of the training example, ascending.
        products: A_il A_ir <(A X)_l, (A X)_r> for every pair, doubled where l < r.
        classes: number of classes.
        near: number of nodes that a step reads; no lot and its neighbours together have more.
    """

    aggregated: Array
    rows: Array
    labels: Array
    test_rows: Array
    test_labels: Array
    left: Array
    right: Array
    owner: Array
    products: Array
    classes: int = field(metadata={"static": True})
    near: int = field(metadata={"static": True})

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray]) -> Self:
        """Return the network of ``features``, ``edges``, ``labels``, ``train`` and ``test``."""
        adjacency = normalised(arrays["edges"], len(arrays["features"]))
        norms = np.linalg.norm(arrays["features"], axis=1, keepdims=True)
        aggregated = adjacency @ (arrays["features"] / np.maximum(norms, 1e-12))
        rows = adjacency[arrays["train"]]
        owner, left, right = pairs(rows)
        products = rows[owner, left] * rows[owner, right] * (aggregated @ aggregated.T)[left, right]
        labels = arrays["labels"].astype(np.int32)
        return cls(
            aggregated=jnp.asarray(aggregated, jnp.float32),
            rows=jnp.asarray(rows, jnp.float32),
            labels=jnp.asarray(labels[arrays["train"]]),
            test_rows=jnp.asarray(adjacency[arrays["test"]], jnp.float32),
            test_labels=jnp.asarray(labels[arrays["test"]]),
            left=jnp.asarray(left),
            right=jnp.asarray(right),
            owner=jnp.asarray(owner),
            products=jnp.asarray(np.where(left < right, 2, 1) * products, jnp.float32),
            classes=int(labels.max()) + 1,
            near=len(aggregated),
        )

    def for_lots(self, lots: NDArray) -> Self:
        """Return the network with ``near`` as small as these lots allow."""
        members = np.zeros((len(lots), len(self.labels)), np.float32)
        np.put_along_axis(members, lots, 1, axis=1)
        most = int((members @ (np.asarray(self.rows) != 0) > 0).sum(axis=1).max())
        # In large blocks, so that few trials compile anew.
        return replace(self, near=min(-(-most // NEAR_BLOCK) * NEAR_BLOCK, len(self.aggregated)))

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Return words x 16 and 16 x classes."""
        return {
            "hidden": (self.aggregated.shape[1], GRAPH_UNITS),
            "output": (GRAPH_UNITS, self.classes),
        }

    def gradients(self, params: Params, lot: Array) -> tuple[Array, Callable[[Array], Params]]:
        """Return norms and weighted sums of single gradients (see :class:`Model`)."""
        # A lot's outputs depend on its nodes and their neighbours alone. Zeros pad these to `near`.
        nodes = len(self.aggregated)
        rows = self.rows[lot]
        (near,) = jnp.nonzero(rows.any(axis=0), size=self.near, fill_value=nodes)
        aggregated = self.aggregated.at[near].get(mode="fill", fill_value=0)
        around = rows.at[:, near].get(mode="fill", fill_value=0)
        hidden = jax.nn.relu(aggregated @ params["hidden"])
        active = (hidden > 0).astype(jnp.float32)
        inner = around @ hidden
        output = inner @ params["output"]
        by_output = jax.vmap(jax.grad(cross_entropy))(output, self.labels[lot])
        by_inner = by_output @ params["output"].T

        def weighted(weights: Array) -> Params:
            by_hidden = active * (around.T @ (weights[:, None] * by_inner))
            return {
                "hidden": aggregated.T @ by_hidden,
                "output": inner.T @ (weights[:, None] * by_output),
            }

        everywhere = jnp.zeros((nodes, GRAPH_UNITS)).at[near].set(active, mode="drop")
        terms = everywhere[self.left] * everywhere[self.right] * self.products[:, None]
        sums = jax.ops.segment_sum(terms, self.owner, len(self.labels), indices_are_sorted=True)
        squares = _squares(inner) * _squares(by_output) + (by_inner**2 * sums[lot]).sum(axis=1)
        return jnp.sqrt(squares), weighted

    def logits(self, params: Params) -> Array:
        """Return the outputs for the test nodes."""
        hidden = jax.nn.relu(self.aggregated @ params["hidden"])
        return self.test_rows @ hidden @ params["output"]


def normalised(edges: NDArray, nodes: int) -> NDArray:
    """Return D^-1/2 (E + I) D^-1/2 of the undirected ``edges``, nodes x nodes, D the degrees."""
    adjacency = np.eye(nodes)
    adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = 1
    scale = 1 / np.sqrt(adjacency.sum(axis=1))
    # In place, because allocating arrays of this size is slow.
    adjacency *= scale[:, None]
    adjacency *= scale
    return adjacency


def pairs(rows: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return row, l and r of every pair l <= r of columns in which that row is not zero."""
    triples = [
        (owner, left, right)
        for owner, row in enumerate(rows)
        for left, right in itertools.combinations_with_replacement(np.flatnonzero(row), 2)
    ]
    owners, lefts, rights = np.array(triples, np.int32).T
    return owners, lefts, rights
