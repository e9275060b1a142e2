"""The feature extractor of reviews: a bidirectional LSTM, averaged over the words."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from reproduction.experiments.training.extractor import Extractor
from reproduction.experiments.training.models import Params, glorot

#: Sizes: embedding of a word, units per direction, features, classes.
EMBEDDING, UNITS, FEATURES, CLASSES = 100, 75, 150, 2


@dataclass(frozen=True)
class LSTM(Extractor):
    """An LSTM for reviews: rows of word numbers, in which it skips padding (0)."""

    stored = "tokens"

    def initial(self, stream: np.random.Generator, *inputs: Array) -> Params:
        """Return initial parameters; axis 0 of the LSTM's parameters is the direction."""
        vocabulary = max(int(tokens.max()) for tokens in inputs) + 1
        forget = np.zeros((2, 1, 4 * UNITS), np.float32)
        # Initially open forget gates let gradients through (Jozefowicz et al. 2015).
        forget[:, :, UNITS : 2 * UNITS] = 1
        return {
            "embedding": jnp.asarray(
                stream.uniform(-0.05, 0.05, (vocabulary, EMBEDDING)), jnp.float32
            ),
            "input": glorot(stream, (2, EMBEDDING, 4 * UNITS)),
            "recurrent": glorot(stream, (2, UNITS, 4 * UNITS)),
            "bias": jnp.asarray(forget),
            "features": glorot(stream, (2 * UNITS, FEATURES)),
            "output": glorot(stream, (FEATURES, CLASSES)),
        }

    def features(self, params: Params, inputs: Array) -> Array:
        """Return the features of reviews: tanh of a linear map of the mean LSTM state."""
        words = inputs.T
        present = (words > 0)[:, :, None]
        # Compute each word's contribution to the gates once, not once per occurrence.
        gates = params["embedding"] @ params["input"] + params["bias"]
        totals = [
            _total_state(gates[way][words], present, params["recurrent"][way], bool(way))
            for way in (0, 1)
        ]
        total = jnp.concatenate(totals, axis=1)
        return jnp.tanh(total / jnp.maximum(present.sum(axis=0), 1) @ params["features"])

    def outputs(self, params: Params, features: Array) -> Array:
        """Return a linear map of the features."""
        return features @ params["output"]


def _total_state(gates: Array, present: Array, recurrent: Array, reverse: bool) -> Array:
    """Return the sum of an LSTM's states at the words in one direction, reviews x units."""

    def step(state: tuple[Array, Array, Array], inputs: tuple) -> tuple[tuple, None]:
        # The sum goes along: all states together are read again for it, and for its gradient.
        hidden, cell, total = state
        word_gates, present = inputs
        enter, forget, leave, new = jnp.split(word_gates + hidden @ recurrent, 4, axis=1)
        new_cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(enter) * jnp.tanh(new)
        output = jax.nn.sigmoid(leave) * jnp.tanh(new_cell)
        hidden, cell = jnp.where(present, output, hidden), jnp.where(present, new_cell, cell)
        return (hidden, cell, total + jnp.where(present, output, 0)), None

    zero = jnp.zeros((gates.shape[1], UNITS))
    (_, _, total), _ = jax.lax.scan(step, (zero, zero, zero), (gates, present), reverse=reverse)
    return total


EXTRACTORS = {"imdb": LSTM()}
