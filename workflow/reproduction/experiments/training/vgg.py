"""The feature extractors of colour pictures: VGG-16 and AlexNet up to their last convolution.

Every activation is tanh, as in section 5.1 of the IMGM paper, so that features lie in [-1, 1].
The released layer is followed by one linear layer. The paper states the networks' names and the
numbers of features, 512 and 1,024; pooling, augmentation and training are ours.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array, lax

from reproduction.experiments.training.extractor import Extractor
from reproduction.experiments.training.models import Params, glorot

#: Units of the convolutions (3 x 3 weights), in order; 0 is a maximum over 2 x 2 points.
VGG16 = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)
ALEXNET = (64, 0, 0, 192, 0, 384, 256, 256, 0)
#: Points by which a training picture is shifted at most, and the first learning rate.
SHIFT, RATE = 4, 3e-4
CHANNELS, CLASSES = 3, 10


@dataclass(frozen=True)
class Pictures(Extractor):
    """The outputs of the last convolution of a stack, for pictures of 32 x 32 points.

    Attributes:
        layers: units of the convolutions, as in ``VGG16``.
        flips: whether half of the training pictures are mirrored; a digit must not be.
    """

    layers: tuple[int, ...]
    flips: bool

    stored = "images"

    def narrowed(self, width: float) -> Pictures:
        """Return the stack with this share of the units in all convolutions but the last one."""
        *hidden, released = filter(None, self.layers)
        units = iter([*(max(1, round(width * count)) for count in hidden), released])
        return replace(self, layers=tuple(next(units) if count else 0 for count in self.layers))

    def initial(self, stream: np.random.Generator, *inputs: Array) -> Params:
        """Return initial parameters, uniform by Glorot; there are no biases."""
        side = inputs[0].shape[1] // 2 ** self.layers.count(0)
        units = [CHANNELS, *filter(None, self.layers)]
        params = {
            f"convolution{number}": glorot(stream, (9 * before, after))
            for number, (before, after) in enumerate(itertools.pairwise(units))
        }
        return {**params, "output": glorot(stream, (side * side * units[-1], CLASSES))}

    def features(self, params: Params, inputs: Array) -> Array:
        """Return the features of pictures, from 0 to 255, shape (n, side, side, 3)."""
        values = inputs.astype(jnp.float32) / 127.5 - 1
        number = 0
        for units in self.layers:
            if units:
                values = jnp.tanh(convolve(values, params[f"convolution{number}"]))
                number += 1
            else:
                count, side, _, channels = values.shape
                squares = values.reshape(count, side // 2, 2, side // 2, 2, channels)
                values = squares.max(axis=(2, 4))
        return values.reshape(len(inputs), -1)

    def outputs(self, params: Params, features: Array) -> Array:
        """Return a linear map of the features."""
        return features @ params["output"]

    def augment(self, key: Array, inputs: Array) -> Array:
        """Return a batch of pictures, each shifted and perhaps mirrored, with black edges."""
        side = inputs.shape[1]
        padded = jnp.pad(inputs, [(0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT), (0, 0)])
        shift, flip = jax.random.split(key)
        corners = jax.random.randint(shift, (len(inputs), 2), 0, 2 * SHIFT + 1)
        shape = (side, side, CHANNELS)
        moved = jax.vmap(lambda image, at: lax.dynamic_slice(image, (at[0], at[1], 0), shape))(
            padded, corners
        )
        if not self.flips:
            return moved
        mirrored = jax.random.bernoulli(flip, shape=(len(inputs), 1, 1, 1))
        return jnp.where(mirrored, moved[:, :, ::-1], moved)

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        """Return Adam, with a learning rate that falls to 0 along a cosine."""
        return optax.adam(optax.cosine_decay_schedule(RATE, max(1, steps)))


def convolve(values: Array, weights: Array) -> Array:
    """Return a convolution of 3 x 3 points, with zeros around the picture.

    XLA's own convolution takes eight times as long on a processor as one matrix product. An
    accelerator computes it in bfloat16.

    Args:
        values: pictures, shape (n, side, side, channels).
        weights: rows of the weights, row by row and by channel, shape (9 channels, units).
    """
    by = convolve_by_product if jax.default_backend() == "cpu" else convolve_by_xla
    return by(values, weights)


def convolve_by_product(values: Array, weights: Array) -> Array:
    """Return :func:`convolve` as one product of a matrix of patches and the weights."""
    count, side, _, channels = values.shape
    padded = jnp.pad(values, [(0, 0), (1, 1), (1, 1), (0, 0)])
    shifts = itertools.product(range(3), repeat=2)
    patches = jnp.concatenate([padded[:, i : i + side, j : j + side] for i, j in shifts], axis=3)
    return (patches.reshape(-1, 9 * channels) @ weights).reshape(count, side, side, -1)


def convolve_by_xla(values: Array, weights: Array, kind: type = jnp.bfloat16) -> Array:
    """Return :func:`convolve` by XLA's convolution of numbers of this kind."""
    kernel = weights.reshape(3, 3, values.shape[3], -1)
    layout = ("NHWC", "HWIO", "NHWC")
    result = lax.conv_general_dilated(
        values.astype(kind), kernel.astype(kind), (1, 1), "SAME", dimension_numbers=layout
    )
    return result.astype(jnp.float32)


EXTRACTORS = {
    "cifar10_features": Pictures(VGG16, flips=True),
    "svhn_features": Pictures(ALEXNET, flips=False),
}
