"""The base of private estimators: parameters, records, and one charged release a fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from matrixdp import checks, docs
from matrixdp.checks import Array, InputError
from matrixdp.privacy import exact_sums
from matrixdp.privacy.domain import Box
from matrixdp.release import bounds, compositions, ledger, receipt
from matrixdp.release.account import Account
from matrixdp.release.bounds import BoundsLike
from matrixdp.release.fits import OneFit as _OneFit
from matrixdp.release.fits import warn_of_selection, warn_of_weakness, without_values
from matrixdp.release.keys import KEYS
from matrixdp.release.missing import MIDDLE, REFUSE
from matrixdp.release.outputs import OUTPUTS, Output
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import RECOMMENDED
from matrixdp.release.people import bound_contributions
from matrixdp.release.plans import Plan, plan, retried
from matrixdp.release.specification import Specification

#: Parameters that every output has.
_SHARED = ("mechanism", "per_person", "max_norm")


class _NoProjections(InputError, AttributeError):
    """Error of an attribute that is missing on purpose; pipelines then call fit and transform."""


def optional(check: Callable[..., Any]) -> Callable[..., Any]:
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


class FitAlone:
    """Mixin without ``fit_transform``, whose result would be as private as the records."""

    @property
    def fit_transform(self) -> NoReturn:
        """Refuse: exact projections of the records are as private as the records."""
        raise _NoProjections(
            "fit_transform would return exact projections of the private records; call fit, and "
            "transform records that may be shown"
        )


@dataclass(kw_only=True, eq=False, repr=False)
class Private(BaseEstimator):
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
    bounds: BoundsLike | None = None
    mechanism: str = RECOMMENDED
    account: Account | None = None
    per_person: int | None = None
    missing: str | None = None
    max_norm: float | None = None
    even_if_useless: bool = False

    #: The check of each parameter but the bounds, which columns decide on: that of a specification
    #: where it has the key. All pass before anything is spent; each returns what a fit uses.
    _parameters: ClassVar[dict[str, Callable[..., Any]]] = {
        **{name: KEYS[name].check for name in ("epsilon", "delta", "mechanism")},
        **{name: optional(KEYS[name].check) for name in ("max_norm", "per_person")},
        "account": _account,
        "missing": optional(partial(checks.choice, (MIDDLE, REFUSE))),
        "even_if_useless": checks.flag,
    }

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        docs.inherit_arguments(cls, Private)

    def __post_init__(self) -> None:
        # Clones and copies share it; it begins in the process that makes the estimator.
        self._one_fit = _OneFit()

    def __sklearn_clone__(self) -> Self:
        # Searches and cross-validation clone what they score; their scores are exact.
        warn_of_selection(type(self).__name__)
        clone: Self = super().__sklearn_clone__()
        clone._one_fit = self._one_fit
        return clone

    def _checked(self) -> dict[str, Any]:
        """Return the parameters by name, as their checks return them."""
        return {
            name: check(**{name: getattr(self, name)}) for name, check in self._parameters.items()
        }

    def _release(
        self, name: str, rows: Array, box: Box, parameters: Mapping[str, Any], **line: Any
    ) -> tuple[Output, Noisy]:
        """Plan, charge and draw a release of rows (n, m), as every door does.

        Returns:
            What is read from the release, with the query of its mechanism, and its noisy value.

        Raises:
            InputError: noise hides the answer, however much of their bounds columns fill.
        """
        names = map(str, getattr(self, "feature_names_in_", range(self.n_features_in_)))
        columns, shared = (*names, "y")[: box.features], {key: parameters[key] for key in _SHARED}
        output = OUTPUTS[name](columns=columns, box=box, records=len(rows), **shared, **line)
        budget = {key: parameters[key] for key in ("epsilon", "delta")}
        spec = Specification(Path(), output, {}, total=None, fill=box.middle, **budget)
        # A missing value that counts is the middle of its bounds.
        filled = np.where(np.isnan(rows), box.middle, rows)

        def attempt() -> tuple[Plan, Callable[[], Noisy]]:
            choice = plan(spec, self.account, even_if_useless=parameters["even_if_useless"])
            scaled = partial(map, choice.output.scaled, [filled])
            draw = compositions.prepare(choice.output, choice.release, scaled)
            read = compositions.reader(choice.output, choice.release)
            # Whoever makes errors of warnings pays for no fit that ends in one.
            warn_of_weakness(receipt.cautions(choice.spec))
            self._spend(choice)
            return choice, lambda: read(draw())

        choice, draw = retried(attempt)
        self.mechanism_ = choice.release
        return choice.output, draw()

    def _spend(self, choice: Plan) -> None:
        """Charge a fit to the account or count it, after checking that its noise can be drawn."""
        if self.account is not None:
            choice.charge(type(self).__name__)
            return
        ledger.check(choice.release)
        self._one_fit.spend(type(self).__name__)

    def _box(self, X: ArrayLike, *more: tuple[float, float]) -> Box:
        """Return the box of the bounds of X, and of ``more`` columns."""
        # Labels of a data frame that are numbers are names too, not places.
        columns: list[Any] = [*range(self.n_features_in_)]
        if hasattr(self, "feature_names_in_"):
            columns = [*map(str, self.feature_names_in_)]
        elif exact_sums.is_frame(X):
            columns = [*getattr(X, "columns", ())]
        return Box(*zip(*bounds.by_column(self.bounds, columns).values(), *more, strict=True))

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


# A warning would show that a wider number is beyond float64.
@np.errstate(all="ignore")
def read(name: str, values: ArrayLike, check: Callable[[Any], Array]) -> Array:
    """Return what a check makes of an array; error messages show no value of it."""
    try:
        return check(exact_sums.filled(values))
    except (TypeError, ValueError, OverflowError) as error:
        problem = without_values(error, values, name)
    # Raise outside the handler: the error must not carry the original one, which shows values.
    raise problem


def read_records(estimator: BaseEstimator, X: ArrayLike, reset: bool = True) -> Array:
    """Return X as an array of floats (n, m)."""
    bounds.check_names([one for one in getattr(X, "columns", ()) if isinstance(one, str | int)])
    options: Any = {"dtype": np.float64, "ensure_all_finite": False, "reset": reset}
    return read("X", X, lambda values: validate_data(estimator, values, **options))


def read_target(estimator: BaseEstimator, y: ArrayLike) -> Array:
    """Return y as an array of floats (n,)."""
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    options: Any = {"ensure_2d": False, "ensure_all_finite": False, "input_name": "y"}
    target = read("y", y, lambda values: check_array(values, dtype=np.float64, **options))
    if target.ndim == 2 and target.shape[1] == 1:
        sentence = "A column-vector y was passed when a 1d array was expected"
        warnings.warn(sentence, DataConversionWarning, stacklevel=3)
        target = target[:, 0]
    if target.ndim != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {target.shape}")
    return target
