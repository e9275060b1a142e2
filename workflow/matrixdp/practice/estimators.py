"""Private estimators that scikit-learn's users know: PCA and ridge regression.

Both release the second moments of records once, in the unit of their public bounds, and compute the
rest from the release. scikit-learn itself must be installed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.base import Additive
from matrixdp.practice import answers
from matrixdp.practice.recommend import options
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import SecondMomentQuery


@dataclass(kw_only=True, eq=False, repr=False)
class _Private(BaseEstimator):
    """An estimator that looks at records through one release of their second moments.

    Args:
        epsilon, delta: the guarantee of one call of ``fit``, for replacing one record; their number
            counts as public. Nothing keeps account of several calls.
        bounds: public (lowest, highest) of the values, each a number or one per column; what lies
            outside is clipped. There is no default: bounds from the data would leak.
        random_state: None for safe noise from the operating system's bits; a whole number only for
            tests, as whoever knows it can take the noise off.

    Raises:
        InputError: by ``fit``, if the bounds are missing or the guarantee cannot be had.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    bounds: tuple[ArrayLike, ArrayLike] | None = None
    random_state: int | None = None

    def _release(self, records: Array) -> Array:
        """Return noisy second moments of records within [-1, 1], and keep ``release_``."""
        count, features = records.shape
        query = SecondMomentQuery(Box.cube(features, -1.0, 1.0), count)
        best = options(query, epsilon=self.epsilon, delta=self.delta)[0]
        self.release_: Additive = best.release
        return self.release_.sample_once(records, random_state=self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class PrivatePCA(TransformerMixin, _Private):
    """Principal components of records around the middle of their bounds.

    Args:
        n_components: how many.

    Attributes:
        components_: (n_components, m), in the unit of the half ranges, the first one first.
        release_: what was calibrated, with its exact guarantee.

    >>> X = np.random.default_rng(1).uniform(0, 1, (400, 3))
    >>> mdp.PrivatePCA(2, epsilon=1, delta=1e-6, bounds=(0, 1)).fit_transform(X).shape
    (400, 2)
    """

    n_components: int = field(default=1, kw_only=False)

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Release the components of records X, (n, m)."""
        records = validate_data(self, X, dtype=np.float64)
        if not 1 <= self.n_components <= records.shape[1]:
            raise InputError(
                f"n_components is {self.n_components}; it must be from 1 to {records.shape[1]}"
            )
        box = _box(self.bounds, records.shape[1])
        self.middle_, self.half_ = box.middle, box.widths / 2
        self.components_ = answers.components(self._release(box.scaled(records)))
        self.components_ = self.components_[: self.n_components]
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Return the coordinates of records along the components, (n, n_components)."""
        check_is_fitted(self)
        records = validate_data(self, X, dtype=np.float64, reset=False)
        coordinates: Array = (records - self.middle_) / self.half_ @ self.components_.T
        return coordinates


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateRidge(RegressorMixin, _Private):
    """Linear regression with an intercept, and the ridge that its own noise asks for.

    Args:
        target_bounds: public (lowest, highest) of y; ``bounds`` are those of X.

    Attributes:
        coef_, intercept_: of the regression, in the units of X and y.
        release_: what was calibrated, with its exact guarantee.

    >>> X = np.random.default_rng(1).uniform(0, 1, (400, 3))
    >>> ridge = mdp.PrivateRidge(epsilon=1, delta=1e-6, bounds=(0, 1), target_bounds=(0, 3))
    >>> ridge.fit(X, X.sum(axis=1)).predict(X).shape
    (400,)
    """

    target_bounds: tuple[float, float] | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Release the regression of y, (n,), on X, (n, m)."""
        records, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        box = _box(self.bounds, records.shape[1])
        side = _box(self.target_bounds, 1, "target_bounds")
        columns = [box.scaled(records), np.ones((len(target), 1)), side.scaled(target[:, None])]
        moments = self._release(np.hstack(columns))
        middle, half = np.append(box.middle, side.middle), np.append(box.widths, side.widths) / 2
        noise = self.release_.noise_std
        self.coef_, self.intercept_ = answers.line(moments, noise, middle, half)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A few hundred records are too few for any regression at a small epsilon.
        tags.regressor_tags.poor_score = True
        return tags

    def predict(self, X: ArrayLike) -> Array:
        """Return the prediction for records X, (n,)."""
        check_is_fitted(self)
        predicted: Array = validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_
        return predicted + self.intercept_


def _box(bounds: Any, features: int, name: str = "bounds") -> Box:
    """Return the bounds of each column."""
    if bounds is None:
        raise InputError(f"{name} is None; state the public lowest and highest values")
    try:
        lower, upper = (np.broadcast_to(np.asarray(side, float), features) for side in bounds)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} is {bounds!r}; give (lowest, highest), each a number or {features} of them"
        ) from None
    return Box(tuple(lower), tuple(upper))
