"""Type I: stochastic gradient descent on private gradients (Abadi et al. 2016, Algorithm 1).

Each step takes a lot, usually a Poisson sample, and clips every example's gradient to a joint l2
norm over all parameters. It adds Gaussian noise to the sum and divides by the expected size of a
lot. Adding or removing one example changes the sum by at most the clipping norm.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.flatten_util import ravel_pytree

from reproduction.data.prepared import Arrays
from reproduction.experiments.schemes.base import SchemeNoise
from reproduction.experiments.schemes.gradients import Gradients
from reproduction.experiments.training import batches
from reproduction.experiments.training.base import Score, Trainer, Training, key, round_up
from reproduction.experiments.training.examples import accuracy
from reproduction.experiments.training.models import GraphNetwork, LeNet, Model, Params, Perceptron
from reproduction.privacy import banded
from reproduction.trials import DEFAULT

#: Optimiser of the authors' public code, where the paper states none.
RATE, MOMENTUM, DECAY, DECAY_STEPS = 0.1, 0.9, 0.99, 215

#: Gradients are clipped slightly below the clipping norm, by more than a norm's rounding error.
MARGIN = 1e-5


def clipped_sum(model: Model, params: Params, lot: Array, size: Array, clip: Array) -> Params:
    """Return the sum of the gradients of the first ``size`` examples, each clipped to ``clip``."""
    norms, weighted = model.gradients(params, lot)
    shrink = jnp.minimum(1, (1 - MARGIN) * clip / jnp.maximum(norms, jnp.finfo(jnp.float32).tiny))
    return weighted(jnp.where(jnp.arange(len(lot)) < size, shrink, 0))


@jax.jit
def descend(
    model: Model,
    initial: Params,
    lots: Array,
    sizes: Array,
    clip: Array,
    expected: Array,
    deviations: Params,
    weights: Array,
    key: Array,
) -> Params:
    """Return the parameters after one step per lot.

    Args:
        model: the network with its examples.
        initial: initial parameters.
        lots, sizes: result of :func:`~reproduction.experiments.training.batches.poisson`, of whole
            blocks of b steps.
        clip: joint clipping norm; infinite for no clipping.
        expected: expected size of a lot, by which the noisy sum is divided.
        deviations: standard deviations of the noise on the sum, by parameter; their shapes
            broadcast to the parameters'.
        weights: those of correlated noise, shape (b, 2 b), see
            :func:`reproduction.privacy.banded.block_weights`; independent noise has b = 1.
        key: random key of the noise.
    """
    optimiser = optax.sgd(
        optax.exponential_decay(RATE, DECAY_STEPS, DECAY, staircase=True), MOMENTUM, nesterov=True
    )
    flat, by_name = ravel_pytree(initial)

    def step(state: tuple, inputs: tuple) -> tuple[tuple, None]:
        params, memory = state
        lot, size, noise = inputs
        total = clipped_sum(model, params, lot, size, clip)
        gradient = {
            name: (total[name] + deviations[name] * value) / expected
            for name, value in by_name(noise).items()
        }
        changes, memory = optimiser.update(gradient, memory, params)
        return (optax.apply_updates(params, changes), memory), None

    def block(state: tuple, inputs: tuple) -> tuple[tuple, None]:
        # The noise of b steps is one product: step by step, all noise before would be read b times.
        learnt, past = state
        lots, sizes, keys = inputs
        # One draw for all parameters: one for each takes five times as long for the perceptron.
        noise = jax.vmap(lambda key: jax.random.normal(key, flat.shape))(keys)
        if len(weights) > 1:
            both = jnp.concatenate([past, noise])
            noise = jnp.matmul(weights, both, precision=jax.lax.Precision.HIGHEST)
        learnt, _ = jax.lax.scan(step, learnt, (lots, sizes, noise))
        return (learnt, noise), None

    past = jnp.zeros((len(weights), len(flat)))
    steps = lots, sizes, jax.random.split(key, len(lots))
    blocks = tuple(each.reshape(-1, len(weights), *each.shape[1:]) for each in steps)
    start = (initial, optimiser.init(initial)), past
    ((params, _), _), _ = jax.lax.scan(block, start, blocks)
    return params


#: The same under several noises at once, which stack their deviations and keys: each step reads the
#: examples of its lot once for all.
descend_each = jax.jit(jax.vmap(descend, in_axes=(None, None, None, None, None, None, 0, None, 0)))


@dataclass(frozen=True, kw_only=True)
class PrivateGradients(Training):
    """Training on private gradients.

    Attributes:
        model: the network.
        clip: joint l2 norm to which every example's gradient is clipped.
        batch: number of records in a batch of the authors' code, whose noise on the batches of a
            lot is added in one draw.
    """

    perturbation = "gradients"
    model: type[Model]
    clip: float = 1.0
    batch: int | None = None

    def trainer(self, arrays: Arrays) -> Trainer:
        """Return a trainer of the network on the arrays of a prepared data set."""
        model = self.model.of(arrays)
        labels, test_labels = np.asarray(model.labels), np.asarray(model.test_labels)
        plan = Gradients(
            records=len(labels),
            lot=self.lot,
            epochs=self.epochs,
            clip=self.clip,
            shapes=model.shapes,
            batch=self.batch,
        )

        def trial(stream: np.random.Generator) -> Score:
            initial = model.initial(stream)

            def score(
                noises: Sequence[SchemeNoise | None], streams: Sequence[np.random.Generator]
            ) -> list[dict[str, float]]:
                # All noises of a scheme have one arrangement of lots.
                arrangement: Gradients = noises[0].plan if noises[0] else plan
                # All schemes with the same arrangement get the same examples.
                lot_stream = copy.deepcopy(stream)
                if arrangement.fixed_order:
                    lots = batches.partition_lots(lot_stream, plan.records, plan.lots, plan.epochs)
                else:
                    lots = batches.poisson(lot_stream, plan.records, plan.rate, plan.steps)
                clip = float(plan.clip if noises[0] else np.inf)
                deviations = {
                    name: np.stack(
                        [round_up(noise.deviations[name] if noise else 0) for noise in noises]
                    )
                    for name in plan.shapes
                }
                weights = banded.block_weights(arrangement.bands).astype(np.float32)
                keys = jnp.stack([key(each) for each in streams])
                arguments = *lots, clip, arrangement.expected, deviations, weights, keys
                trained = descend_each(model.for_lots(lots[0]), initial, *arguments)
                each = (
                    {name: value[k] for name, value in trained.items()} for k in range(len(keys))
                )
                return [{DEFAULT: accuracy(model.logits(params), test_labels)} for params in each]

            return score

        return Trainer(plan, labels, test_labels, trial)


TRAININGS = {
    "adult": PrivateGradients(model=Perceptron, lot=512, epochs=50),
    "cora": PrivateGradients(model=GraphNetwork, lot=200, epochs=50),
    "mnist": PrivateGradients(model=LeNet, lot=1024, epochs=100),
}
