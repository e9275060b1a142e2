"""One run of the compiled training with many canary records, each in or out by a fair coin.

After Steinke, Nasr & Jagielski, "Privacy Auditing with One (1) Training Run" (NeurIPS 2023): who
was in is guessed from the parameters that come out. What is run is the code of the experiments:
gradients, clipping, noise and the optimiser, compiled as they compile it, on Adult's network. Every
canary has a feature of its own, so that almost all of its clipped gradient lies in weights that no
other record touches.

What it certifies: if one record costs at most mu-Gaussian DP, a coin is guessed with a probability
of at most Phi(mu / 2), and noise that is independent between weights makes the guesses independent:
the number of right ones is at most binomial. Independence is an assumption on the kind of noise,
not on its size. Bounds without it hold for noise that all canaries share (Steinke et al.;
Mahloujifar, Melis & Chaudhuri, ICML 2025) and cannot see a fifth too little with this many.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from matrixdp.audit import evidence
from matrixdp.checks import Array
from matrixdp.experiments import schemes
from matrixdp.experiments.schemes.gradients import Gradients
from matrixdp.experiments.training.base import at_least, key
from matrixdp.experiments.training.gradients import descend
from matrixdp.experiments.training.models import Perceptron
from matrixdp.privacy import banded, gaussian

#: Canaries, steps, the declared mu of all steps, and the delta that an epsilon is told at.
CANARIES, STEPS, MU, DELTA = 3000, 2, 3.0, 1e-5

#: Value of a canary's own feature. The larger, the less of its gradient lies in shared weights,
#: until the units saturate.
OWN = 30.0


class Guesses(NamedTuple):
    """How many of the canaries were guessed right, in and out together."""

    right: int
    canaries: int

    @property
    def mu(self) -> float:
        """Lower bound on mu, at least 0, with confidence ``evidence.REFUTED`` (Clopper-Pearson)."""
        wrong = self.canaries - self.right
        share = special.betaincinv(max(self.right, 1e-9), wrong + 1, 1 - evidence.REFUTED)
        return max(2 * float(special.ndtri(share)), 0.0)


def plan(model: Perceptron, canaries: int = CANARIES) -> Gradients:
    """Return the plan of steps that each see all records."""
    return Gradients(records=canaries, lot=canaries, epochs=STEPS, clip=1.0, shapes=model.shapes)


def network(canaries: int = CANARIES) -> Perceptron:
    """Return Adult's network for canaries of one feature each, of either class in turns."""
    arrays: dict[str, NDArray] = {}
    for part in ("train", "test"):
        arrays[f"{part}_inputs"] = OWN * np.eye(canaries)
        arrays[f"{part}_labels"] = np.arange(canaries) % 2
    return Perceptron.of(arrays)


def guesses(
    streams: list[np.random.Generator],
    *,
    factor: float = 1.0,
    clipping: bool = True,
    correlated: bool = False,
) -> Guesses:
    """Return how many canaries are guessed right after one run.

    Args:
        streams: three Generators: of initial parameters, of coins, of the noise's key.
        factor: what the noise's deviation is multiplied with by mistake.
        clipping: whether gradients are clipped.
        correlated: whether two halves of the records take turns, with noise of two bands, so that
            each of them takes part twice; otherwise all take part in each step, with independent
            noise. Final parameters alone show correlated noise less sharply.
    """
    model = network()
    epsilon = float(gaussian.epsilon(DELTA, MU))
    steps = plan(model)
    if correlated:
        steps = replace(steps, lot=CANARIES // 2)
    scheme = schemes.registry("gradients")["banded" if correlated else "imgm"]
    noise = scheme.calibrate(steps, epsilon=epsilon, delta=DELTA)
    steps = noise.plan
    bands = banded.coefficients(steps.bands).astype(np.float32)
    initial = model.initial(streams[0])
    everyone = np.arange(CANARIES, dtype=np.int32)
    coins = streams[1].random(CANARIES) < 0.5

    def moved(members: NDArray, clip: float, factor: float) -> Array:
        """Return how far weights of the canaries' features come, shape (canaries, units)."""
        lots = np.zeros((steps.steps, CANARIES), np.int32)
        sizes = np.zeros(steps.steps, np.int32)
        for step in range(steps.steps):
            turn = members[members % steps.lots == step % steps.lots]
            lots[step, : len(turn)], sizes[step] = turn, len(turn)
        deviations = {
            name: at_least(factor * np.asarray(noise.deviations[name])) for name in steps.shapes
        }
        args = lots, sizes, clip, steps.expected, deviations, bands, key(streams[2])
        after = descend(model, initial, *args)
        return np.asarray(after["hidden"], float) - np.asarray(initial["hidden"], float)

    # Where a canary would take its weights without noise; half of the way is the better guess.
    alone = moved(everyone, steps.clip, 0.0)
    weights = moved(everyone[coins], steps.clip if clipping else np.inf, factor)
    guess = (weights * alone).sum(axis=1) > (alone**2).sum(axis=1) / 2
    return Guesses(int((guess == coins).sum()), CANARIES)
