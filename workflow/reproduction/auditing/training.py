"""An audit of the compiled training by one run with many canaries, each in or out by a fair coin.

After Steinke, Nasr & Jagielski, "Privacy Auditing with One (1) Training Run" (NeurIPS 2023): the
audit guesses each canary's coin from the final parameters. The run is the experiments' own code:
gradients, clipping, noise and the optimiser, compiled in the same way, on Adult's network. Every
canary has a separate feature, so that almost all of its clipped gradient lies in weights that no
other record changes.

If one record costs at most mu-Gaussian DP, a guess is right with a probability of at most
Phi(mu / 2). Noise that is independent between weights makes the guesses independent, so that the
number of right guesses is at most binomial. Independence is an assumption on the kind of noise, not
on its size. Bounds without it also cover noise that all canaries share (Steinke et al.;
Mahloujifar, Melis & Chaudhuri, ICML 2025). With this many canaries they cannot detect noise that is
a fifth too small.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from matrixdp.auditing import evidence
from matrixdp.checks import Array
from matrixdp.privacy import gaussian_dp
from reproduction.experiments import schemes
from reproduction.experiments.schemes.gradients import Gradients
from reproduction.experiments.training.base import key, round_up
from reproduction.experiments.training.gradients import descend
from reproduction.experiments.training.models import Perceptron
from reproduction.privacy import banded

#: Number of canaries and of steps, the declared mu of all steps, and the delta of a reported
#: epsilon.
CANARIES, STEPS, MU, DELTA = 3000, 2, 3.0, 1e-5

#: Value of a canary's separate feature. The larger it is, the less of the gradient lies in shared
#: weights, until the units saturate.
FEATURE_VALUE = 30.0


class Guesses(NamedTuple):
    """The number of right guesses, for members and non-members together."""

    right: int
    canaries: int

    @property
    def mu(self) -> float:
        """Lower bound on mu, at least 0, at confidence ``evidence.SUSPECTED`` (Clopper-Pearson)."""
        wrong = self.canaries - self.right
        share = special.betaincinv(max(self.right, 1e-9), wrong + 1, 1 - evidence.SUSPECTED)
        return max(2 * float(special.ndtri(share)), 0.0)


def guesses(
    streams: list[np.random.Generator],
    *,
    factor: float = 1.0,
    clipping: bool = True,
    correlated: bool = False,
) -> Guesses:
    """Return the right guesses after one run.

    Args:
        streams: three Generators: for initial parameters, coins, and the noise's key.
        factor: factor of the noise's deviation; an error if not 1.
        clipping: whether gradients are clipped.
        correlated: whether two halves of the records take turns under noise of two bands, so that
            each takes part twice. Otherwise all records take part in each step, under independent
            noise. Final parameters show correlated noise less clearly.
    """
    # Canaries of one feature each, of either class in turns.
    arrays: dict[str, NDArray] = {}
    for part in ("train", "test"):
        arrays[f"{part}_inputs"] = FEATURE_VALUE * np.eye(CANARIES)
        arrays[f"{part}_labels"] = np.arange(CANARIES) % 2
    model = Perceptron.of(arrays)
    lot = CANARIES // 2 if correlated else CANARIES
    plan = Gradients(records=CANARIES, lot=lot, epochs=STEPS, clip=1.0, shapes=model.shapes)
    scheme = schemes.registry("gradients")["banded" if correlated else "imgm"]
    noise = scheme.calibrate(plan, epsilon=float(gaussian_dp.epsilon(DELTA, MU)), delta=DELTA)
    steps = noise.plan
    weights_of_block = banded.block_weights(steps.bands).astype(np.float32)
    initial = model.initial(streams[0])
    everyone = np.arange(CANARIES, dtype=np.int32)
    coins = streams[1].random(CANARIES) < 0.5

    def moved(members: NDArray, clip: float, factor: float) -> Array:
        """Return the change of the weights of canaries' features, shape (canaries, units)."""
        lots = np.zeros((steps.steps, CANARIES), np.int32)
        sizes = np.zeros(steps.steps, np.int32)
        for step in range(steps.steps):
            turn = members[members % steps.lots == step % steps.lots]
            lots[step, : len(turn)], sizes[step] = turn, len(turn)
        deviations = {
            name: round_up(factor * np.asarray(noise.deviations[name])) for name in steps.shapes
        }
        args = lots, sizes, clip, steps.expected, deviations, weights_of_block, key(streams[2])
        after = descend(model, initial, *args)
        return np.asarray(after["hidden"], float) - np.asarray(initial["hidden"], float)

    # The noiseless change by each canary; a projection above half of it is a guess of membership.
    alone = moved(everyone, steps.clip, 0.0)
    weights = moved(everyone[coins], steps.clip if clipping else np.inf, factor)
    guess = (weights * alone).sum(axis=1) > (alone**2).sum(axis=1) / 2
    return Guesses(int((guess == coins).sum()), CANARIES)
