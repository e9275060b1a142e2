"""What scikit-learn's tools do with private estimators: how often they fit, and what they score."""

from __future__ import annotations

import math
import os
import sys
import threading
import warnings
from types import FrameType
from typing import Self

from matrixdp.checks import InputError, plural


class Fits:
    """Number of fits of an estimator, its clones and its copies in one process, together.

    A pickled copy, as parallel workers get it, must not be fitted, nor must one in a forked
    process: nobody would count its fits.
    """

    def __init__(self, count: float = 0) -> None:
        self._count, self._lock, self._process = count, threading.Lock(), os.getpid()

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[type[Fits], tuple[float]]:
        return type(self), (math.inf,)

    def add(self, most: int, name: str) -> None:
        """Count one more fit of the estimator ``name``.

        Raises:
            InputError: there are ``most`` fits already, or this is a pickled copy, or another
                process made the estimator.
        """
        # A lock that another thread held during a fork would never be free.
        if self._count == math.inf or os.getpid() != self._process:
            raise InputError(
                f"this {name} is a copy by way of a pickle or of another process, whose fits "
                "nobody counts; fit without n_jobs, or give it an account, as "
                'account=mdp.Account("people.csv")'
            )
        with self._lock:
            if self._count >= most:
                raise InputError(
                    f"this {name} or a clone of it was fitted {plural(int(self._count), 'time')} "
                    "already, and each fit spends epsilon and delta again; make a new one, or set "
                    "fits to the number that you account for"
                )
            self._count += 1


class ExactScoreWarning(UserWarning):
    """A score of private records is computed without noise, and no epsilon covers it."""


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
