"""Noise of one of many releases, by every accountant (IMGM, Theorem 4)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from matrixdp.checks import Array
from matrixdp.experiments.schemes.base import analytic_mu, classical_multiplier
from matrixdp.privacy import accountants, gaussian, kov, sampling
from matrixdp.privacy.kov import Guarantee
from matrixdp.theory.published_settings import SETTINGS

EPSILONS, DELTA = (0.1, 1.0), 1e-5
#: Releases, up to 1e5: five points a decade without sampling, and two with it, which takes longer.
RELEASES = np.unique(np.rint(np.geomspace(1, 1e5, 26)).astype(int))
SAMPLED_RELEASES = np.rint(np.geomspace(1, 1e5, 11)).astype(int)
#: Share of Adult's records in a lot.
RATE = SETTINGS["adult"].lot / SETTINGS["adult"].records

#: Called with epsilon, delta, releases and rate, returns the multiplier of one release.
Multiplier = Callable[[float, float, int, float], float]


def compositions(_seed: int) -> pd.DataFrame:
    """Return the noise multiplier of each of T releases that together are (epsilon, delta)-DP.

    Returns:
        One row per accountant, with the columns ``accountant``, ``sampled`` (whether each release
        is on a Poisson lot at Adult's rate), ``epsilon``, ``delta``, ``releases`` (T),
        ``multiplier`` (standard deviation over sensitivity) and ``epsilon_actual`` (of that noise
        at delta: exact, or the upper bound of the privacy loss distribution). The accountants are

        - ``theorem_4``: Gaussian noise without sampling, exact; with it, safe;
        - ``kov_3.4_analytic``, ``kov_3.4_classical``, ``kov_3.3_analytic``: KOV's theorems over
          analytic Gaussian noise and over that with constant 1.25;
        - ``rdp``, ``pld``: the moments accountant and the privacy loss distribution;
        - ``naive``: (epsilon / T, delta / T) each;
        - ``linear`` (sampled only): Theorem 4 times the rate, the paper's amplification; its noise
          is too small.
    """
    plain = _rows(1.0, RELEASES, ACCOUNTANTS)
    return pd.DataFrame([*plain, *_rows(RATE, SAMPLED_RELEASES, ACCOUNTANTS | LINEAR)])


def _rows(
    rate: float, releases: Array, compared: Mapping[str, Multiplier]
) -> Iterator[dict[str, object]]:
    for epsilon, count, name in itertools.product(EPSILONS, releases.tolist(), compared):
        z = compared[name](epsilon, DELTA, count, rate)
        yield {
            "accountant": name,
            "sampled": rate < 1,
            "epsilon": epsilon,
            "delta": DELTA,
            "releases": count,
            "multiplier": z,
            "epsilon_actual": accountants.pld_epsilon(z, rate=rate, steps=count, delta=DELTA),
        }


def _theorem_4(epsilon: float, delta: float, releases: int, _rate: float) -> float:
    return 1 / accountants.release_mu(epsilon, delta, releases)


def _linear(epsilon: float, delta: float, releases: int, rate: float) -> float:
    return rate * _theorem_4(epsilon, delta, releases, rate)


def _analytic(guarantees: Guarantee) -> float:
    return 1 / analytic_mu(guarantees)[0]


def _kov(theorem: str, noise: Callable[[Guarantee], float]) -> Multiplier:
    def compute(epsilon: float, delta: float, releases: int, rate: float) -> float:
        each = kov.splits(epsilon, delta, releases, theorem=theorem)
        return noise(sampling.before_sampling(each, rate))

    return compute


def _accounted(accountant: accountants.Accountant) -> Multiplier:
    def compute(epsilon: float, delta: float, releases: int, rate: float) -> float:
        return accountants.smallest_multiplier(
            epsilon, delta, rate=rate, steps=releases, accountant=accountant
        )

    return compute


def _naive(epsilon: float, delta: float, releases: int, rate: float) -> float:
    each = sampling.before_sampling(Guarantee(epsilon / releases, delta / releases), rate)
    return 1 / gaussian.mu(*each)


ACCOUNTANTS: dict[str, Multiplier] = {
    "theorem_4": _theorem_4,
    "kov_3.4_analytic": _kov("3.4", _analytic),
    "kov_3.4_classical": _kov("3.4", classical_multiplier),
    "kov_3.3_analytic": _kov("3.3", _analytic),
    "rdp": _accounted(accountants.rdp_epsilon),
    "pld": _accounted(accountants.pld_epsilon),
    "naive": _naive,
}
#: Amplification as in the paper, which is wrong.
LINEAR = {"linear": _linear}

THEORY = {"composition": compositions}
