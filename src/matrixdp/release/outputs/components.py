"""Principal components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.moments import MeanCovariance, positive
from matrixdp.release.outputs.about_mean import Spread, exact_covariance, possible
from matrixdp.release.outputs.output import CORRELATION, Noisy
from matrixdp.release.uncertainty import ALONE, KEY, eigenvalues


@dataclass(frozen=True, kw_only=True)
class Components(Spread):
    """Eigenvalue, share and eigenvector of columns in half ranges, (count, 2 + m).

    Attributes:
        count: number of components, 1 to m; None for all.
    """

    count: int | None = None

    name = "components"
    title = "principal components"
    keys = ("number",)
    headers = ("eigenvalue", "share")
    beyond_bounds = ""
    unit = "squared half ranges of the column"
    loss_unit = "loss of the first component's variance"

    @property
    def options(self) -> dict[str, Any]:
        """The number of components."""
        return {"number": self.count}

    def answer(self, noisy: Noisy) -> Array:
        """Return components (count, 2 + m), each after its eigenvalue and share."""
        covariance = possible(noisy.estimate.covariance)
        return np.column_stack([*spectrum(covariance), directions(covariance)])[: self.count]

    def _interval(self, noisy: Noisy) -> dict[str, Any]:
        mean, covariance, _ = noisy.estimate
        limits = eigenvalues(spectrum(covariance)[0], noisy.noise().eigenvalue_width(mean))
        return {ALONE if noisy.shrinks else KEY: {"eigenvalue": limits.tolist()}}

    @property
    def sizes(self) -> Array:
        """Squared half ranges of the columns."""
        return np.ones(len(self.half))

    def loss(self, rows: Array, estimate: MeanCovariance, std: Array) -> float:
        """Return the share of the first component's variance that is lost."""
        exact = exact_covariance((rows - self.middle) / self.half)
        first = np.linalg.eigh(positive(estimate.covariance))[1][..., -1]
        part = np.einsum("ti,ij,tj->t", first, exact, first)
        return float(1 - np.median(part) / np.linalg.eigvalsh(exact)[-1])

    @property
    def worst(self) -> float:
        """What a direction at random loses."""
        return 1 - 1 / (1 + (len(self.columns) - 1) * CORRELATION)


def directions(covariance: Array) -> Array:
    """Return the eigenvectors (m, m) in rows, the one of the largest eigenvalue first.

    The sign of an eigenvector is free; here the sum of its entries is not negative.
    """
    vectors: Array = np.linalg.eigh(covariance)[1][:, ::-1].T
    return vectors * np.where(vectors.sum(axis=1) < 0, -1, 1)[:, None]


def spectrum(covariance: Array) -> tuple[Array, Array]:
    """Return eigenvalues (m,) and their shares of the total (m,), the largest first.

    Shares of a covariance without variance are 0.
    """
    values = np.maximum(np.linalg.eigvalsh(covariance)[::-1], 0)
    return values, values / (values.sum() or 1)
