"""The Laplace mechanism (Dwork, McSherry, Nissim & Smith, TCC 2006)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp import checks
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy.groups import GroupMeanQuery
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.quadratic import UPWARDS
from matrixdp.privacy.sensitivity import Box, MeanQuery, Query, RecordsQuery, SecondMomentQuery
from matrixdp.privacy.sizes import SizeQuery


@dataclass(frozen=True)
class Laplace(Mechanism):
    """Independent Laplace noise of scale l1 / epsilon: epsilon-DP.

    Second moments get noise on the upper triangle with the diagonal, which is then mirrored. The
    scale follows from the l1 sensitivity of that triangle: half the noise of perturbing all
    entries.

    >>> mdp.Laplace().calibrate(mdp.MeanQuery(mdp.Box((0,), (1,)), 100), epsilon=0.5).noise.size
    array([[0.02]])
    """

    queries = frozenset(
        {RecordsQuery, MeanQuery, PresentMeanQuery, GroupMeanQuery, SizeQuery, SecondMomentQuery}
    )
    sensitivity_only = True

    def calibrate(self, query: Query, *, epsilon: float, delta: float = 0.0) -> AdditiveMechanism:
        """Return the epsilon-DP release; ``delta`` is not needed and reported as 0.

        The scale is rounded up. What it delivers is then less than any number that rounds to
        ``epsilon``, also the decimal that it is written as.
        """
        self._require(query)
        epsilon, _ = checks.budget(epsilon=epsilon), checks.delta(delta=delta)
        symmetric = isinstance(query, SecondMomentQuery)
        if isinstance(query, SecondMomentQuery):
            scale = query.triangle_l1_sensitivity / epsilon * UPWARDS
        else:
            scale = query.l1_sensitivity / epsilon * UPWARDS
        exact = False
        if isinstance(query.domain, Box):
            # Opposite corners attain the l1 sensitivity, for second moments a corner and 0.
            zero = query.adjacency == "zero_out" or query.domain.contains_zero
            exact = query.output_type == "matrix" or zero
        return AdditiveMechanism(
            query=query,
            epsilon=epsilon,
            epsilon_delivered=epsilon,
            tight=exact,
            noise_std=float(np.sqrt(2) * scale),
            noise=Noise.of(safe.LAPLACE, scale, query.shape, symmetric),
        )
