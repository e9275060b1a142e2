"""An isolation of the library's arithmetic from the states that a program sets for all of it.

numpy's treatment of floating-point errors and decimal's context belong to a whole program, and any
package of it may change them. Under ``np.seterr(all="raise")`` a small number in one record would
end a release, and under ``"warn"`` a warning would tell of it. In a decimal context of few digits
the table of a noise law would be that of another law. So whatever calibrates, reads records, draws,
charges or describes runs within an :class:`Isolation`, which every door enters by :func:`isolate`.

A direction of rounding is refused: it moves sums and calibrations, and Python cannot set it.
"""

from __future__ import annotations

import decimal
import functools
from collections.abc import Callable
from contextvars import ContextVar
from types import FunctionType
from typing import Any, Self, TypeVar, cast

import numpy as np

from matrixdp.checks import InputError
from matrixdp.library import LazyProperty

T = TypeVar("T")

#: All that a context has: what is left out follows ``decimal.DefaultContext``, which may change.
DECIMAL = decimal.Context(
    prec=28,
    rounding=decimal.ROUND_HALF_EVEN,
    Emin=-999_999,
    Emax=999_999,
    capitals=1,
    clamp=0,
    flags=[],
    traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
)

#: Numbers whose sums show the direction of rounding; Python computes a sum of literals only once.
_ONE, _HALF, _LARGER = 1.0, 2.0**-53, 3 * 2.0**-54

#: Whether an isolation is entered already.
_entered: ContextVar[bool] = ContextVar("entered", default=False)

#: Methods that are no part of an interface by their names, and compute all the same.
_SPECIAL = ("__init__", "__setstate__")


class Isolation:
    """A block within which arithmetic is the library's own; the former states return at its end.

    Raises:
        InputError: this thread rounds floating-point numbers in one direction.
    """

    def __enter__(self) -> Self:
        if _ONE + _HALF > _ONE or not _ONE + _LARGER > _ONE:
            raise InputError(
                "this thread rounds floating-point numbers in one direction, under which neither "
                "sums nor noise are as stated; call fesetround(FE_TONEAREST) of C first"
            )
        self._decimal = decimal.getcontext()
        self._numpy = np.errstate(all="ignore")
        self._numpy.__enter__()
        decimal.setcontext(DECIMAL.copy())
        self._token = _entered.set(True)
        return self

    def __exit__(self, *error: object) -> None:
        _entered.reset(self._token)
        decimal.setcontext(self._decimal)
        self._numpy.__exit__(None, None, None)


def isolate(thing: T) -> T:
    """Return a function that runs within an :class:`Isolation`, or a class whose interface does.

    A function enters one at every call, also within another one, whose states foreign code may have
    changed meanwhile. Of a class, methods and properties without an underscore enter one where none
    is entered yet: they often call each other.
    """
    if not isinstance(thing, type):
        function: Any = thing
        return cast(T, _within(function, always=True))
    for name, attribute in [*vars(thing).items()]:
        if name in _SPECIAL or not name.startswith("_"):
            isolated = _member(attribute)
            if isolated is not attribute:
                setattr(thing, name, isolated)
    return thing


def _member(attribute: Any) -> Any:
    """Return an isolated method or property; anything else as it is."""
    if isinstance(attribute, FunctionType):
        return _within(attribute, always=False)
    if isinstance(attribute, classmethod | staticmethod):
        return type(attribute)(_within(attribute.__func__, always=False))
    if isinstance(attribute, property) and attribute.fget:
        return property(
            _within(attribute.fget, always=False), attribute.fset, doc=attribute.__doc__
        )
    if isinstance(attribute, LazyProperty):
        attribute.func = _within(attribute.func, always=False)
    return attribute


def _within(function: Callable[..., Any], *, always: bool) -> Callable[..., Any]:
    """Return a function that runs within an isolation: a new one, or one that is entered."""

    @functools.wraps(function)
    def isolated(*terms: Any, **others: Any) -> Any:
        if _entered.get() and not always:
            return function(*terms, **others)
        with Isolation():
            return function(*terms, **others)

    return isolated
