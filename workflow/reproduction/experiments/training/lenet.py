"""The feature extractor of pictures: LeNet-5 up to its convolutions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jax import Array

from reproduction.experiments.training.extractor import Extractor
from reproduction.experiments.training.models import (
    LENET,
    LeNet,
    Params,
    draw_weights,
    forward,
    shapes,
)

#: Layers whose outputs are released, 25 places x 16 units, and the others.
SHARED = {name: LENET[name] for name in ("first", "second")}
REST = {name: layer for name, layer in LENET.items() if name not in SHARED}


@dataclass(frozen=True)
class Convolutions(Extractor):
    """The 400 outputs of the second convolution, after their tanh."""

    stored = "images"

    def initial(self, stream: np.random.Generator, *inputs: Array) -> Params:
        """Return the initial parameters of the whole network."""
        return draw_weights(shapes(LENET), stream)

    def features(self, params: Params, inputs: Array) -> Array:
        """Return the features of pictures of 28 x 28 points."""
        values, _ = forward(SHARED, LeNet.activation, params, LeNet.read(inputs))
        return LeNet.activation(values).reshape(len(inputs), -1)

    def outputs(self, params: Params, features: Array) -> Array:
        """Return the outputs of layers of 120, 84 and 10 units for features."""
        return forward(REST, LeNet.activation, params, features)[0][:, 0]


EXTRACTORS = {"mnist_features": Convolutions()}
