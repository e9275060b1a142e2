"""Private estimators that scikit-learn's users know: PCA and ridge regression.

Both release the second moments of records once, in the unit of their public bounds, and compute the
rest from the release. scikit-learn itself must be installed.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.base import Additive
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.practice.recommend import options
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import Covariance


class _Private(BaseEstimator):
    """An estimator that looks at records through one release of their second moments.

    Args:
        epsilon, delta: the guarantee, for replacing one record; their number counts as public.
        bounds: public (lowest, highest) of the values, each a number or one per column; what lies
            outside is clipped. There is no default: bounds from the data would leak.
        random_state: None for safe noise from the operating system's bits; a whole number only for
            tests, as whoever knows it can take the noise off.

    Raises:
        InputError: by ``fit``, if the bounds are missing or the guarantee cannot be had.
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.random_state = random_state

    def _release(self, records: Array) -> Array:
        """Return noisy second moments of records within [-1, 1], and keep ``release_``."""
        count, features = records.shape
        query = Covariance(Box.cube(features, -1.0, 1.0), count)
        best = options(query, epsilon=self.epsilon, delta=self.delta)[0]
        self.release_: Additive = best.release
        return self.release_.sample_once(records, random_state=self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags


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

    def __init__(
        self,
        n_components: int = 1,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
        random_state: int | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, bounds=bounds, random_state=random_state)
        self.n_components = n_components

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Release the components of records X, (n, m)."""
        records = validate_data(self, X, dtype=np.float64)
        if not 1 <= self.n_components <= records.shape[1]:
            raise InputError(
                f"n_components is {self.n_components}; it must be from 1 to {records.shape[1]}"
            )
        self.middle_, self.half_ = _scale(self.bounds, records.shape[1])
        moments = self._release((records - self.middle_) / self.half_)
        _, vectors = np.linalg.eigh(moments)
        self.components_ = vectors[:, : -self.n_components - 1 : -1].T
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Return the coordinates of records along the components, (n, n_components)."""
        check_is_fitted(self)
        records = validate_data(self, X, dtype=np.float64, reset=False)
        coordinates: Array = (records - self.middle_) / self.half_ @ self.components_.T
        return coordinates


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

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
        target_bounds: tuple[float, float] | None = None,
        random_state: int | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, bounds=bounds, random_state=random_state)
        self.target_bounds = target_bounds

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Release the regression of y, (n,), on X, (n, m)."""
        records, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        m = records.shape[1]
        middle, half = _scale(self.bounds, m)
        centre, width = (side.item() for side in _scale(self.target_bounds, 1, "target_bounds"))
        columns = [(records - middle) / half, np.ones((len(target), 1))]
        moments = self._release(np.hstack([*columns, (target[:, None] - centre) / width]))
        ridge = moments_ridge(self.release_.noise_std, m) * np.eye(m + 1)
        ridge[m, m] = 0
        # What is known without the data costs nothing to put right.
        moments[m, m] = 1
        weights = np.linalg.lstsq(moments[:-1, :-1] + ridge, moments[:-1, -1], rcond=None)[0]
        self.coef_ = weights[:m] * width / half
        self.intercept_ = float(centre + weights[m] * width - middle @ self.coef_)
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


def _scale(bounds: Any, features: int, name: str = "bounds") -> tuple[Array, Array]:
    """Return the middle and half of the range of each column, (m,) each."""
    if bounds is None:
        raise InputError(f"{name} is None; state the public lowest and highest values")
    try:
        lower, upper = (np.broadcast_to(np.asarray(side, float), features) for side in bounds)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} is {bounds!r}; give (lowest, highest), each a number or {features} of them"
        ) from None
    box = Box(tuple(lower), tuple(upper))
    return box.widths / 2 + np.array(box.lower), box.widths / 2
