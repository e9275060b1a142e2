"""The feature extractors of Type II: networks that are trained once, without privacy.

The registry collects the ``EXTRACTORS`` of every file, by the name of the experiment.
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

from matrixdp.checks import InputError
from reproduction import files
from reproduction.data.prepared import LearningSet
from reproduction.experiments import training
from reproduction.experiments.training import base, batches
from reproduction.experiments.training.examples import accuracy, classes, limit_rows, load
from reproduction.experiments.training.models import Params
from reproduction.seeds import streams

#: Learning rate of the training, and number of records per batch.
RATE, BATCH = 1e-3, 128


class Extractor(abc.ABC):
    """A network whose outputs of one layer, in [-1, 1], are released in place of the inputs.

    Attributes:
        stored: name of the inputs in the prepared data set.
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
        """Return the outputs of the other layers for features, a column per class."""

    def narrowed(self, width: float) -> Extractor:
        """Return the network with this share of the units in all layers but the released one.

        Raises:
            InputError: it has one width.
        """
        raise InputError(
            f"this extractor has one width, and the configuration sets {width:g}; leave `width` out"
        )

    def augment(self, key: Array, inputs: Array) -> Array:
        """Return the inputs of a training batch, changed at random; here as they are."""
        return inputs

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        """Return the optimiser of so many steps."""
        return optax.adam(RATE)


@partial(jax.jit, static_argnums=0)
def train(
    network: Extractor, params: Params, inputs: Array, labels: Array, lots: Array, key: Array
) -> Params:
    """Return the parameters after one step of Adam per row of indices, shape (steps, lot).

    ``key`` is the random key of :meth:`Extractor.augment`.
    """
    optimiser = network.optimiser(len(lots))

    def loss(params: Params, examples: Array, truth: Array) -> Array:
        outputs = network.outputs(params, network.features(params, examples))
        return cross_entropy(outputs, truth).mean()

    def step(state: tuple, lot: tuple[Array, Array]) -> tuple[tuple, None]:
        params, memory = state
        number, batch = lot
        examples = network.augment(jax.random.fold_in(key, number), inputs[batch])
        slopes = jax.grad(loss)(params, examples, labels[batch])
        changes, memory = optimiser.update(slopes, memory)
        return (optax.apply_updates(params, changes), memory), None

    numbered = jnp.arange(len(lots)), lots
    (params, _), _ = jax.lax.scan(step, (params, optimiser.init(params)), numbered)
    return params


@partial(jax.jit, static_argnums=0)
def extract(network: Extractor, params: Params, inputs: Array) -> Array:
    """Return the features of all records, computed batch by batch."""
    padding = [(0, -len(inputs) % BATCH)] + [(0, 0)] * (inputs.ndim - 1)
    blocks = jnp.pad(inputs, padding).reshape(-1, BATCH, *inputs.shape[1:])
    features = jax.lax.map(partial(network.features, params), blocks)
    return features.reshape(-1, features.shape[-1])[: len(inputs)]


def write_features(
    job: Mapping[str, Any], folder: str | os.PathLike, out: str | os.PathLike
) -> None:
    """Train the extractor of an experiment and write features, labels and settings (npz).

    Args:
        job: settings of the job: ``experiment``, ``dataset``, ``seed``,
            ``extractor_epochs`` and, if limited, ``width`` and ``records``.
        folder: folder of the prepared data set.
        out: file of the features.
    """
    network = training.find_training(job["experiment"], "EXTRACTORS")
    arrays = run(
        network.narrowed(job["width"]) if "width" in job else network,
        load(folder, job["dataset"]),
        seed=job["seed"],
        epochs=job["extractor_epochs"],
        records=job.get("records"),
    )
    print(f"accuracy of the extractor on the test records: {arrays['accuracy']:.4f}")
    with files.replacing(out) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def run(
    network: Extractor, data: LearningSet, *, seed: int, epochs: int, records: int | None = None
) -> dict[str, NDArray]:
    """Return the features of the records of a data set, with the settings of the extractor.

    At most ``records`` training records and as many test records are used.

    Returns:
        The arrays ``train_features``, ``train_labels``, ``test_features`` and ``test_labels``, the
        ``accuracy`` of the entire network on the test records, ``name``, ``status``, ``seed`` and
        ``epochs``.
    """
    stream, *part_streams = streams(seed, "extractor", data.name, trials=range(3))
    arrays = data.arrays
    for part, part_stream in zip(("train", "test"), part_streams, strict=True):
        arrays = limit_rows(arrays, records, part_stream, part)
    classes(arrays["train_labels"], data.name)
    inputs, test = (jnp.asarray(arrays[f"{part}_{network.stored}"]) for part in ("train", "test"))
    labels = jnp.asarray(arrays["train_labels"], jnp.int32)
    initial = network.initial(stream, inputs, test)
    steps = batches.shuffle_batches(stream, len(inputs), min(BATCH, len(inputs)), epochs)
    params = train(network, initial, inputs, labels, jnp.asarray(steps), base.key(stream))
    features = {"train": extract(network, params, inputs), "test": extract(network, params, test)}
    metadata = {"name": data.name, "status": data.status, "seed": seed, "epochs": epochs}
    score = accuracy(network.outputs(params, features["test"]), arrays["test_labels"])
    metadata["accuracy"] = score
    return {
        **{f"{part}_features": np.asarray(values) for part, values in features.items()},
        **{f"{part}_labels": arrays[f"{part}_labels"] for part in features},
        **{name: np.asarray(value) for name, value in metadata.items()},
    }
