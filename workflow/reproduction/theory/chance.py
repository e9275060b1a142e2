"""The largest distance of results on a release from chance, by the noise alone."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from reproduction.experiments.schemes.features import SCHEMES, Features
from reproduction.theory.exact_imgm import BATCH, RECORDS
from reproduction.theory.numbers import Number, Numbers, Stream, registry

CHECKS, check = registry()

#: IMDB of the paper's Type II: features of a record, two claimed epsilons, and delta.
FEATURES, EPSILONS, DELTA = 150, (10.0, 1.0), 1e-5


def variation(mu: float, records: int) -> float:
    """Return the total variation distance of a release of all records from noise alone.

    The noise of records is independent. ``mu`` is that of replacing a record in [-1, 1]^m by its
    opposite. All features together are therefore at most sqrt(records) mu / 2 from 0, in units of
    the noise. Two Gaussian distributions at distance d have a total variation distance of
    2 Phi(d / 2) - 1. No mean accuracy can differ by more.
    """
    distance = np.sqrt(records) * mu / 2
    return float(2 * ndtr(distance / 2) - 1)


@check("I9", {"a five thousandth of the noise": {"noise": 2e-4}})
def imdb_is_noise(_stream: Stream, *, noise: float = 1) -> Numbers:
    """On noise alone the mean accuracy of a linear classifier without bias is 1 / 2.

    Noise of the opposite sign is equally likely, and it trains a classifier that starts at 0 to
    opposite weights. ``noise`` multiplies the noise of the release.
    """
    plan = Features(records=RECORDS, lot=BATCH, features=FEATURES)
    for epsilon in EPSILONS:
        mu = SCHEMES["mvg_binary"].calibrate(plan, epsilon=epsilon, delta=DELTA).mu / noise
        statistic = (
            f"most by which MVG's accuracy on IMDB can differ from chance, epsilon {epsilon:g}"
        )
        yield Number(statistic, variation(mu, RECORDS), "<=", 0.02)
