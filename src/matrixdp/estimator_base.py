"""The base of private estimators: parameters, records, and one charged release a fit."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, NoReturn, Self, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from matrixdp import checks
from matrixdp.checks import Array, InputError, why
from matrixdp.isolation import isolate
from matrixdp.privacy import cells
from matrixdp.privacy.domain import Box
from matrixdp.release import bounds, durable, ledger, receipt
from matrixdp.release.account import Account
from matrixdp.release.bounds import BoundsLike
from matrixdp.release.description import answer_notes
from matrixdp.release.fits import (
    OneFit,
    evaluation,
    level_outside,
    warn_of_selection,
    warn_of_weakness,
)
from matrixdp.release.keys import KEYS
from matrixdp.release.missing import MIDDLE, REFUSE
from matrixdp.release.outputs import OUTPUTS, Moments, Output
from matrixdp.release.outputs.noisy import Draw, Noisy, Reader, reader, rehearse
from matrixdp.release.people import bound_contributions
from matrixdp.release.plans import Plan, plan, retried
from matrixdp.release.specification import RECOMMENDED

T = TypeVar("T")

#: Parameters that every output has.
_SHARED = ("epsilon", "delta", "mechanism", "per_person", "max_norm")

#: Ends of messages on X or y that holds no numbers, and that is no table: scikit-learn's own words.
NO_TEXT = (
    "turn dates, texts and categories into numbers, as each argument must be no string, but a real "
    "number"
)
TABLE = "no table. Reshape your data: one record per row"


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


def _inherit_arguments(cls: type, base: type) -> None:
    """Append the arguments and errors in the docstring of ``base`` to that of ``cls``, for help."""
    # Python has none with -OO.
    if "__doc__" not in vars(cls) or not (cls.__doc__ and base.__doc__):
        return
    _, heading, arguments = inspect.cleandoc(base.__doc__).partition("Args:\n")
    cls.__doc__ = f"{inspect.cleandoc(cls.__doc__)}\n\n{heading}{arguments}\n"


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def estimator(cls: type[T]) -> type[T]:
    """Return a class of parameters as a dataclass, whose copies by ``replace`` share its one fit.

    The fit is an argument that no signature and no parameter of scikit-learn shows.
    """
    cls = dataclass(kw_only=True, eq=False, repr=False)(cls)
    signature = inspect.signature(cls.__init__)
    shown = [part for name, part in signature.parameters.items() if name != "_one_fit"]
    cls.__init__.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return cls


@estimator
class Private(BaseEstimator):
    """Base of the estimators: each ``fit`` makes one release of second moments.

    A missing value, also a masked one, is refused unless ``missing`` says what it becomes. An
    infinite one counts as the bound. This holds in ``fit``, ``predict``, ``transform`` and
    ``score`` alike; ``fit`` alone clips finite values, too.

    A fit that is refused changes nothing, and spends nothing. What may be doubted of an answer is
    in ``notes_``, never a warning: warnings come before the charge.

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
            There is no default: bounds from the data would leak. All columns need some: of a data
            frame with further ones give ``X[[*bounds]]``.
        mechanism: ``recommend`` for the least typical loss in simulations from public facts, see
            :mod:`matrixdp.release.outlooks`. Or ``clipped``, which has less noise where most
            records lie close together within their bounds: it spends half of mu^2 on the mean and
            clips records about it to a radius that it chooses privately.
            Or ``laplace``, ``gaussian`` or ``analyze_gauss``, whose noise is added to second
            moments of all records, and leaves intervals of the answer.
        account: an :class:`~matrixdp.release.account.Account` that each fit is charged to. Clones
            share it, and it also counts the fits of other processes, as with ``n_jobs``. Without
            one an estimator and its clones are fitted once in all, as are those that
            ``dataclasses.replace`` makes of it: cross-validation, a search or
            bagging clones it, and each fit spends epsilon and delta again.
        per_person: number of records of each person that count, the first ones. The guarantee is
            then for replacing all records of one person; how many each has is public. ``fit`` takes
            ``groups``, a text or number per record that identifies its person.
        missing: ``middle`` if a missing value counts as the middle of its bounds, towards which it
            moves the answer; ``refuse`` if it ends the fit, which tells that a record lacks one.
            Nothing is put in its place unstated: None refuses it too. There is no
            ``missing_values``: put NaN in the place of a code before.
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
    # It begins in the process that makes the estimator.
    _one_fit: OneFit = field(default_factory=OneFit)

    #: What was released, of the last fit.
    _output: ClassVar[Output]

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
        isolate(cls)
        _inherit_arguments(cls, Private)

    def __sklearn_clone__(self) -> Self:
        # Searches and cross-validation clone what they score; their scores are exact.
        warn_of_selection(type(self).__name__)
        clone: Self = super().__sklearn_clone__()
        clone._one_fit = self._one_fit
        return clone

    def _check_parameters(self) -> dict[str, Any]:
        """Return the parameters by name, as their checks return them."""
        # Also in another process than that of the clone, before anything is spent.
        warn_of_selection(type(self).__name__)
        return {
            name: check(**{name: getattr(self, name)}) for name, check in self._parameters.items()
        }

    def _release(
        self,
        name: str,
        records: Records,
        groups: ArrayLike | None,
        parameters: Mapping[str, Any],
        target: tuple[Array, tuple[float, float]] | None = None,
        **keys: Any,
    ) -> Self:
        """Plan, charge and draw a release of records, as every door does, and note its answer.

        Nothing is written to the estimator before all that can refuse has passed.

        Args:
            name: of the output.
            records: records X.
            groups: whose records they are, (n,).
            parameters: those of the estimator, checked.
            target: y, (n,), and its public (lowest, highest).
            keys: of the output alone.

        Raises:
            InputError: noise hides the answer, however much of their bounds columns fill.
        """
        box = Box(*zip(*bounds.by_column(self.bounds, records.columns).values(), strict=True))
        noted = {**records.attributes, "_box": box}
        rows, names = records.rows, [*map(str, records.columns)]
        if target is not None:
            y, sides = target
            check_consistent_length(rows, y)
            rows, names = np.column_stack([rows, y]), [*names, "y"]
            noted["_target_box"] = Box(*zip(sides, strict=True))
            box = Box((*box.lower, sides[0]), (*box.upper, sides[1]))
        rows = self._replace_missing(self._of_groups(rows, groups, parameters), box)
        # What is scored after the charge would be refused then.
        scored = evaluation(self)
        for whole in (scored.X, scored.y):
            if whole is not None:
                self._check_missing(np.isnan(cells.numbers(whole, "records", NO_TEXT)))
        if scored.refuses_missing and scored.y is not None:
            self._check_scored(np.isnan(cells.numbers(scored.y, "y", NO_TEXT)))
        shared = {key: parameters[key] for key in _SHARED}
        spec = (Moments if name == Moments.name else OUTPUTS[name])(
            columns=(*names,), box=box, records=len(rows), fill=box.middle, **shared, **keys
        )

        def attempt() -> Callable[[], dict[str, Any]]:
            choice = plan(spec, self.account, even_if_useless=parameters["even_if_useless"])
            output, release = choice.output, choice.mechanism
            draw = release.prepare(partial(map, output.scaled, [rows]))
            names = {"feature_names_in_"}

            def describe(read: Reader, drawn: Draw) -> dict[str, Any]:
                attributes = self._describe(output, read(drawn))
                names.update(attributes)
                return attributes

            rehearse(spec.release_name, output, release, describe)
            read = reader(output, release)
            # Whoever makes errors of warnings pays for no fit that ends in one.
            warn_of_weakness(receipt.cautions(choice.spec))
            with durable.defer_signals():
                self._spend(choice)
                drawn = draw()
                for name in names:
                    # Of an earlier fit.
                    self.__dict__.pop(name, None)
                self.__dict__.update(noted, mechanism_=release, draw_=drawn, _output=output)
            return partial(describe, read, drawn)

        self.__dict__.update(described(retried(attempt)))
        return self

    def _describe(self, output: Output, noisy: Noisy) -> dict[str, Any]:
        """Return the attributes that a fit reads from what it has drawn."""
        details = output.described(noisy)
        notes = answer_notes(output, details, most=len(output.columns))
        return {**self._answer(output, noisy), "details_": details, "notes_": notes}

    def _answer(self, output: Output, noisy: Noisy) -> dict[str, Any]:
        """Return the attributes that a fit reads from a noisy value."""
        raise NotImplementedError

    def _spend(self, choice: Plan) -> None:
        """Charge a fit to the account or count it, after checking that its noise can be drawn."""
        if self.account is not None:
            choice.charge(type(self).__name__)
            return
        ledger.check(choice.mechanism)
        self._one_fit.spend(type(self).__name__)

    def _of_groups(
        self, rows: Array, groups: ArrayLike | None, parameters: Mapping[str, Any]
    ) -> Array:
        """Return the records that count, (k, m)."""
        most = parameters["per_person"]
        if (groups is None) != (most is None):
            raise InputError(
                f"per_person is {most} and groups are "
                f"{'missing' if groups is None else 'given'}; give both, or neither"
            )
        if groups is None:
            return rows
        first = bound_contributions(groups, most)
        check_consistent_length(rows, first)
        return rows[first]

    def _replace_missing(self, rows: Array, box: Box) -> Array:
        """Return rows (n, m) as they count, whoever reads them: ``fit``, ``predict`` or ``score``.

        A missing value is the middle of its bounds, an infinite one the bound. ``fit`` alone clips
        finite values, too: a line goes on beyond the bounds.

        Raises:
            InputError: a value is missing, and no parameter says what it becomes.
        """
        lacks = np.isnan(rows)
        self._check_missing(lacks)
        filled = np.where(lacks, box.middle, rows)
        return np.where(np.isinf(filled), np.clip(filled, box.lower, box.upper), filled)

    def _check_missing(self, lacks: NDArray[np.bool]) -> None:
        if self.missing != MIDDLE and lacks.any():
            raise InputError(
                f"missing is {self.missing!r}, and a record of {type(self).__name__} lacks a value,"
                f' which nothing replaces unstated; state missing="{MIDDLE}" for the middle'
                " of its bounds, or put a public number there, and leave no record out"
            )

    def _check_scored(self, lacks: NDArray[np.bool]) -> None:
        if lacks.any():
            raise InputError(
                f"y lacks a value, which scorers of scikit-learn refuse after the fit of "
                f"{type(self).__name__} is paid for; leave scoring out, which scores by score, or "
                "put a public number there"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = self.missing == MIDDLE
        return tags


def described(describe: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what a fit reads of its draw; nothing raises, as the draw is paid for."""
    try:
        return describe()
    except Exception as error:
        reason = why(error)
    note = (
        f"the description of this fit fails ({reason}), so that it has draw_ alone, which is what "
        "was paid for: noisy moments of records minus the middle, over half the range"
    )
    return {"details_": {}, "notes_": [note]}


class Records(NamedTuple):
    """Records as an estimator reads them.

    Attributes:
        rows: their numbers (n, m), NaN where they are missing.
        columns: what bounds call the columns, m names or numbers from 0.
        attributes: what a fit notes of the columns, as scikit-learn names it.
    """

    rows: Array
    columns: list[Any]
    attributes: dict[str, Any]


def read_records(estimator: BaseEstimator, X: ArrayLike) -> Records:
    """Return the records X of a fit, (n, m); the estimator stays as it is."""
    # Names of columns are noted on a copy.
    probe = copy.copy(estimator)
    rows = read_rows(probe, X, reset=True)
    names = ("n_features_in_", "feature_names_in_")
    attributes = {name: getattr(probe, name) for name in names if hasattr(probe, name)}
    # Labels of a data frame that are numbers are names too, not places.
    labels = attributes.get("feature_names_in_", cells.labels(X) or range(rows.shape[1]))
    texts = "feature_names_in_" in attributes
    return Records(rows, [str(label) if texts else label for label in labels], attributes)


def read_rows(estimator: BaseEstimator, X: ArrayLike, reset: bool = False) -> Array:
    """Return records X, (n, m), in float64, NaN where they are missing.

    Args:
        estimator: whose columns they have; ``reset`` notes them anew.

    Raises:
        InputError: X is no table of numbers, or has other columns. No message shows a value.
    """
    labels = [label for label in cells.labels(X) if isinstance(label, str | int)]
    bounds.check_names(labels)
    if len({isinstance(label, str) for label in labels}) > 1:
        raise InputError(
            "X has names of columns of several types; make all of them texts, as by "
            "X.columns.astype(str)"
        )
    rows = cells.numbers(X, "X", NO_TEXT)
    if rows.ndim != 2:
        kind = "a column and no table; give a data frame of records"
        is_column = rows.ndim == 1 and hasattr(X, "to_frame")
        raise InputError(f"X is {kind if is_column else TABLE}")
    # Neither sees a value: the first one looks at names and at the number of columns alone.
    validate_data(estimator, X if labels else rows, reset=reset, skip_check_array=True)
    check_array(rows, ensure_all_finite=False, input_name="X", estimator=estimator)
    return rows


def read_target(estimator: BaseEstimator, y: ArrayLike) -> Array:
    """Return y as an array of floats (n,), NaN where it is missing."""
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    target = cells.numbers(y, "y", NO_TEXT)
    if target.ndim == 2 and target.shape[1] == 1:
        sentence = "A column-vector y was passed when a 1d array was expected"
        warnings.warn(sentence, DataConversionWarning, stacklevel=level_outside())
        target = target[:, 0]
    if target.ndim != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {target.shape}")
    return target
