"""Private estimators with scikit-learn's interface: covariance, PCA and ridge regression.

Each call of ``fit`` spends epsilon and delta anew. It releases second moments of the records once,
scaled by their public bounds, and computes the rest from the release. Of :class:`PrivateMoments`
the other three are read, at no further cost. scikit-learn must be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.estimator_base import (
    NO_TEXT,
    FitAlone,
    Private,
    estimator,
    optional,
    read_records,
    read_rows,
    read_target,
)
from matrixdp.privacy import cells
from matrixdp.privacy.domain import Box
from matrixdp.release import bounds

# Annotations of inherited parameters are read here.
from matrixdp.release.account import Account  # noqa: F401
from matrixdp.release.bounds import BoundsLike  # noqa: F401
from matrixdp.release.fits import OneFit, warn_of_scores  # noqa: F401
from matrixdp.release.keys import KEYS
from matrixdp.release.outputs import Components, Moments, Output, Regression
from matrixdp.release.outputs.about_mean import AboutMean
from matrixdp.release.outputs.components import spectrum
from matrixdp.release.outputs.covariance import Covariance as CovarianceOutput
from matrixdp.release.outputs.moments import (
    TOGETHER,
    MeanOfMoments,
    check_mean_weight,
    reading_of,
)
from matrixdp.release.outputs.noisy import Noisy, reader

T = TypeVar("T", bound=Private)


@estimator
class Covariance(Private):
    """Mean and covariance from one private release; each ``fit`` spends epsilon and delta anew.

    The covariance is about the released mean, divides by the number of records, and is projected to
    what records within their bounds can have: no negative eigenvalue, and no variance above a
    squared half range. Whoever averages several fits takes the raw values. Do not scale records by
    their own mean or range first (``StandardScaler``), which leaks both: ``bounds`` scale them.

    Attributes:
        covariance_: covariance, (m, m), in the records' own units.
        location_: mean, (m,), in the same units, within the bounds.
        raw_covariance_, raw_location_: both as the noise left them.
        eigenvalues_: eigenvalues of ``covariance_``, (m,), the largest first.
        mechanism_: the calibrated mechanism; ``mechanism_.statement`` is its guarantee.
        notes_, details_: sentences on what the answer is not, as that noise may be all of a
            number, and what stands beside it, as other doors have them.
        draw_: what the release drew, of which all others are read.

    >>> X = np.random.default_rng(1).uniform(0, 1, (400, 3))
    >>> estimate = mdp.Covariance(epsilon=1, delta=1e-6, bounds=(0, 1)).fit(X)
    >>> estimate.covariance_.shape, bool((estimate.eigenvalues_ >= 0).all())
    ((3, 3), True)
    """

    def fit(self, X: ArrayLike, y: object = None, groups: ArrayLike | None = None) -> Self:
        """Release the covariance of records X, (n, m)."""
        parameters = self._check_parameters()
        return self._release("covariance", read_records(self, X), groups, parameters)

    def _answer(self, output: Output, noisy: Noisy) -> dict[str, Any]:
        assert isinstance(output, CovarianceOutput)
        answer = output.answer(noisy)
        covariance = answer[:, 1:]
        return {
            "raw_location_": output.unscale(noisy.estimate.mean),
            "raw_covariance_": output.raw(noisy),
            "location_": answer[:, 0],
            "covariance_": covariance,
            "eigenvalues_": spectrum(covariance)[0],
        }


@estimator
class PrivatePCA(FitAlone, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Private):
    """Principal components from one private release; each ``fit`` spends epsilon and delta anew.

    ``transform`` adds no noise: its result is as private as the records that it transforms. Do not
    scale records by their own mean or range first (``StandardScaler``), which leaks both:
    ``bounds`` scale them. Components are those of the covariance about the released mean. The mean
    is part of the same release, which costs one more column and about 1 / m more noise.

    Args:
        n_components: number of components, at least 1; None for all.

    Attributes:
        components_: components, (n_components, m), of records in half ranges.
        explained_variance_: their variances, (n_components,), in squared half ranges. Under
            ``clipped``, which ``recommend`` may take, they may be several times too small, with a
            note; ``analyze_gauss`` shrinks none.
        explained_variance_ratio_: their shares of the total variance, (n_components,).
        mean_, raw_mean_: mean, (m,), in the records' own units, within the bounds and as the noise
            left it.
        mechanism_: the calibrated mechanism; ``mechanism_.statement`` is its guarantee.
        notes_, details_: sentences on what the answer is not, as that noise may be all of a
            number, and what stands beside it, as other doors have them.
        draw_: what the release drew, of which all others are read.

    >>> X = np.random.default_rng(1).uniform(0, 1, (400, 3))
    >>> pca = mdp.PrivatePCA(2, epsilon=1, delta=1e-6, bounds=(0, 1)).fit(X)
    >>> pca.components_.shape, pca.mean_.shape
    ((2, 3), (3,))
    >>> pca.get_feature_names_out().tolist(), pca.inverse_transform(pca.transform(X)).shape
    (['privatepca0', 'privatepca1'], (400, 3))
    """

    n_components: int | None = field(default=1, kw_only=False)

    _parameters: ClassVar[dict[str, Callable[..., Any]]] = {
        **Private._parameters,
        "n_components": optional(KEYS["number"].check),
    }

    def fit(self, X: ArrayLike, y: object = None, groups: ArrayLike | None = None) -> Self:
        """Release the components of records X, (n, m)."""
        parameters, records = self._check_parameters(), read_records(self, X)
        features = records.rows.shape[1]
        number = parameters["n_components"] or features
        if number > features:
            raise InputError(f"n_components is {number}; it must be from 1 to {features}, or None")
        return self._release("components", records, groups, parameters, count=number)

    def _answer(self, output: Output, noisy: Noisy) -> dict[str, Any]:
        answer, mean = output.answer(noisy), noisy.estimate.mean
        return {
            "half_": output.half,
            "raw_mean_": output.unscale(mean),
            "mean_": output.means(mean),
            "explained_variance_": answer[:, 0],
            "explained_variance_ratio_": answer[:, 1],
            "components_": answer[:, 2:],
        }

    def transform(self, X: ArrayLike) -> Array:
        """Return the coordinates of records X, (n, m), along the components: (n, n_components).

        Missing and infinite values count as in ``fit``. No noise is added: coordinates of private
        records are private.
        """
        check_is_fitted(self, "components_")
        records = self._replace_missing(read_rows(self, X), self._box)
        coordinates: Array = (records - self.mean_) / self.half_ @ self.components_.T
        return coordinates

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return records (n, m), in their own units, of coordinates X, (n, n_components).

        They are those of ``transform`` where all components are present, and otherwise the nearest
        ones in half ranges that the components reach. No noise is added.
        """
        check_is_fitted(self, "components_")
        coordinates = cells.numbers(X, "X", NO_TEXT)
        checks.array(shape=(None, len(self.components_)), X=coordinates)
        records: Array = self.mean_ + coordinates @ self.components_ * self.half_
        return records

    @property
    def _n_features_out(self) -> int:
        """Number of components, for ``get_feature_names_out`` and ``set_output``."""
        return len(self.components_)


@estimator
class PrivateRidge(RegressorMixin, Private):
    """Linear regression from one private release; each ``fit`` spends epsilon and delta anew.

    ``cross_val_score`` and searches fit it many times, see ``account``, and their scores are exact
    on the records, as is ``score``. Do not scale records by their own mean or range first
    (``StandardScaler``), which leaks both: ``bounds`` scale them. A bagged one needs
    ``bootstrap=False``, as a record that is drawn k times spends k times mu. Beside
    ``alpha``, a ridge limits the effect of the noise, where the smallest eigenvalue of the released
    covariance of X is below 6 times that ridge. The limit is scikit-learn's ``Ridge``.

    Args:
        target_bounds: public (lowest, highest) of y; ``bounds`` are those of X.
        alpha: penalty of scikit-learn's ``Ridge``, at least 0, in the squared units of X.
        fit_intercept: whether the line has an intercept.

    Attributes:
        coef_, intercept_: coefficients and intercept, in the units of X and y.
        coef_std_, intercept_std_: their standard errors from the noise alone, to first order. The
            ridge that limits the noise, and the clipping of ``clipped``, are not in them, so that
            they make no interval. NaN with ``max_norm``.
        mechanism_: the calibrated mechanism; ``mechanism_.statement`` is its guarantee.
        notes_, details_: sentences on what the answer is not, as that noise may be all of a
            number, and what stands beside it, as other doors have them.
        draw_: what the release drew, of which all others are read.

    >>> X = np.random.default_rng(1).uniform(0, 1, (400, 3))
    >>> ridge = mdp.PrivateRidge(epsilon=1, delta=1e-6, bounds=(0, 1), target_bounds=(0, 3))
    >>> ridge.fit(X, X.sum(axis=1)).coef_.shape
    (3,)
    """

    target_bounds: tuple[float, float] | None = None
    alpha: float = 0.0
    fit_intercept: bool = True

    _parameters: ClassVar[dict[str, Callable[..., Any]]] = {
        **Private._parameters,
        "alpha": KEYS["alpha"].check,
        "fit_intercept": checks.flag,
    }

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Release the regression of y, (n,), on X, (n, m)."""
        parameters = self._check_parameters()
        records, target = read_records(self, X), read_target(self, y)
        pair = target, bounds.pair(self.target_bounds, "target_bounds")
        line = {"alpha": parameters["alpha"], "intercept": parameters["fit_intercept"]}
        return self._release("regression", records, groups, parameters, pair, **line)

    def _answer(self, output: Output, noisy: Noisy) -> dict[str, Any]:
        assert isinstance(output, Regression)
        (answer,) = output.answer(noisy)
        errors = np.full(len(output.half), np.nan)
        if output.has_intervals:
            errors = output.standard_errors(noisy)
        return {
            "coef_": answer[:-1],
            "intercept_": float(answer[-1]),
            "coef_std_": errors[:-1],
            "intercept_std_": float(errors[-1]),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A few hundred records are too few for any regression at a small epsilon.
        tags.regressor_tags.poor_score = True
        return tags

    def predict(self, X: ArrayLike) -> Array:
        """Return the prediction for records X, (n,).

        Missing and infinite values count as in ``fit``. No noise is added: predictions for private
        records are private.
        """
        check_is_fitted(self, "coef_")
        records = self._replace_missing(read_rows(self, X), self._box)
        predicted: Array = records @ self.coef_ + self.intercept_
        return predicted

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the R^2 of predictions for records X, as scikit-learn's regressors do.

        Missing and infinite values, also of y, count as in ``fit``. No noise is added: the score of
        private records is private, and so is what is chosen by it. The first call of a process
        warns of this.
        """
        check_is_fitted(self, "coef_")
        warn_of_scores(type(self).__name__)
        target = self._replace_missing(read_target(self, y)[:, None], self._target_box)[:, 0]
        return float(super().score(X, target, sample_weight))


@estimator
class PrivateMoments(Private):
    """Means and moments from one private release, of which several estimators are read.

    Each ``fit`` spends epsilon and delta anew, and ``covariance()``, ``pca()`` and ``ridge()``
    nothing: they return estimators that are fitted from what was drawn. An estimator that is
    returned shares the account, or the one fit, of this one. Intervals and standard errors hold one
    at a time, for an estimator that was chosen before any was seen, and the errors of these
    estimators are not independent.

    Args:
        mean_weight: weight w of the constant in the moments of (x, 1), above 0. The noise of the
            mean has 1 / w of the noise of all else, which grows with w. None takes that at which a
            mean and moments have the same factor of the noise that each has alone, at most 5/4
            (Laplace noise: 13/8); 1 is that of the estimators that are fitted alone.

    Attributes:
        mean_, raw_mean_: mean, (m,), in the records' own units, within the bounds and as the noise
            left it.
        mechanism_: the calibrated mechanism; ``mechanism_.statement`` is its guarantee.
        notes_, details_: sentences on what the mean is not, and what stands beside it.
        draw_: what the release drew, of which all others are read.

    >>> X = np.random.default_rng(1).uniform(0, 1, (400, 3))
    >>> moments = mdp.PrivateMoments(epsilon=1, delta=1e-6, bounds=(0, 1)).fit(X)
    >>> moments.mean_.shape, moments.covariance().covariance_.shape
    ((3,), (3, 3))
    >>> moments.pca(2).components_.shape, moments.ridge(target=2).coef_.shape
    ((2, 3), (2,))
    """

    mean_weight: float | None = None

    _parameters: ClassVar[dict[str, Callable[..., Any]]] = {
        **Private._parameters,
        "mean_weight": optional(KEYS["mean_weight"].check),
    }

    def fit(self, X: ArrayLike, y: object = None, groups: ArrayLike | None = None) -> Self:
        """Release the moments of records X, (n, m); the target of a regression is one of them."""
        parameters, records = self._check_parameters(), read_records(self, X)
        answers = (MeanOfMoments.name, Components.name, CovarianceOutput.name)
        weight = parameters["mean_weight"]
        check_mean_weight(answers, weight, parameters["max_norm"], parameters["mechanism"])
        keys = {"answers": answers, "mean_weight": weight}
        return self._release(Moments.name, records, groups, parameters, **keys)

    def _describe(self, output: Output, noisy: Noisy) -> dict[str, Any]:
        assert isinstance(output, Moments)
        return super()._describe(reading_of(MeanOfMoments, output), noisy)

    def _answer(self, output: Output, noisy: Noisy) -> dict[str, Any]:
        assert noisy.mean is not None
        return {
            "raw_mean_": output.unscale(noisy.mean),
            "mean_": output.means(noisy.mean),
        }

    def covariance(self) -> Covariance:
        """Return the fitted covariance; nothing is spent."""
        return self._read(Covariance, CovarianceOutput)

    def pca(self, n_components: int | None = None) -> PrivatePCA:
        """Return the fitted components; nothing is spent.

        Args:
            n_components: number of components, from 1 to the number of columns; None for all.
        """
        check_is_fitted(self, "draw_")
        count = optional(KEYS["number"].check)(n_components=n_components)
        features = len(self._output.columns)
        if (count or 1) > features:
            raise InputError(f"n_components is {count}; it must be from 1 to {features}, or None")
        keys = {"count": count or features}
        return self._read(PrivatePCA, Components, keys, n_components=n_components)

    def ridge(
        self, target: str | int, *, alpha: float = 0.0, fit_intercept: bool = True
    ) -> PrivateRidge:
        """Return the fitted regression of a column on all others; nothing is spent.

        Args:
            target: the column that is predicted, by its name in a data frame and its number from 0
                in an array.
            alpha, fit_intercept: as of :class:`PrivateRidge`.
        """
        check_is_fitted(self, "draw_")
        output, name = self._output, str(target)
        checks.columns(output.columns, target=name)
        if len(output.columns) < 2:
            raise InputError(f"there is the column {name} alone; fit another that explains it, too")
        line = {"alpha": KEYS["alpha"].check(alpha=alpha)}
        line["intercept"] = checks.flag(fit_intercept=fit_intercept)
        place = output.columns.index(name)
        sides = output.box.lower[place], output.box.upper[place]
        more = {"alpha": alpha, "fit_intercept": fit_intercept, "target_bounds": sides}
        return self._read(PrivateRidge, Regression, {"target": name, **line}, place, **more)

    def _read(
        self,
        kind: type[T],
        output_type: type[AboutMean],
        keys: Mapping[str, Any] = MappingProxyType({}),
        target: int | None = None,
        **parameters: Any,
    ) -> T:
        """Return an estimator that is fitted from what was drawn.

        Args:
            kind: its class.
            output_type: class of what it reads.
            keys: of the output alone.
            target: place of the column that it predicts.
            parameters: of the estimator alone.
        """
        check_is_fitted(self, "draw_")
        spec = replace(self._output, **keys)
        output = reading_of(output_type, spec)
        names = getattr(self, "feature_names_in_", None)
        rest = [place for place in range(len(spec.columns)) if place != target]
        lower, upper = (
            [side[place] for place in rest] for side in (spec.box.lower, spec.box.upper)
        )
        labels = [*range(len(rest))] if names is None else names[rest].tolist()
        shared = {name: getattr(self, name) for name in Private._parameters}
        bounds_of = dict(zip(labels, zip(lower, upper, strict=True), strict=True))
        one: Any = kind(**shared, **parameters, bounds=bounds_of, _one_fit=self._one_fit)
        noted = {"n_features_in_": len(rest), "_box": Box(tuple(lower), tuple(upper))}
        if names is not None:
            noted["feature_names_in_"] = names[rest]
        if target is not None:
            noted["_target_box"] = Box(*zip(one.target_bounds, strict=True))
        noisy = reader(output, self.mechanism_, spec.columns)(self.draw_)
        fitted = one._describe(output, noisy)
        fitted["notes_"] = [*fitted["notes_"], TOGETHER]
        shared_draw = {"mechanism_": self.mechanism_, "draw_": self.draw_, "_output": output}
        one.__dict__.update(noted, **shared_draw, **fitted)
        return one
