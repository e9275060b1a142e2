"""The feature extractor of Type II: a bidirectional LSTM, trained once and without privacy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray
from optax import softmax_cross_entropy_with_integer_labels as cross_entropy

from matrixdp import files
from matrixdp.data.prepared import LearningSet
from matrixdp.experiments.training import batches
from matrixdp.experiments.training.examples import accuracy, classes, limited, load
from matrixdp.experiments.training.models import Params, glorot
from matrixdp.seeds import streams

#: Sizes: embedding of a word, units per direction, features, classes.
EMBEDDING, UNITS, FEATURES, CLASSES = 100, 75, 150, 2
#: How it is trained, and how many reviews pass it at a time.
RATE, BATCH = 1e-3, 128


def extractor(stream: np.random.Generator, vocabulary: int) -> Params:
    """Return initial parameters; axis 0 of what the LSTM has is the direction."""
    forget = np.zeros((2, 1, 4 * UNITS), np.float32)
    # A forget gate that starts open lets gradients through (Jozefowicz et al. 2015).
    forget[:, :, UNITS : 2 * UNITS] = 1
    return {
        "embedding": jnp.asarray(stream.uniform(-0.05, 0.05, (vocabulary, EMBEDDING)), jnp.float32),
        "input": glorot(stream, (2, EMBEDDING, 4 * UNITS)),
        "recurrent": glorot(stream, (2, UNITS, 4 * UNITS)),
        "bias": jnp.asarray(forget),
        "features": glorot(stream, (2 * UNITS, FEATURES)),
        "output": glorot(stream, (FEATURES, CLASSES)),
    }


def features(params: Params, tokens: Array) -> Array:
    """Return the features of reviews, in [-1, 1]: tanh of a linear map of the mean LSTM state.

    Args:
        params: as from :func:`extractor`.
        tokens: reviews x length, 0 for padding, which the LSTM passes over.
    """
    words = tokens.T
    present = (words > 0)[:, :, None]
    # Every word's part of the gates once, not once per place where it stands.
    gates = params["embedding"] @ params["input"] + params["bias"]
    states = [
        _states(gates[way][words], present, params["recurrent"][way], bool(way)) for way in (0, 1)
    ]
    total = (jnp.concatenate(states, axis=2) * present).sum(axis=0)
    return jnp.tanh(total / jnp.maximum(present.sum(axis=0), 1) @ params["features"])


def _states(gates: Array, present: Array, recurrent: Array, reverse: bool) -> Array:
    """Return the states of an LSTM in one direction, length x reviews x units."""

    def step(state: tuple[Array, Array], inputs: tuple) -> tuple[tuple[Array, Array], Array]:
        hidden, cell = state
        given, present = inputs
        enter, forget, leave, new = jnp.split(given + hidden @ recurrent, 4, axis=1)
        moved = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(enter) * jnp.tanh(new)
        shown = jax.nn.sigmoid(leave) * jnp.tanh(moved)
        state = jnp.where(present, shown, hidden), jnp.where(present, moved, cell)
        return state, state[0]

    zero = jnp.zeros((gates.shape[1], UNITS))
    return jax.lax.scan(step, (zero, zero), (gates, present), reverse=reverse)[1]


@jax.jit
def train(params: Params, tokens: Array, labels: Array, lots: Array) -> Params:
    """Return the parameters after one step of Adam per row of indices, shape (steps, lot)."""
    optimiser = optax.adam(RATE)

    def loss(params: Params, batch: Array) -> Array:
        outputs = features(params, tokens[batch]) @ params["output"]
        return cross_entropy(outputs, labels[batch]).mean()

    def step(state: tuple, batch: Array) -> tuple[tuple, None]:
        params, memory = state
        changes, memory = optimiser.update(jax.grad(loss)(params, batch), memory)
        return (optax.apply_updates(params, changes), memory), None

    (params, _), _ = jax.lax.scan(step, (params, optimiser.init(params)), lots)
    return params


@jax.jit
def extract(params: Params, tokens: Array) -> Array:
    """Return the features of all reviews, computed batch by batch."""
    padding = -len(tokens) % BATCH
    blocks = jnp.pad(tokens, ((0, padding), (0, 0))).reshape(-1, BATCH, tokens.shape[1])
    found = jax.lax.map(lambda block: features(params, block), blocks)
    return found.reshape(-1, FEATURES)[: len(tokens)]


def write(part: Mapping[str, Any], folder: str | os.PathLike, out: str | os.PathLike) -> None:
    """Train the extractor of an experiment and write features, labels and settings (npz).

    ``part`` has the experiment's settings: ``experiment``, ``dataset``, ``seed``,
    ``extractor_epochs`` and, if not all, ``records``; ``folder`` the prepared data set.
    """
    found = run(
        load(folder, part["dataset"]),
        seed=part["seed"],
        epochs=part["extractor_epochs"],
        records=part.get("records"),
    )
    print(f"accuracy of the extractor on the test records: {found['accuracy']:.4f}")
    with files.replacing(out) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, allow_pickle=False, **found)


def run(
    data: LearningSet, *, seed: int, epochs: int, records: int | None = None
) -> dict[str, NDArray]:
    """Return the features of the records of a data set, and how they came about.

    It has ``train_tokens``, ``train_labels``, ``test_tokens`` and ``test_labels``, of which at most
    ``records`` each are taken. Returned are ``train_features``, ``train_labels`` and their test
    partners; ``accuracy``, that of the extractor's own output layer on the test records; ``name``,
    ``status``, ``seed`` and ``epochs``.
    """
    training, *choosing = streams(seed, "extractor", data.name, trials=range(3))
    arrays = data.arrays
    for part, stream in zip(("train", "test"), choosing, strict=True):
        arrays = limited(arrays, records, stream, part)
    classes(arrays["train_labels"], data.name)
    tokens, labels = (jnp.asarray(arrays[f"train_{of}"], jnp.int32) for of in ("tokens", "labels"))
    test = jnp.asarray(arrays["test_tokens"], jnp.int32)
    initial = extractor(training, int(max(tokens.max(), test.max())) + 1)
    steps = batches.shuffled(training, len(tokens), min(BATCH, len(tokens)), epochs)
    params = train(initial, tokens, labels, steps)
    found = {"train": extract(params, tokens), "test": extract(params, test)}
    about = {"name": data.name, "status": data.status, "seed": seed, "epochs": epochs}
    about["accuracy"] = accuracy(found["test"] @ params["output"], arrays["test_labels"])
    return {
        **{f"{part}_features": np.asarray(of) for part, of in found.items()},
        **{f"{part}_labels": arrays[f"{part}_labels"] for part in found},
        **{name: np.asarray(value) for name, value in about.items()},
    }
