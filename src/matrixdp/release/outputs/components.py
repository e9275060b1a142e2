"""Principal components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.release.comparison import Option
from matrixdp.release.outputs.about_mean import AboutMean, exact_covariance, possible
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import CORRELATION, SIMULATED
from matrixdp.release.uncertainty import ALONE, KEY, eigenvalues
from matrixdp.release.words import plain


@dataclass(frozen=True, kw_only=True)
class Components(AboutMean):
    """Eigenvalue, share and eigenvector of columns in half ranges, (count, 2 + m).

    Attributes:
        count: number of components, 1 to m; None for all.
    """

    count: int | None = None

    name = "components"
    title = "principal components"
    number, small = "variance", "variance"
    root = "standard deviation"
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

    def interval(self, noisy: Noisy) -> dict[str, Any]:
        """Return the intervals of eigenvalues, as files state them."""
        mean, covariance, _ = noisy.estimate
        limits = eigenvalues(spectrum(covariance)[0], noisy.noise.eigenvalue_width(mean))
        return {ALONE if noisy.shrinks else KEY: {"eigenvalue": limits.tolist()}}

    def doubts(self, noisy: Noisy) -> list[str]:
        """Return a sentence on each component whose eigenvalue may be that of the noise."""
        mean, covariance, weight = noisy.estimate
        values, count = spectrum(covariance)[0][: self.count], len(self.columns)
        # By Weyl, with the norms of the noise of the moments and of the mean, both about.
        std = self.moments_std(noisy.part)
        mean_noise = std / self.constant_weight * float(np.linalg.norm(mean)) * self.constant
        if noisy.outcome:
            mean_noise = noisy.outcome.centre_std**2 * np.sqrt(count) / 2
        limit = moments_ridge(std, count) + 2 * mean_noise * np.sqrt(count)
        limit = float(limit / weight)
        return [
            f"noise may be all there is in component {place}: its eigenvalue is {plain(value, 3)}, "
            f"and noise moves it by up to about {plain(limit, 3)}"
            for place, value in enumerate(values, start=1)
            if value < limit
        ]

    def headline(self, option: Option) -> str:
        """Return how much of the first component's variance is lost, or what noise hides."""
        if option.losses:
            losses = ", ".join(f"{max(loss, 0.0):.0%}" for loss in option.losses)
            return f"noise takes about {losses} of the first component's variance, {SIMULATED}"
        hidden = np.sqrt(2 * self.deviations(option.release)[1].max())
        return f"noise hides components of a standard deviation below {hidden:.0%} of a half range"

    @property
    def sizes(self) -> Array:
        """Squared half ranges of the columns."""
        return np.ones(len(self.half))

    def loss(self, rows: Array, answers: Array) -> float:
        """Return the share of the first component's variance that is lost."""
        exact, first = exact_covariance(rows / self.half), answers[:, 0, len(self.headers) :]
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
