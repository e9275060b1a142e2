"""How far results on a release can be from chance, by the noise alone."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from matrixdp.experiments.schemes.features import SCHEMES, Features
from matrixdp.theory.exact_imgm import BATCH, RECORDS
from matrixdp.theory.numbers import Number, Numbers, Stream, register

CHECKS, check = register()

#: IMDB of the paper's Type II: features of a record; the largest epsilon that is run, and 1.
FEATURES, EPSILONS, DELTA = 150, (10.0, 1.0), 1e-5


def variation(mu: float, records: int) -> float:
    """Return how far probabilities of a release of all records are from those of noise alone.

    Noise of records is independent, and ``mu`` is that of a record in [-1, 1]^m replaced by its
    opposite at worst: all features together are sqrt(records) mu / 2 from 0 in units of the noise.
    Two Gaussian laws so far apart differ by 2 Phi(d / 2) - 1 in total variation at most, and so
    does the mean of any accuracy.
    """
    distance = np.sqrt(records) * mu / 2
    return float(2 * ndtr(distance / 2) - 1)


@check("I9", {"a five thousandth of the noise": {"noise": 2e-4}})
def imdb_is_noise(_stream: Stream, *, noise: float = 1) -> Numbers:
    """On noise alone a linear classifier without bias is right half of the time in the mean.

    Noise of the opposite sign is as likely, and teaches a classifier that starts at 0 the opposite.
    ``noise`` multiplies that of the release.
    """
    plan = Features(records=RECORDS, lot=BATCH, features=FEATURES)
    for epsilon in EPSILONS:
        mu = SCHEMES["mvg_binary"].calibrate(plan, epsilon=epsilon, delta=DELTA).mu / noise
        said = f"most by which MVG's accuracy on IMDB can differ from chance, epsilon {epsilon:g}"
        yield Number(said, variation(mu, RECORDS), "<=", 0.02)
