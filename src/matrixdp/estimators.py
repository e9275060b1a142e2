"""Private estimators with scikit-learn's interface: covariance, PCA and ridge regression.

Each call of ``fit`` spends epsilon and delta anew. It releases second moments of the records once,
scaled by their public bounds, and computes the rest from the release. scikit-learn must be
installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.composed import InParts
from matrixdp.mechanisms.moments import with_constant
from matrixdp.privacy import exact_sums
from matrixdp.privacy.domain import Box
from matrixdp.release import (
    bounds,
    choices,
    compositions,
    ledger,
    specification,
)
from matrixdp.release.account import Account
from matrixdp.release.bounds import Bounds
from matrixdp.release.fits import OneFit as _OneFit
from matrixdp.release.fits import warn_of_doubts, warn_of_scores, warn_of_selection
from matrixdp.release.keys import CLIPPED, RECOMMENDED
from matrixdp.release.missing import MIDDLE, REFUSE
from matrixdp.release.outputs import Components, Output, Regression
from matrixdp.release.outputs.components import spectrum
from matrixdp.release.outputs.output import Noisy
from matrixdp.release.people import bound_contributions
from matrixdp.release.release import TRIES, Outdated, Plan, planned

#: Mechanisms that add their noise to second moments.
ADDITIVE = ("laplace", "gaussian", "analyze_gauss")
#: Beginnings of scikit-learn's messages that show shapes and names of columns, but no value.
_HARMLESS = (
    "Sparse data",
    "Found array",
    "Found input",
    "Expected n",
    "The feature names",
    "X has",
)
#: Replacements of messages that show values, or do not say what to do, by their beginnings.
_SENTENCES = {
    "Complex data not supported": "Complex data not supported: {name} must hold real numbers",
    "Expected 2D array": "{name} is no table. Reshape your data: one record per row",
    "Expected a 2-dimensional": "{name} is a column and no table; give a data frame of records",
    "Feature names are only": "{name} has names of columns of several types; make all of them "
    "texts, as by {name}.columns.astype(str)",
}


class _NoProjections(InputError, AttributeError):
    """Error of an attribute that is missing on purpose; pipelines then call fit and transform."""


def _optional(check: Callable[..., Any]) -> Callable[..., Any]:
    """Return a check that None passes, too."""

    def checked(**argument: Any) -> Any:
        (value,) = argument.values()
        return None if value is None else check(**argument)

    return checked


def _account(*, account: Any) -> Account | None:
    if account is None or isinstance(account, Account):
        return account
    raise InputError(
        f"account is a {type(account).__name__}; give an mdp.Account, or None for a single fit"
    )


class _FitAlone:
    """Mixin without ``fit_transform``, whose result would be as private as the records."""

    @property
    def fit_transform(self) -> NoReturn:
        """Refuse: exact projections of the records are as private as the records."""
        raise _NoProjections(
            "fit_transform would return exact projections of the private records; call fit, and "
            "transform records that may be shown"
        )


@dataclass(kw_only=True, eq=False, repr=False)
class _Private(BaseEstimator):
    """Base of the estimators: each ``fit`` makes one release of second moments.

    A missing value, also a masked one, is refused unless ``missing`` says what it becomes. An
    infinite one counts as the bound.

    The guarantee of a fit is for a record that it gets once. A record that it gets k times counts
    as a person with k records: replacing it moves sums by k times as much, and spends k mu, or k
    epsilon of a pure release (see :mod:`matrixdp.privacy.sensitivity`). ``account`` does not look
    for this. scikit-learn's bagging draws records with replacement, without a limit on k, so that
    only ``BaggingRegressor(..., bootstrap=False)`` spends what it counts. Boosting and RANSAC are
    not covered: AdaBoostRegressor and RANSACRegressor choose records by exact residuals, and the
    first draws them with replacement.

    Scores, as of ``score``, cross-validation and searches, and ``best_params_``, are exact on the
    records that they are computed from, which no epsilon covers. Where ``score`` or
    sklearn.model_selection computes them, a :class:`~matrixdp.release.fits.ExactScoreWarning` says
    so, once in a process. Other tools call ``predict`` and nothing warns, as with
    ``BaggingRegressor.score`` and ``permutation_importance``.

    Args:
        epsilon, delta: guarantee of one call of ``fit``, for replacing one record; the number of
            records counts as public.
        bounds: public (lowest, highest) of the values: a pair for all columns, a list with a pair
            per column (but for two columns), or a dictionary with a pair by column, which goes by
            its name in a data frame and its number from 0 in an array. Values outside are clipped.
            There is no default: bounds from the data would leak.
        mechanism: ``recommend`` for the least regret in simulations from public facts, see
            :mod:`matrixdp.release.outlooks`. Or ``clipped``, which has less noise where most
            records lie close together within their bounds: it spends half of mu^2 on the mean and
            clips records about it to a radius that it chooses privately.
            Or ``laplace``, ``gaussian`` or ``analyze_gauss``, whose noise is added to second
            moments of all records, and leaves intervals of the answer.
        account: an :class:`~matrixdp.release.account.Account` that each fit is charged to. Clones
            share it, and it also counts the fits of other processes, as with ``n_jobs``. Without
            one an estimator and its clones are fitted once in all: cross-validation, a search or
            bagging clones it, and each fit spends epsilon and delta again.
        per_person: number of records of each person that count, the first ones. The guarantee is
            then for replacing all records of one person; how many each has is public. ``fit`` takes
            ``groups``, a text or number per record that identifies its person.
        missing: ``middle`` if a missing value counts as the middle of its bounds, towards which it
            moves the answer; ``refuse`` if it ends the fit, which tells that a record lacks one.
            Nothing is put in its place unstated: None refuses it too.
        max_norm: public l2 norm to which records are shrunk besides, in the columns' own units,
            those of a regression with y; None for none. Noise follows from it, far less of it where
            it is small beside the bounds, as of unit vectors.
        even_if_useless: whether to pay for a fit that noise hides, by simulations from public facts
            alone, and which is refused otherwise.

    Raises:
        InputError: by ``fit`` before it spends anything, if a parameter is out of range, the bounds
            are missing, no mechanism gives the guarantee, the one fit or the account is spent,
            ``groups`` and ``per_person`` do not fit, or a value is missing and not to be replaced.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    bounds: Bounds | None = None
    mechanism: str = RECOMMENDED
    account: Account | None = None
    per_person: int | None = None
    missing: str | None = None
    max_norm: float | None = None
    even_if_useless: bool = False

    #: The check of each parameter but the bounds, which columns decide on. All of them pass before
    #: anything is spent, and each returns the value that a fit uses.
    _parameters: ClassVar[dict[str, Callable[..., Any]]] = {
        "epsilon": checks.positive,
        "delta": checks.delta,
        "mechanism": partial(checks.choice, (RECOMMENDED, *ADDITIVE, CLIPPED)),
        "account": _account,
        "per_person": _optional(checks.count),
        "missing": _optional(partial(checks.choice, (MIDDLE, REFUSE))),
        "max_norm": _optional(checks.size),
        "even_if_useless": checks.flag,
    }

    def __post_init__(self) -> None:
        # Clones and copies share it; it begins in the process that makes the estimator.
        self._one_fit = _OneFit()

    def __sklearn_clone__(self) -> Self:
        warn_of_selection(type(self).__name__)
        clone: Self = super().__sklearn_clone__()
        clone._one_fit = self._one_fit
        return clone

    def _checked(self) -> dict[str, Any]:
        """Return the parameters by name, as their checks return them."""
        return {
            name: check(**{name: getattr(self, name)}) for name, check in self._parameters.items()
        }

    def _calibrated(
        self, output: Output, count: int, parameters: Mapping[str, Any], **line: Any
    ) -> AdditiveMechanism | InParts:
        """Plan and charge a release as every door does, and return its ``mechanism_``.

        Raises:
            InputError: noise hides the answer, however much of their bounds columns fill.
        """
        for last in range(TRIES, -1, -1):
            plan = self._plan(output, count, parameters, **line)
            try:
                self._spend(plan)
                break
            except Outdated:
                if not last:
                    raise
        assert plan.option is not None
        self.mechanism_: AdditiveMechanism | InParts = plan.option.release
        return self.mechanism_

    def _plan(self, output: Output, count: int, parameters: Mapping[str, Any], **line: Any) -> Plan:
        """Return the plan of a fit, by the account as it is, or without one for this fit alone."""
        alone = ledger.total({name: parameters[name] for name in ("epsilon", "delta")})
        state, name = ledger.begin(alone, ledger.Relation("replace")), "the guarantee"
        if self.account is not None:
            state, name = self.account.state(), "the account"
        total = tuple(ledger.terms(state)[0].items())
        spec, listed = choices.of_fit(
            *(output.name, output.box, count), **_guarantee(parameters), **line, total=total
        )
        insist = "" if parameters["even_if_useless"] else "even_if_useless=True"
        return planned(spec, self.account, listed, state, name, insist)

    def _spend(self, plan: Plan) -> None:
        """Charge a fit to the account or count it, after checking that its noise can be drawn."""
        if self.account is not None:
            plan.charge(type(self).__name__)
            return
        assert plan.option is not None
        ledger.check(plan.option.release)
        self._one_fit.spend(type(self).__name__)

    def _noisy(self, output: Output, records: Array, release: AdditiveMechanism | InParts) -> Noisy:
        """Release records in half ranges, or in units of ``max_norm``."""
        rows = with_constant(records) if output.constant else records
        return compositions.prepare(output, release, lambda: [rows])()

    def _box(self, X: ArrayLike, *more: tuple[float, float]) -> Box:
        """Return the box of the bounds of X, and of ``more`` columns."""
        sides = bounds.by_column(self.bounds, _columns(self, X)).values()
        return Box(*zip(*sides, *more, strict=True))

    def _counting(
        self, records: Array, groups: ArrayLike | None, parameters: Mapping[str, Any]
    ) -> Array:
        """Return the records that count, (k, m), NaN where a value is missing."""
        most = parameters["per_person"]
        if (groups is None) != (most is None):
            raise InputError(
                f"per_person is {most} and groups are "
                f"{'missing' if groups is None else 'given'}; give both, or neither"
            )
        if groups is not None:
            first = bound_contributions(groups, most)
            check_consistent_length(records, first)
            records = records[first]
        if parameters["missing"] != MIDDLE and np.isnan(records).any():
            raise InputError(
                f"missing is {self.missing!r}, and a record of {type(self).__name__} lacks a value,"
                f' which nothing replaces unstated; state missing="{MIDDLE}" for the middle'
                " of its bounds, or put a public number there, and leave no record out"
            )
        return records

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = self.missing == MIDDLE
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class Covariance(_Private):
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
        mechanism_: the calibrated mechanism, with its tight guarantee.

    >>> X = np.random.default_rng(1).uniform(0, 1, (400, 3))
    >>> estimate = mdp.Covariance(epsilon=1, delta=1e-6, bounds=(0, 1)).fit(X)
    >>> estimate.covariance_.shape, bool((estimate.eigenvalues_ >= 0).all())
    ((3, 3), True)
    """

    def fit(self, X: ArrayLike, y: object = None, groups: ArrayLike | None = None) -> Self:
        """Release the covariance of records X, (n, m)."""
        parameters = self._checked()
        records = self._counting(_records(self, X), groups, parameters)
        box = self._box(X)
        output, scaled = _in_units("covariance", box, records, parameters)
        release = self._calibrated(output, len(records), parameters)
        output = replace(output, query=release.query)
        noisy, half = self._noisy(output, scaled, release), output.half
        self.raw_location_ = output.middle + noisy.estimate.mean * half
        self.raw_covariance_ = noisy.value * np.outer(half, half)
        answer = output.answer(noisy)
        self.location_, self.covariance_ = answer[:, 0], answer[:, 1:]
        self.eigenvalues_ = spectrum(self.covariance_)[0]
        warn_of_doubts(output.doubts(noisy), calls=2)
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class PrivatePCA(_FitAlone, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Private):
    """Principal components from one private release; each ``fit`` spends epsilon and delta anew.

    ``transform`` adds no noise: its result is as private as the records that it transforms. Do not
    scale records by their own mean or range first (``StandardScaler``), which leaks both:
    ``bounds`` scale them. Components are those of the covariance about the released mean. The mean
    is part of the same release, which costs one more column and about 1 / m more noise.

    Args:
        n_components: number of components, at least 1; None for all.

    Attributes:
        components_: components, (n_components, m), of records in half ranges.
        explained_variance_: their variances, (n_components,), in squared half ranges.
        explained_variance_ratio_: their shares of the total variance, (n_components,).
        mean_, raw_mean_: mean, (m,), in the records' own units, within the bounds and as the noise
            left it.
        mechanism_: the calibrated mechanism, with its tight guarantee.

    >>> X = np.random.default_rng(1).uniform(0, 1, (400, 3))
    >>> pca = mdp.PrivatePCA(2, epsilon=1, delta=1e-6, bounds=(0, 1)).fit(X)
    >>> pca.components_.shape, pca.mean_.shape
    ((2, 3), (3,))
    >>> pca.get_feature_names_out().tolist(), pca.inverse_transform(pca.transform(X)).shape
    (['privatepca0', 'privatepca1'], (400, 3))
    """

    n_components: int | None = field(default=1, kw_only=False)

    _parameters: ClassVar[dict[str, Callable[..., Any]]] = {
        **_Private._parameters,
        "n_components": _optional(checks.count),
    }

    def fit(self, X: ArrayLike, y: object = None, groups: ArrayLike | None = None) -> Self:
        """Release the components of records X, (n, m)."""
        parameters = self._checked()
        records = self._counting(_records(self, X), groups, parameters)
        features = records.shape[1]
        number = parameters["n_components"] or features
        if number > features:
            raise InputError(f"n_components is {number}; it must be from 1 to {features}, or None")
        box = self._box(X)
        output, scaled = _in_units("components", box, records, parameters)
        release = self._calibrated(output, len(records), parameters)
        assert isinstance(output, Components)
        output = replace(output, query=release.query, count=number)
        noisy, self.half_ = self._noisy(output, scaled, release), output.half
        self.raw_mean_ = output.middle + noisy.estimate.mean * self.half_
        self.mean_ = output.means(noisy.estimate.mean)
        answer = output.answer(noisy)
        self.explained_variance_, self.explained_variance_ratio_ = answer[:, 0], answer[:, 1]
        self.components_ = answer[:, 2:]
        warn_of_doubts(output.doubts(noisy), calls=2)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Return the coordinates of records X, (n, m), along the components: (n, n_components).

        No noise is added: coordinates of private records are private.
        """
        check_is_fitted(self)
        records = _records(self, X, reset=False)
        coordinates: Array = (records - self.mean_) / self.half_ @ self.components_.T
        return coordinates

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return records (n, m), in their own units, of coordinates X, (n, n_components).

        They are those of ``transform`` where all components are present, and otherwise the nearest
        ones in half ranges that the components reach. No noise is added.
        """
        check_is_fitted(self)
        try:
            coordinates = np.asarray(exact_sums.filled(X), dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            problem = _without_values(error, X, "X")
        else:
            checks.array(shape=(None, len(self.components_)), X=coordinates)
            records: Array = self.mean_ + coordinates @ self.components_ * self.half_
            return records
        raise problem

    @property
    def _n_features_out(self) -> int:
        """Number of components, for ``get_feature_names_out`` and ``set_output``."""
        return len(self.components_)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateRidge(RegressorMixin, _Private):
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
        mechanism_: the calibrated mechanism, with its tight guarantee.

    >>> X = np.random.default_rng(1).uniform(0, 1, (400, 3))
    >>> ridge = mdp.PrivateRidge(epsilon=1, delta=1e-6, bounds=(0, 1), target_bounds=(0, 3))
    >>> ridge.fit(X, X.sum(axis=1)).coef_.shape
    (3,)
    """

    target_bounds: tuple[float, float] | None = None
    alpha: float = 0.0
    fit_intercept: bool = True

    _parameters: ClassVar[dict[str, Callable[..., Any]]] = {
        **_Private._parameters,
        "alpha": checks.not_negative,
        "fit_intercept": checks.flag,
    }

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Release the regression of y, (n,), on X, (n, m)."""
        parameters = self._checked()
        records, target = _records(self, X), _target(self, y)
        check_consistent_length(records, target)
        rows = self._counting(np.column_stack([records, target]), groups, parameters)
        box = self._box(X, bounds.pair(self.target_bounds, "target_bounds"))
        line = {"alpha": parameters["alpha"], "intercept": parameters["fit_intercept"]}
        output, scaled = _in_units("regression", box, rows, parameters, **line)
        release = self._calibrated(output, len(rows), parameters, **line)
        assert isinstance(output, Regression)
        output = replace(output, query=release.query)
        noisy = self._noisy(output, scaled, release)
        (answer,) = output.answer(noisy)
        self.coef_, self.intercept_ = answer[:-1], float(answer[-1])
        errors = np.full(len(output.half), np.nan)
        if parameters["max_norm"] is None:
            errors = output.standard_errors(noisy.noise(), noisy.estimate, noisy.std)
        self.coef_std_, self.intercept_std_ = errors[:-1], float(errors[-1])
        warn_of_doubts(output.doubts_of(self.coef_, self.coef_std_), calls=2)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A few hundred records are too few for any regression at a small epsilon.
        tags.regressor_tags.poor_score = True
        return tags

    def predict(self, X: ArrayLike) -> Array:
        """Return the prediction for records X, (n,).

        No noise is added: predictions for private records are private.
        """
        check_is_fitted(self)
        predicted: Array = _records(self, X, reset=False) @ self.coef_
        return predicted + self.intercept_

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the R^2 of predictions for records X, as scikit-learn's regressors do.

        No noise is added: the score of private records is private, and so is what is chosen by it.
        The first call of a process warns of this.
        """
        warn_of_scores(type(self).__name__)
        return float(super().score(X, y, sample_weight))


# A warning would show that a wider number is beyond float64.
@np.errstate(all="ignore")
def _records(estimator: BaseEstimator, X: ArrayLike, reset: bool = True) -> Array:
    """Return X as an array of floats (n, m); error messages show no value of it."""
    bounds.check_names([one for one in getattr(X, "columns", ()) if isinstance(one, str | int)])
    try:
        records: Array = validate_data(
            estimator, exact_sums.filled(X), dtype=np.float64, ensure_all_finite=False, reset=reset
        )
    except (TypeError, ValueError, OverflowError) as error:
        problem = _without_values(error, X, "X")
    else:
        return records
    # Raise outside the handler: the error must not carry the original one, which shows values.
    raise problem


@np.errstate(all="ignore")
def _target(estimator: BaseEstimator, y: ArrayLike) -> Array:
    """Return y as an array of floats (n,); error messages show no value of it."""
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    try:
        target: Array = check_array(
            exact_sums.filled(y),
            dtype=np.float64,
            ensure_2d=False,
            ensure_all_finite=False,
            input_name="y",
        )
    except (TypeError, ValueError, OverflowError) as error:
        problem = _without_values(error, y, "y")
    else:
        if target.ndim == 2 and target.shape[1] == 1:
            sentence = "A column-vector y was passed when a 1d array was expected"
            warnings.warn(sentence, DataConversionWarning, stacklevel=3)
            target = target[:, 0]
        if target.ndim != 1:
            raise InputError(f"y should be a 1d array, got an array of shape {target.shape}")
        return target
    raise problem


def _without_values(error: Exception, values: Any, name: str) -> Exception:
    """Return an error of the same type whose message shows no value of the records."""
    text = str(error)
    if text.startswith(_HARMLESS):
        return type(error)(text)
    error_type = TypeError if isinstance(error, TypeError) else InputError
    for start, sentence in _SENTENCES.items():
        if text.startswith(start):
            return error_type(sentence.format(name=name))
    return error_type(
        f"{name} has {exact_sums.obstacle(values)}; each argument must be a string or a real "
        "number that float() reads"
    )


def _guarantee(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a specification that all estimators have."""
    names = ("epsilon", "delta", "mechanism", "per_person", "max_norm")
    return {name: parameters[name] for name in names}


def _in_units(
    query_name: str, box: Box, rows: Array, parameters: Mapping[str, Any], **line: Any
) -> tuple[Output, Array]:
    """Return what is read from a release, and the records of its query, (n, m).

    They are in half ranges around the middle, or in units of ``max_norm``. A missing value becomes
    the middle of its bounds.
    """
    spec = specification.fit(query_name, box, len(rows), **_guarantee(parameters), **line)
    if parameters["max_norm"] is None:
        return spec.output, np.nan_to_num(box.scaled(rows), nan=0.0)
    # No warning may depend on a record.
    with np.errstate(all="ignore"):
        inside = np.clip(np.where(np.isnan(rows), box.middle, rows), box.lower, box.upper)
        return spec.output, (inside - spec.middle) / spec.half


def _columns(estimator: BaseEstimator, X: ArrayLike) -> list[Any]:
    """Return the names of the columns of X, of which a fit began; numbers from 0 for an array."""
    if hasattr(estimator, "feature_names_in_"):
        return [*map(str, estimator.feature_names_in_)]
    # Labels of a data frame that are numbers are names too, not places.
    return [*getattr(X, "columns", range(estimator.n_features_in_))]
