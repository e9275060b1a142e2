"""The Laplace mechanism (Dwork, McSherry, Nissim & Smith, TCC 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from matrixdp import checks, laws
from matrixdp.checks import Array
from matrixdp.mechanisms.base import Additive, Entry, Mechanism, Release, Streams
from matrixdp.privacy.sensitivity import Covariance, Query


@dataclass(frozen=True)
class Laplace(Mechanism):
    """Independent Laplace noise of scale l1 / epsilon: epsilon-DP.

    Second moments get noise on the upper triangle with the diagonal, mirrored, calibrated to the
    l1 sensitivity of that triangle: half the noise of perturbing all entries.
    """

    queries = frozenset({"identity", "covariance"})

    def calibrate(self, query: Query, *, epsilon: float, delta: float = 0.0) -> Release:
        """Return the epsilon-DP release; ``delta`` is not needed and reported as 0.

        Raises:
            InputError: epsilon is not a finite number above 0.
        """
        self._require(query)
        epsilon = checks.positive(epsilon=epsilon)
        if isinstance(query, Covariance):
            scale, draw = query.l1_upper / epsilon, symmetric
        else:
            scale, draw = query.l1 / epsilon, laws.laplace
        return Additive(
            query=query,
            epsilon=epsilon,
            delta=0.0,
            epsilon_actual=epsilon,
            noise_std=float(np.sqrt(2) * scale),
            yields=query.yields,
            noise=partial(draw, shape=query.shape, scale=scale),
        )


def symmetric(
    streams: Streams, shape: tuple[int, int], scale: float, out: Array | None = None
) -> Array:
    """Return symmetric Laplace noise, independent on and above the diagonal."""
    return laws.mirror_upper(laws.laplace(streams, shape, scale, out=out))


MECHANISMS = {"laplace": Entry("Laplace", Laplace)}
