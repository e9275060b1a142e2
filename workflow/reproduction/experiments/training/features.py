"""Type II: a linear classifier on private features, which a network extracts from the records.

The features of the training records are released once, with noise. The guarantee covers the
features only: the trained network and the labels count as public. Test features have no noise.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray
from optax import softmax_cross_entropy_with_integer_labels as cross_entropy

from matrixdp.checks import InputError
from reproduction.data.prepared import Arrays
from reproduction.experiments.schemes.base import SchemeNoise
from reproduction.experiments.schemes.features import Features
from reproduction.experiments.training import batches
from reproduction.experiments.training.base import Score, Trainer, Training, round_up
from reproduction.experiments.training.examples import accuracy
from reproduction.trials import DEFAULT

#: Learning rate, unless a training has one that suits its features.
RATE = 0.1

#: Readings of the paper: without a bias, with a bias, and with a bias on test features that are not
#: divided like the training features.
READINGS = (DEFAULT, "classifier=bias", "classifier=bias_undivided")


@functools.partial(jax.jit, static_argnames=("classes", "rate"))
def classify(
    private: Array,
    labels: Array,
    lots: Array,
    deviation: Array,
    normals: Array,
    radii: Array | None = None,
    classes: int = 2,
    rate: float = RATE,
) -> dict[str, tuple[Array, Array]]:
    """Return weights, features x classes, and bias of linear classifiers trained on noisy features.

    Training divides each noisy feature by sqrt(1 + deviation^2), so that one learning rate suits
    any noise. The paper leaves the rest open. By default there is no bias, as in the extractor's
    output layer, and dividing the test features has no effect. With a bias it does (see
    ``READINGS``). Under much noise the last SGD steps of the bias can then outweigh the divided
    features, and decide the class of every test record.

    Args:
        private: records x features, in [-1, 1].
        labels: classes of the records.
        lots: indices of records, one SGD step each, shape (steps, lot).
        deviation: standard deviation of the noise, a scalar or one per feature.
        normals: standard normal draws, shape of ``private``, the same for all readings.
        radii: length of each record's noise, shape (records, 1), if it is not Gaussian.
        classes: number of classes.
        rate: learning rate.

    Returns:
        For each of ``READINGS`` the weights and bias for test features that are not divided.
    """
    scale = jnp.sqrt(1 + deviation**2)
    noise = deviation * normals
    if radii is not None:
        noise = noise * (radii / jnp.linalg.norm(noise, axis=1, keepdims=True))
    inputs = (private + noise) / scale
    # Two classifiers side by side, the first without a bias: one product serves both.
    start = jnp.zeros((private.shape[1], 2 * classes)), jnp.zeros((2, classes))
    rates = rate, jnp.array([[0], [rate]])

    def loss(params: tuple, batch: Array, truth: Array) -> Array:
        weights, bias = params
        one, other = jnp.split(batch @ weights, 2, axis=1)
        losses = cross_entropy(one + bias[0], truth) + cross_entropy(other + bias[1], truth)
        return losses.mean()

    def step(params: tuple, lot: Array) -> tuple[tuple, None]:
        slopes = jax.grad(loss)(params, inputs[lot], labels[lot])
        return jax.tree.map(lambda p, rate, s: p - rate * s, params, rates, slopes), None

    (both, (none, bias)), _ = jax.lax.scan(step, start, lots)
    plain, weights = jnp.split(both, 2, axis=1)
    divisor = jnp.reshape(scale, (-1, 1))
    trained = (plain / divisor, none), (weights / divisor, bias), (weights, bias)
    return dict(zip(READINGS, trained, strict=True))


def _radii(noise: SchemeNoise, records: int, stream: np.random.Generator) -> NDArray | None:
    """Return the lengths of the records' noise, shape (records, 1); None for Gaussian noise."""
    plan: Features = noise.plan
    if plan.power == 2:
        return None
    scale = round_up(plan.scale(float(noise.deviations["features"])))
    sizes = stream.standard_gamma(plan.features / plan.power, (records, 1))
    return np.asarray(scale * sizes ** (1 / plan.power), np.float32)


@dataclass(frozen=True, kw_only=True)
class PrivateFeatures(Training):
    """Training of a linear classifier on private features.

    Attributes:
        rate: learning rate of the classifier.
    """

    rate: float = RATE

    perturbation = "features"

    def trainer(self, arrays: Arrays) -> Trainer:
        """Return a trainer of the classifier on the arrays of extracted features."""
        # The schemes' sensitivity assumes features in [-1, 1].
        largest = float(np.abs(arrays["train_features"]).max())
        if not largest <= 1:
            raise InputError(
                f"the largest training feature is {largest:g}; features must lie in [-1, 1], as "
                "those of `python -m reproduction extract-features` do"
            )
        private, test = (jnp.asarray(arrays[f"{part}_features"]) for part in ("train", "test"))
        labels, test_labels = (
            np.asarray(arrays[f"{part}_labels"], np.int32) for part in ("train", "test")
        )
        records, features = private.shape
        class_count = int(labels.max()) + 1

        def trial(stream: np.random.Generator) -> Score:
            lots = batches.shuffle_batches(stream, records, self.lot, self.epochs)

            def score(noise: SchemeNoise | None, stream: np.random.Generator) -> dict[str, float]:
                # One shape for all schemes, to compile once.
                deviations = noise.deviations["features"] if noise else 0
                deviation = np.broadcast_to(np.ravel(round_up(deviations)), features)
                # By NumPy, which draws normals in half the time that jax takes.
                normals = stream.standard_normal(private.shape, np.float32)
                radii = _radii(noise, records, stream) if noise else None
                classifiers = classify(
                    private, labels, lots, deviation, normals, radii, class_count, self.rate
                )
                return {
                    reading: accuracy(test @ weights + bias, test_labels)
                    for reading, (weights, bias) in classifiers.items()
                }

            return lambda noises, streams: [*map(score, noises, streams)]

        plan = Features(features=features, records=records, lot=self.lot)
        return Trainer(plan, labels, test_labels, trial)


TRAININGS = {
    "imdb": PrivateFeatures(lot=256, epochs=10),
    "mnist_features": PrivateFeatures(lot=256, epochs=50),
    # Maxima over points have a mean far from 0, along which steps of RATE overshoot. The slope of
    # the loss on d features in [-1, 1] changes by at most d / 2 per unit: steps of 2 / d descend.
    "cifar10_features": PrivateFeatures(lot=256, epochs=50, rate=2 / 512),
    "svhn_features": PrivateFeatures(lot=1024, epochs=20, rate=2 / 1024),
}
