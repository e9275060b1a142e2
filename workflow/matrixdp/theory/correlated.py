"""Settings in which noise that is correlated over training steps beats sampling.

The measure is the noise on prefix sums of the steps' mean gradients, which give the parameters of
stochastic gradient descent. It is a standard deviation, root mean square over the steps, for a
clipping norm of 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from matrixdp.experiments.schemes import registry
from matrixdp.privacy import banded
from matrixdp.theory.published_settings import DELTA, SETTINGS

#: Adult's lot at all budgets, and all lots at the budget 1.
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
LOTS, EPSILON = (128, 512, 2048, 8192), 1.0
SCHEMES = ("imgm", "pld_gaussian", "banded", "banded_sampled")


def correlated(_seed: int) -> pd.DataFrame:
    """Return the noise on prefix sums of mean gradients, on the records and epochs of Adult.

    ``case`` names the quantity that varies; ``multiplier`` is that of the independent draws.
    """
    adult = SETTINGS["adult"]
    cases: Iterable[tuple[str, float, int]] = (
        *(("epsilon", epsilon, adult.lot) for epsilon in EPSILONS),
        *(("lot", EPSILON, lot) for lot in LOTS),
    )
    rows = []
    for (case, epsilon, lot), name in itertools.product(cases, SCHEMES):
        plan = replace(adult.plans()["gradients"], lot=lot)
        noise = registry("gradients")[name].calibrate(plan, epsilon=epsilon, delta=DELTA)
        how, multiplier = noise.plan, 1 / noise.mu
        prefix = multiplier * banded.prefix_deviation(how.bands, how.steps) / how.expected
        rows.append(
            {"case": case, "scheme": name, "epsilon": epsilon, "delta": DELTA}
            | {"records": adult.records, "epochs": adult.epochs, "lot": lot, "bands": how.bands}
            | {"multiplier": multiplier, "prefix": prefix}
        )
    return pd.DataFrame(rows)


THEORY = {"correlated": correlated}
