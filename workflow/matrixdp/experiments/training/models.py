"""The networks of the Type I experiments, and the gradients of their single training examples.

The gradient of one example is never written out. Where a layer multiplies its input x by a weight
matrix, it is the outer product of x and of the loss's derivative d by the layer's output: its norm
is |x| |d|, and a weighted sum over examples is one matrix product (Goodfellow 2015, "Efficient
per-example gradient computations"). The derivatives d come from ``jax.vmap`` over the examples.

Parameters are dictionaries of float32 matrices by name; a bias is a column.
"""

from __future__ import annotations

import abc
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray
from optax import softmax_cross_entropy_with_integer_labels as cross_entropy

Params = dict[str, Array]

#: Units of the hidden layer: of the Adult network, and of the graph network.
SIGMOID_UNITS = 12
GRAPH_UNITS = 16


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
        """Return initial parameters: biases zero, weights uniform as in :func:`glorot`."""
        return {
            name: jnp.zeros(shape) if name.endswith("bias") else glorot(stream, shape)
            for name, shape in self.shapes.items()
        }

    @abc.abstractmethod
    def losses(self, params: Params, lot: Array) -> Array:
        """Return the cross-entropy of the training examples with the indices ``lot``."""

    @abc.abstractmethod
    def gradients(self, params: Params, lot: Array) -> tuple[Array, Callable[[Array], Params]]:
        """Return the gradients of the single ``losses``, in a form that is cheap to use.

        That is the joint l2 norm over all parameters of the gradient of each example of ``lot``,
        shape (k,); and the function that takes k weights to the weighted sum of the gradients.
        """

    @abc.abstractmethod
    def logits(self, params: Params) -> Array:
        """Return the outputs for the test examples, one row each."""


def glorot(stream: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return weights uniform within sqrt(6 / (inputs + outputs)), the last two axes."""
    bound = np.sqrt(6 / sum(shape[-2:]))
    return jnp.asarray(stream.uniform(-bound, bound, shape), jnp.float32)


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Perceptron(Model):
    """One hidden layer of 12 sigmoid units.

    Attributes:
        inputs, test_inputs: one row per example.
        labels, test_labels: classes from 0.
    """

    inputs: Array
    labels: Array
    test_inputs: Array
    test_labels: Array

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray]) -> Self:
        """Return the network of ``train_inputs``, ``train_labels`` and their test partners."""
        types = {"inputs": jnp.float32, "labels": jnp.int32}
        names = itertools.product(("train", "test"), types.items())
        return cls(*(jnp.asarray(arrays[f"{part}_{of}"], kind) for part, (of, kind) in names))

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Return inputs x 12, 12 x 2 and the two biases."""
        return {
            "hidden": (self.inputs.shape[1], SIGMOID_UNITS),
            "hidden_bias": (SIGMOID_UNITS, 1),
            "output": (SIGMOID_UNITS, 2),
            "output_bias": (2, 1),
        }

    def losses(self, params: Params, lot: Array) -> Array:
        """Return the cross-entropy of single examples (see :class:`Model`)."""
        return cross_entropy(_output(params, _hidden(params, self.inputs[lot])), self.labels[lot])

    def gradients(self, params: Params, lot: Array) -> tuple[Array, Callable[[Array], Params]]:
        """Return norms and weighted sums of single gradients (see :class:`Model`)."""
        x, y = self.inputs[lot], self.labels[lot]
        inner = _hidden(params, x)
        h = jax.nn.sigmoid(inner)
        by_output = jax.vmap(jax.grad(cross_entropy))(_output(params, inner), y)
        by_inner = jax.vmap(jax.grad(lambda i, y: cross_entropy(_output(params, i), y)))(inner, y)

        def weighted(weights: Array) -> Params:
            inner, output = weights[:, None] * by_inner, weights[:, None] * by_output
            return {
                "hidden": x.T @ inner,
                "hidden_bias": inner.sum(axis=0)[:, None],
                "output": h.T @ output,
                "output_bias": output.sum(axis=0)[:, None],
            }

        # A bias is the weight of an input that is always 1.
        squares = (1 + _squares(x)) * _squares(by_inner) + (1 + _squares(h)) * _squares(by_output)
        return jnp.sqrt(squares), weighted

    def logits(self, params: Params) -> Array:
        """Return the outputs for the test examples."""
        return _output(params, _hidden(params, self.test_inputs))


def _hidden(params: Params, x: Array) -> Array:
    return x @ params["hidden"] + params["hidden_bias"][:, 0]


def _output(params: Params, inner: Array) -> Array:
    return jax.nn.sigmoid(inner) @ params["output"] + params["output_bias"][:, 0]


def _squares(rows: Array) -> Array:
    return (rows * rows).sum(axis=1)


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class GraphNetwork(Model):
    """A graph convolutional network with 16 hidden units (Kipf & Welling 2017, Eq. 9).

    Its outputs are A relu(A X W) V, where A is the symmetric normalised adjacency of the graph with
    self loops and the rows of X have unit Euclidean norm. An example is the loss term of one
    training node i. Its gradient by column u of W is v_u sum_j A_ij 1[(A X W)_ju > 0] (A X)_j, with
    j over the node's neighbours and v the derivative by row i of A relu(A X W). The squared norm of
    that sum is a sum over pairs of neighbours.

    Attributes:
        aggregated, transposed: A X, nodes x words, and its transpose, laid out for a fast product.
        rows, test_rows: the rows of A of the training and of the test nodes.
        labels, test_labels: the classes of these nodes, from 0.
        left, right, owner: every pair of neighbours l <= r of every training node: the two nodes,
            and the training example, ascending.
        products: A_il A_ir <(A X)_l, (A X)_r> of every pair, doubled where l < r.
        classes: number of classes.
    """

    aggregated: Array
    transposed: Array
    rows: Array
    labels: Array
    test_rows: Array
    test_labels: Array
    left: Array
    right: Array
    owner: Array
    products: Array
    classes: int = field(metadata={"static": True})

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
            transposed=jnp.asarray(np.ascontiguousarray(aggregated.T), jnp.float32),
            rows=jnp.asarray(rows, jnp.float32),
            labels=jnp.asarray(labels[arrays["train"]]),
            test_rows=jnp.asarray(adjacency[arrays["test"]], jnp.float32),
            test_labels=jnp.asarray(labels[arrays["test"]]),
            left=jnp.asarray(left),
            right=jnp.asarray(right),
            owner=jnp.asarray(owner),
            products=jnp.asarray(np.where(left < right, 2, 1) * products, jnp.float32),
            classes=int(labels.max()) + 1,
        )

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Return words x 16 and 16 x classes."""
        return {
            "hidden": (self.aggregated.shape[1], GRAPH_UNITS),
            "output": (GRAPH_UNITS, self.classes),
        }

    def losses(self, params: Params, lot: Array) -> Array:
        """Return the loss terms of training nodes (see :class:`Model`)."""
        hidden = jax.nn.relu(self.aggregated @ params["hidden"])
        return cross_entropy(self.rows[lot] @ hidden @ params["output"], self.labels[lot])

    def gradients(self, params: Params, lot: Array) -> tuple[Array, Callable[[Array], Params]]:
        """Return norms and weighted sums of single gradients (see :class:`Model`)."""
        hidden = jax.nn.relu(self.aggregated @ params["hidden"])
        active = (hidden > 0).astype(jnp.float32)
        around = self.rows[lot]
        inner = around @ hidden
        output = inner @ params["output"]
        by_output = jax.vmap(jax.grad(cross_entropy))(output, self.labels[lot])
        by_inner = by_output @ params["output"].T

        def weighted(weights: Array) -> Params:
            by_hidden = active * (around.T @ (weights[:, None] * by_inner))
            return {
                "hidden": self.transposed @ by_hidden,
                "output": inner.T @ (weights[:, None] * by_output),
            }

        terms = active[self.left] * active[self.right] * self.products[:, None]
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
    # In place: a new array of this size takes longer to get than to fill.
    adjacency *= scale[:, None]
    adjacency *= scale
    return adjacency


def pairs(rows: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return row, l and r of every pair l <= r of columns in which that row is not zero."""
    found = [
        (owner, left, right)
        for owner, row in enumerate(rows)
        for left, right in itertools.combinations_with_replacement(np.flatnonzero(row), 2)
    ]
    owners, lefts, rights = np.array(found, np.int32).T
    return owners, lefts, rights
