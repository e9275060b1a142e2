"""What scikit-learn's tools do with private estimators: how often they fit, and what they score."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple, Self

from matrixdp.checks import InputError


class OneFit:
    """The fit that an estimator without an account, its clones and its copies have together.

    A pickled copy, as parallel workers get it, must not be fitted, nor must one in a forked
    process: nobody would count its fits.
    """

    def __init__(self, spent: bool = False) -> None:
        self._spent, self._lock, self._process = spent, threading.Lock(), os.getpid()

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[type[OneFit], tuple[bool]]:
        return type(self), (True,)

    def spend(self, name: str) -> None:
        """Note the fit of the estimator ``name``.

        Raises:
            InputError: there was one, or this is a pickled copy, or another process made the
                estimator.
        """
        # A lock that another thread held during a fork would never be free.
        if os.getpid() == self._process:
            with self._lock:
                if not self._spent:
                    self._spent = True
                    return
        raise InputError(
            f"this {name} may be fitted once, with its clones and copies in all processes, as each "
            "fit spends epsilon and delta again; make a new one, or give it an account, as "
            'account=mdp.Account("people.csv")'
        )


class ExactScoreWarning(UserWarning):
    """A score of private records is computed without noise, and no epsilon covers it."""


def level_outside() -> int:
    """Return the ``stacklevel`` of a warning for who called this package, however deep."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("matrixdp."):
        level, frame = level + 1, frame.f_back
    return level


class WeakGuaranteeWarning(UserWarning):
    """A guarantee promises next to nothing, as its epsilon or its delta is large."""


def warn_of_weakness(cautions: Sequence[str]) -> None:
    """Warn who calls ``fit`` of what receipts of other doors caution about."""
    for caution in cautions:
        warnings.warn(caution, WeakGuaranteeWarning, stacklevel=level_outside())


#: Names of the estimators whose scores have been warned of in this process.
_warned: set[str] = set()


def warn_of_scores(name: str) -> None:
    """Warn, once per process and estimator, that no epsilon covers its scores."""
    if name in _warned:
        return
    _warned.add(name)
    warnings.warn(
        f"scores of {name} are exact on the records that they are computed from: epsilon covers "
        "its fits alone, and no scores, best_params_ or choices from them; score records that may "
        "be shown, or publish neither",
        ExactScoreWarning,
        stacklevel=level_outside(),
    )


def warn_of_selection(name: str) -> None:
    """Warn as :func:`warn_of_scores` where a tool of ``sklearn.model_selection`` is the caller.

    Its tools compute scores of whatever they clone, even by other functions than ``score``, and
    perhaps in other processes, whose warnings nobody reads.
    """
    if next(_selections(), None) is not None:
        warn_of_scores(name)


class Evaluation(NamedTuple):
    """What a tool of ``sklearn.model_selection`` fits an estimator on a part of, and then scores.

    Attributes:
        X, y: all records, and their targets; None where there are none.
        refuses_missing: whether it scores by functions of scikit-learn, not by ``score``, which
            refuse a missing value of y.
    """

    X: Any = None
    y: Any = None
    refuses_missing: bool = False


def evaluation(estimator: object) -> Evaluation:
    """Return what is scored after a fit, when a refusal would lose what the fit has cost.

    It is empty of another caller, as of a pipeline, whose records may be others.
    """
    for frame in _selections():
        if frame.f_locals.get("estimator") is estimator and "test" in frame.f_locals:
            X, y, scorer = (frame.f_locals.get(name) for name in ("X", "y", "scorer"))
            # A scorer of scikit-learn holds its function; that of ``score`` holds none.
            each = getattr(scorer, "_scorers", {"": scorer}).values()
            return Evaluation(X, y, any(hasattr(one, "_score_func") for one in each))
    return Evaluation()


def _selections() -> Iterator[FrameType]:
    """Yield the frames of ``sklearn.model_selection`` among the callers, the nearest first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn.model_selection."):
            yield frame
        frame = frame.f_back
