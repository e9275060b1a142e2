"""The rank-one Gaussian mechanism R1SMG (Ji & Li, USENIX Security 2024, arXiv 2306.02256).

It is not private, and is included as a warning; no configuration can run it. The noise in R^M is a
uniform direction times one normal number of variance 2 Delta^2 / (epsilon psi), with

    psi = (delta Gamma((M - 1) / 2) / (sqrt(pi) Gamma(M / 2)))^(2 / (M - 2)),

the constant of the paper's abstract (version 2). The noise has a density proportional to
|z|^(1 - M) exp(-|z|^2 / (2 sigma^2)), which is infinite at 0. Releases close to the value are
frequent and distinguish neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from matrixdp.checks import Array
from reproduction.stacks import Stacked, Streams, normals


def deviation(epsilon: float, delta: float, dimension: int) -> float:
    """Return sigma at sensitivity 1 for a dimension M of at least 3."""
    m = dimension
    log_share = np.log(delta) + gammaln((m - 1) / 2) - gammaln(m / 2) - np.log(np.pi) / 2
    return float(np.sqrt(2 / epsilon) * np.exp(-log_share / (m - 2)))


@dataclass(frozen=True, eq=False)
class NonPrivateRankOne(Stacked):
    """A direction of R^(mn) times a normal number, sigma its standard deviation."""

    sigma: float
    stream = "NonPrivateRankOne"

    def _draw(self, streams: Streams, stack: Array) -> None:
        noise = normals(streams, self.shape, stack)
        radius = normals(streams, ())
        noise *= (self.sigma * radius / np.linalg.norm(noise, axis=(1, 2)))[:, None, None]

    def loss(self, radius: Array, away: Array) -> Array:
        """Return the privacy loss by the distances from the value and from a neighbour's value."""
        freedom = self.shape[0] * self.shape[1] - 1
        return freedom * np.log(away / radius) + (away**2 - radius**2) / (2 * self.sigma**2)
