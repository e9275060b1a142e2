"""The feature extractors of Type II: networks that are trained once, and without privacy.

Every file's ``EXTRACTORS`` is found here, by the name of the experiment.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray
from optax import softmax_cross_entropy_with_integer_labels as cross_entropy

from matrixdp import checks, files
from matrixdp.data.prepared import LearningSet
from matrixdp.experiments import training
from matrixdp.experiments.training import batches
from matrixdp.experiments.training.examples import accuracy, classes, limited, load
from matrixdp.experiments.training.models import Params
from matrixdp.seeds import streams

#: How it is trained, and how many records pass it at a time.
RATE, BATCH = 1e-3, 128


class Extractor(abc.ABC):
    """A network of which one layer's outputs, in [-1, 1], are released in place of the inputs.

    Attributes:
        stored: what the prepared data set calls the inputs.
    """

    stored: ClassVar[str]

    @abc.abstractmethod
    def initial(self, stream: np.random.Generator, *inputs: Array) -> Params:
        """Return initial parameters for training and test inputs."""

    @abc.abstractmethod
    def features(self, params: Params, inputs: Array) -> Array:
        """Return the features of records, one row each, in [-1, 1]."""

    @abc.abstractmethod
    def outputs(self, params: Params, features: Array) -> Array:
        """Return what the rest of the network makes of features, a column per class."""


@partial(jax.jit, static_argnums=0)
def train(network: Extractor, params: Params, inputs: Array, labels: Array, lots: Array) -> Params:
    """Return the parameters after one step of Adam per row of indices, shape (steps, lot)."""
    optimiser = optax.adam(RATE)

    def loss(params: Params, batch: Array) -> Array:
        found = network.outputs(params, network.features(params, inputs[batch]))
        return cross_entropy(found, labels[batch]).mean()

    def step(state: tuple, batch: Array) -> tuple[tuple, None]:
        params, memory = state
        changes, memory = optimiser.update(jax.grad(loss)(params, batch), memory)
        return (optax.apply_updates(params, changes), memory), None

    (params, _), _ = jax.lax.scan(step, (params, optimiser.init(params)), lots)
    return params


@partial(jax.jit, static_argnums=0)
def extract(network: Extractor, params: Params, inputs: Array) -> Array:
    """Return the features of all records, computed batch by batch."""
    padding = [(0, -len(inputs) % BATCH)] + [(0, 0)] * (inputs.ndim - 1)
    blocks = jnp.pad(inputs, padding).reshape(-1, BATCH, *inputs.shape[1:])
    found = jax.lax.map(partial(network.features, params), blocks)
    return found.reshape(-1, found.shape[-1])[: len(inputs)]


def write(part: Mapping[str, Any], folder: str | os.PathLike, out: str | os.PathLike) -> None:
    """Train the extractor of an experiment and write features, labels and settings (npz).

    ``part`` has the experiment's settings: ``experiment``, ``dataset``, ``seed``,
    ``extractor_epochs`` and, if not all, ``records``; ``folder`` the prepared data set.
    """
    known = training.registry("EXTRACTORS")
    found = run(
        known[checks.choice(known, experiment=part["experiment"])],
        load(folder, part["dataset"]),
        seed=part["seed"],
        epochs=part["extractor_epochs"],
        records=part.get("records"),
    )
    print(f"accuracy of the extractor on the test records: {found['accuracy']:.4f}")
    with files.replacing(out) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, allow_pickle=False, **found)


def run(
    network: Extractor, data: LearningSet, *, seed: int, epochs: int, records: int | None = None
) -> dict[str, NDArray]:
    """Return the features of the records of a data set, and how they came about.

    Of the training and of the test records at most ``records`` each are taken. Returned are
    ``train_features``, ``train_labels`` and their test partners; ``accuracy``, that of the whole
    network on the test records; ``name``, ``status``, ``seed`` and ``epochs``.
    """
    stream, *choosing = streams(seed, "extractor", data.name, trials=range(3))
    arrays = data.arrays
    for part, own in zip(("train", "test"), choosing, strict=True):
        arrays = limited(arrays, records, own, part)
    classes(arrays["train_labels"], data.name)
    inputs, test = (jnp.asarray(arrays[f"{part}_{network.stored}"]) for part in ("train", "test"))
    labels = jnp.asarray(arrays["train_labels"], jnp.int32)
    initial = network.initial(stream, inputs, test)
    steps = batches.shuffled(stream, len(inputs), min(BATCH, len(inputs)), epochs)
    params = train(network, initial, inputs, labels, steps)
    found = {"train": extract(network, params, inputs), "test": extract(network, params, test)}
    about = {"name": data.name, "status": data.status, "seed": seed, "epochs": epochs}
    about["accuracy"] = accuracy(network.outputs(params, found["test"]), arrays["test_labels"])
    return {
        **{f"{part}_features": np.asarray(of) for part, of in found.items()},
        **{f"{part}_labels": arrays[f"{part}_labels"] for part in found},
        **{name: np.asarray(value) for name, value in about.items()},
    }
