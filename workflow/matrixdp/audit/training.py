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

from collections.abc import Mapping
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
from matrixdp.privacy import gaussian

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
    given: list[np.random.Generator], *, factor: float = 1.0, clipping: bool = True
) -> Guesses:
    """Return how many canaries are guessed right after one run.

    ``given`` are three Generators: initial parameters, coins, noise. The noise's deviation is
    multiplied with ``factor`` by mistake, and gradients may stay without ``clipping``.
    """
    model = network()
    steps = plan(model)
    epsilon = float(gaussian.epsilon(DELTA, MU))
    scheme = schemes.registry("gradients")["imgm"]
    noise = scheme.calibrate(steps, epsilon=epsilon, delta=DELTA)
    initial = model.initial(given[0])
    everyone = np.arange(CANARIES, dtype=np.int32)
    coins = given[1].random(CANARIES) < 0.5

    def moved(members: NDArray, clip: float, factor: float) -> Array:
        """Return how far weights of the canaries' features come, shape (canaries, units)."""
        lot = np.zeros(CANARIES, np.int32)
        lot[: len(members)] = members
        lots, sizes = np.tile(lot, (STEPS, 1)), np.full(STEPS, len(members), np.int32)
        deviations: Mapping[str, Array] = {
            name: at_least(factor * np.asarray(noise.deviations[name])) for name in steps.shapes
        }
        # Independent noise in each step.
        bands = np.ones(1, np.float32)
        args = lots, sizes, clip, steps.lot, deviations, bands, key(given[2])
        after = descend(model, initial, *args)
        return np.asarray(after["hidden"], float) - np.asarray(initial["hidden"], float)

    # Where a canary would take its weights without noise; half of the way is the better guess.
    alone = moved(everyone, steps.clip, 0.0)
    found = moved(everyone[coins], steps.clip if clipping else np.inf, factor)
    said = (found * alone).sum(axis=1) > (alone**2).sum(axis=1) / 2
    return Guesses(int((said == coins).sum()), CANARIES)
