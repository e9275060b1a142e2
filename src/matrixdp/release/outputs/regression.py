"""A linear regression of the last column on the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.moments import MeanCovariance, regression
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.privacy.domain import Ball
from matrixdp.release.comparison import Option
from matrixdp.release.outputs.about_mean import AboutMean
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import EXPLAINED, SIMULATED
from matrixdp.release.words import by_name

#: How many times the ridge of the noise the smallest eigenvalue of x is where none is needed. It
#: was chosen after a look at 30 rows of diabetes, wine, breast cancer and lines.
AMPLE = 6.0

#: Key of standard errors, which leave out clipping and the ridge.
ERRORS = "standard_errors_of_the_noise_alone"
#: What files say in place of an interval.
NO_INTERVAL = {"uncertainty": "no interval; standard errors of the noise alone"}


@dataclass(frozen=True, kw_only=True)
class Regression(AboutMean):
    """Coefficients and intercept, (1, m).

    Attributes:
        alpha: penalty of scikit-learn's ``Ridge``.
        intercept: whether the line has an intercept; otherwise it goes through the unscaled origin.
    """

    alpha: float = 0.0
    intercept: bool = True

    name = "regression"
    title = "a linear regression"
    keys = ("target", "alpha", "intercept")
    has_target = True
    headers = ("intercept",)
    beyond_bounds = ""
    cell = ""
    loss_unit = f"loss of R^2, which is {EXPLAINED} without privacy"
    effects: ClassVar[Mapping[str, str]] = {
        "ridge": "a ridge shrinks all coefficients where the released moments of the other columns "
        "are not far larger than their noise, which the released numbers decide; what this takes "
        "from them is no noise, and not in the standard errors"
    }

    @property
    def options(self) -> dict[str, Any]:
        """The penalty and the intercept, where one is not as usual."""
        unusual = self.alpha or not self.intercept
        return {"line": [self.alpha, self.intercept]} if unusual else {}

    @property
    def header(self) -> list[str]:
        """The intercept takes the place of the target."""
        return [*self.columns[:-1], "intercept"]

    def answer(self, noisy: Noisy) -> Array:
        """Return coefficients and, last, the intercept, (1, m), in the columns' units."""
        return np.append(*self.line(noisy.estimate, self.moments_std(noisy.part)))[None]

    def line(self, estimate: MeanCovariance, std: float | Array) -> tuple[Array, Array]:
        """Return coefficients (..., m - 1) and intercept (...), in records' units.

        Args:
            estimate: mean and covariance of (x, y), in half ranges around the middle.
            std: standard deviation of the noise of moments, which sets a ridge on x, (...).
        """
        estimate = self._about_origin(estimate)
        ridge = self._ridge(estimate, std)[..., None, :]
        return self._in_units(*regression(estimate, ridge), middle=self.middle[-1])

    def _ridge(self, estimate: MeanCovariance, std: float | Array) -> Array:
        """Return the ridge on each column x in half ranges, (..., m - 1).

        It is the penalty, and that of the noise where the smallest eigenvalue of the released
        moments of x is below ``AMPLE`` times it. Only released numbers decide.
        """
        # Scikit-learn's alpha is a factor of the squared coefficients beside the sum of errors.
        penalties = self.alpha / self.query.n_records / self.half[:-1] ** 2
        noise_ridge = moments_ridge(1.0, len(self.half) - 1) * np.asarray(std)
        smallest = np.linalg.eigvalsh(estimate.covariance[..., :-1, :-1])[..., 0]
        is_small = smallest * estimate.weight < AMPLE * noise_ridge
        ridge: Array = penalties + np.where(is_small, noise_ridge, 0.0)[..., None]
        return ridge

    def _about_origin(self, estimate: MeanCovariance) -> MeanCovariance:
        """Return the moments that a line is fitted to: without an intercept about the origin."""
        if self.intercept:
            return estimate
        mean = estimate.mean + self.middle / self.half
        product = mean[..., :, None] * mean[..., None, :]
        return estimate._replace(covariance=estimate.covariance + product)

    def _in_units(self, slopes: Array, shift: Array, *, middle: float) -> tuple[Array, Array]:
        """Return coefficients (..., m - 1) and intercept (...), from those in half ranges.

        ``middle`` is that of the target.
        """
        coefficients: Array = slopes * self.half[-1] / self.half[:-1]
        offset = middle + self.half[-1] * shift - coefficients @ self.middle[:-1]
        return coefficients, offset if self.intercept else 0 * offset

    def interval(self, noisy: Noisy) -> dict[str, Any]:
        """Return standard errors, which are no interval."""
        return {**NO_INTERVAL, ERRORS: by_name(self.header, self.standard_errors(noisy))}

    def doubts(self, noisy: Noisy) -> list[str]:
        """Return a sentence on the coefficients that may be noise alone."""
        if not self.has_intervals:
            return []
        slopes = self.line(noisy.estimate, self.moments_std(noisy.part))[0]
        return self.doubts_of(slopes, self.standard_errors(noisy)[:-1])

    def doubts_of(self, slopes: Array, errors: Array) -> list[str]:
        """Return a sentence on each coefficient within two standard errors of 0, (m - 1,) each."""
        names = np.array(self.columns[:-1])[np.abs(slopes) < 2 * errors]
        sentence = "noise may be all there is in the coefficient of"
        return [f"{sentence} {name}: it is within two standard errors of 0" for name in names]

    def standard_errors(self, noisy: Noisy) -> Array:
        """Return standard errors of coefficients and, last, of the intercept (m,).

        They are in records' units.
        """
        origin = None if self.intercept else -self.middle / self.half
        ridge = self._ridge(self._about_origin(noisy.estimate), self.moments_std(noisy.part))
        errors = noisy.noise.coefficient_errors(noisy.estimate, ridge, origin)
        # An error has no middle.
        scaled_errors = np.column_stack(self._in_units(errors[:, :-1], errors[:, -1], middle=0.0))
        deviations: Array = np.sqrt(np.mean(scaled_errors**2, axis=0))
        return deviations

    def headline(self, option: Option) -> str:
        """Return how well the line predicts, where that is simulated."""
        if option.losses:
            fits = ", ".join(f"{EXPLAINED - loss:.2f}" for loss in option.losses)
            return f"R^2 of about {fits} and {EXPLAINED} without privacy, {SIMULATED}"
        if isinstance(self.query.domain, Ball):
            return "what the noise means for predictions cannot be said from max_norm alone"
        return f"noise of {option.error:.2%} of the largest second moments within the bounds"

    def loss(self, rows: Array, answers: Array) -> float:
        """Return how much of R^2 is lost."""
        lines = answers[:, 0]
        squares = (rows[:, -1, None] - rows[:, :-1] @ lines[:, :-1].T - lines[:, -1]) ** 2
        return float(np.median(squares.mean(axis=0)) / rows[:, -1].var() - (1 - EXPLAINED))

    @property
    def worst(self) -> float:
        """What a constant loses."""
        return EXPLAINED
