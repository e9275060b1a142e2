"""Noise of each of many releases, by every accountant (IMGM, Theorem 4)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from matrixdp.experiments.schemes.base import analytic_mu, classical_multiplier
from matrixdp.privacy import accountants, gaussian, kov, sampling
from matrixdp.privacy.kov import Guarantee
from matrixdp.theory.published_settings import SETTINGS

EPSILONS, DELTA = (0.1, 1.0), 1e-5
#: Numbers of releases up to 1e5: five a decade without sampling, two with the slower sampling.
RELEASES = np.unique(np.rint(np.geomspace(1, 1e5, 26)).astype(int))
SAMPLED_RELEASES = np.rint(np.geomspace(1, 1e5, 11)).astype(int)
#: Share of Adult's records in a lot.
RATE = SETTINGS["adult"].lot / SETTINGS["adult"].records

#: From epsilon, delta, ``rate`` and ``steps``, the number of releases, to the multiplier of one
#: release.
Multiplier = Callable[..., float]

COLUMNS = ["accountant", "sampled", "epsilon", "delta", "releases", "multiplier", "epsilon_actual"]


def compositions(_seed: int) -> pd.DataFrame:
    """Return the noise multiplier of each of T releases that together are (epsilon, delta)-DP.

    ``sampled``: each release is on a Poisson lot at Adult's rate; ``epsilon_actual`` is exact, or
    the upper bound of the privacy loss distribution.

    Returns:
        One row per accountant:

        - ``theorem_4``: Gaussian noise without sampling, exact; with it, safe;
        - ``kov_3.4_analytic``, ``kov_3.4_classical``, ``kov_3.3_analytic``: KOV's theorems over
          analytic Gaussian noise and over that with constant 1.25;
        - ``rdp``, ``pld``: the moments accountant and the privacy loss distribution;
        - ``naive``: (epsilon / T, delta / T) each;
        - ``linear`` (sampled only): Theorem 4 times the rate, the paper's amplification; its noise
          is too small.
    """
    rows = []
    for rate, releases in ((1.0, RELEASES), (RATE, SAMPLED_RELEASES)):
        compared = ACCOUNTANTS if rate == 1 else ACCOUNTANTS | LINEAR
        for epsilon, count, name in itertools.product(EPSILONS, releases.tolist(), compared):
            z = compared[name](epsilon, DELTA, rate=rate, steps=count)
            actual = accountants.pld_epsilon(z, rate=rate, steps=count, delta=DELTA)
            rows.append((name, rate < 1, epsilon, DELTA, count, z, actual))
    return pd.DataFrame(rows, columns=COLUMNS)


def _theorem_4(epsilon: float, delta: float, *, rate: float, steps: int) -> float:
    return 1 / accountants.release_mu(epsilon, delta, steps)


def _linear(epsilon: float, delta: float, *, rate: float, steps: int) -> float:
    return rate * _theorem_4(epsilon, delta, rate=rate, steps=steps)


def _analytic(guarantees: Guarantee) -> float:
    return 1 / analytic_mu(guarantees)[0]


def _kov(theorem: str, noise: Callable[[Guarantee], float]) -> Multiplier:
    def compute(epsilon: float, delta: float, *, rate: float, steps: int) -> float:
        each = kov.splits(epsilon, delta, steps, theorem=theorem)
        return noise(sampling.before_sampling(each, rate))

    return compute


def _naive(epsilon: float, delta: float, *, rate: float, steps: int) -> float:
    each = sampling.before_sampling(Guarantee(epsilon / steps, delta / steps), rate)
    return 1 / gaussian.mu(*each)


ACCOUNTANTS: dict[str, Multiplier] = {
    "theorem_4": _theorem_4,
    "kov_3.4_analytic": _kov("3.4", _analytic),
    "kov_3.4_classical": _kov("3.4", classical_multiplier),
    "kov_3.3_analytic": _kov("3.3", _analytic),
    "rdp": partial(accountants.smallest_multiplier, accountant=accountants.rdp_epsilon),
    "pld": accountants.smallest_multiplier,
    "naive": _naive,
}
#: The paper's amplification, which is wrong.
LINEAR: dict[str, Multiplier] = {"linear": _linear}

THEORY = {"composition": compositions}
