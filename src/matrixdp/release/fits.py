"""What scikit-learn's tools do with private estimators: how often they fit, and what they score."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import Any, Self

from matrixdp.checks import InputError
from matrixdp.privacy import exact_sums
from matrixdp.release.outputs.noisy import Noisy

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


#: Noisy share of records beyond a radius above which estimators warn.
MANY = 0.1


class ExactScoreWarning(UserWarning):
    """A score of private records is computed without noise, and no epsilon covers it."""


class WeakGuaranteeWarning(UserWarning):
    """A guarantee promises next to nothing, as its epsilon or its delta is large."""


def warn_of_weakness(cautions: Sequence[str]) -> None:
    """Warn who calls ``fit`` of what receipts of other doors caution about."""
    for caution in cautions:
        warnings.warn(caution, WeakGuaranteeWarning, stacklevel=6)


class UselessWarning(UserWarning):
    """Noise may be all there is in a number that an estimator released."""


def warn_of_doubts(doubts: Sequence[str]) -> None:
    """Warn who calls ``fit`` of released numbers that may be noise."""
    if doubts:
        rest_words = f", and {len(doubts) - 1} such numbers more" * (len(doubts) > 1)
        warnings.warn(f"{doubts[0]}{rest_words}", UselessWarning, stacklevel=3)


class ClippedWarning(UserWarning):
    """Many records were shrunk, which makes variances too small by an unknown factor."""


def warn_of_clipping(noisy: Noisy) -> None:
    """Warn who calls ``fit`` where many records were shrunk."""
    if noisy.shrinks and noisy.share_beyond > MANY:
        warnings.warn(
            f"a noisy share of {noisy.share_beyond:.0%} of the records lies beyond a radius that "
            "was found in private, and was shrunk to it: variances may be several times too small; "
            'mechanism="analyze_gauss" has more noise and none of this',
            ClippedWarning,
            stacklevel=3,
        )


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
        stacklevel=3,
    )


def warn_of_selection(name: str) -> None:
    """Warn as :func:`warn_of_scores` where a tool of ``sklearn.model_selection`` is the caller.

    Its tools compute scores of whatever they clone, even by other functions than ``score``, and
    perhaps in other processes, whose warnings nobody reads.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn.model_selection."):
            warn_of_scores(name)
            return
        frame = frame.f_back


def without_values(error: Exception, values: Any, name: str) -> Exception:
    """Return an error of the same type whose message shows no value of the records."""
    text = str(error)
    if text.startswith(_HARMLESS):
        return type(error)(text)
    error_type = TypeError if isinstance(error, TypeError) else InputError
    for start, sentence in _SENTENCES.items():
        if text.startswith(start):
            return error_type(sentence.format(name=name))
    return error_type(
        f"{name} has {exact_sums.obstacle(values)}; each argument must be no string, but a real "
        "number that float64 holds"
    )
