"""The Wishart mechanism (Jiang, Xie & Zhang, AAAI 2016, arXiv 1511.05680).

It is not private, and is included as a warning; no configuration can run it. It claims pure
differential privacy. Second moments X X^T / n of records of norm at most R get noise W of
W_m(m + 1, c I), with c = 3 R^2 / (2 n epsilon).

W is positive definite, so that a release Y always exceeds X X^T / n. A neighbour without the record
x has the value X X^T / n - x x^T / n. Its release exceeds X X^T / n only if x^T W^-1 x <= n, and
c R^2 / (x^T W^-1 x) is chi-square with two degrees of freedom. So with probability
1 - exp(-epsilon / 3) the neighbour's release is impossible under X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.privacy.sensitivity import Query
from reproduction.stacks import Stacked, Streams, normals


@dataclass(frozen=True, eq=False)
class NonPrivateWishart(Stacked):
    """Matrices W of W_m(m + 1, ``scale`` I)."""

    scale: float
    stream = "NonPrivateWishart"

    def _draw(self, streams: Streams, stack: Array) -> None:
        m = self.shape[0]
        factor = normals(streams, (m, m + 1))
        stack[...] = self.scale * factor @ np.swapaxes(factor, 1, 2)


def calibrate_wishart(query: Query, epsilon: float) -> AdditiveMechanism:
    """Return the release as its authors declare it, with a claim of pure epsilon-DP."""
    scale = 3 * query.domain.radius**2 / (2 * query.n_records * epsilon)
    noise = NonPrivateWishart(query.shape, scale)
    return AdditiveMechanism(query=query, epsilon=epsilon, epsilon_delivered=epsilon, noise=noise)


def disclosure_probability(epsilon: float) -> float:
    """Return the probability that a neighbour's release is impossible under the data set."""
    return float(-np.expm1(-epsilon / 3))
