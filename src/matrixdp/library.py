"""Whether an object behaves as the library's own class, or as another author's.

What an audit certifies rests on code of the library alone. A class of another author may declare
anything of itself, so that its methods are tested where those of the library are proven.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

#: Modules whose classes are the project's own, those of the study among them. Another module is
#: not: a mechanism of one's own is a file of a package, too.
MODULES = frozenset(
    {
        "matrixdp.mechanisms.adassp",
        "matrixdp.mechanisms.allocation",
        "matrixdp.mechanisms.base",
        "matrixdp.mechanisms.centred",
        "matrixdp.mechanisms.clipped",
        "matrixdp.mechanisms.directions",
        "matrixdp.mechanisms.scaled",
        "matrixdp.noise.distributions",
        "matrixdp.noise.gamma_distributions",
        "matrixdp.privacy.domain",
        "matrixdp.privacy.sensitivity",
        "reproduction.mechanisms.adaptive",
        "reproduction.mechanisms.exponential",
        "reproduction.mechanisms.jl",
        "reproduction.mechanisms.mvg",
        "reproduction.mechanisms.target_mean",
    }
)

#: Modules of Python, whose classes are bases of others.
_PYTHON = ("abc", "builtins", "typing")

#: Attributes of a class that change no behaviour of an instance, beside those of a dataclass.
_HARMLESS = frozenset(
    [
        *("__module__", "__qualname__", "__doc__", "__annotations__", "__dict__", "__weakref__"),
        *("__annotate__", "__annotate_func__", "__annotations_cache__", "__abstractmethods__"),
        *("__firstlineno__", "__static_attributes__", "__parameters__", "__orig_bases__"),
        *("__dataclass_fields__", "__dataclass_params__", "__match_args__", "__replace__"),
        *("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "_abc_impl"),
    ]
)


def owns(thing: object) -> bool:
    """Return whether all methods of an object are those of a class of the library.

    A subclass of another author that overrides nothing behaves as its base.
    """
    kind: Any = type(thing)
    # An attribute of the instance hides a method of its class.
    hidden = (
        name for name in getattr(thing, "__dict__", ()) if callable(getattr(kind, name, None))
    )
    return _owned(kind) and next(hidden, None) is None


@functools.cache
def _owned(kind: Any) -> bool:
    return any(_defined(one) for one in kind.__mro__) and all(
        _defined(one) or one.__module__ in _PYTHON or not {*vars(one)} - _HARMLESS
        for one in kind.__mro__
    )


def _defined(kind: type) -> bool:
    """Return whether a module of the library has this class under its name."""
    module = kind.__module__
    if module not in MODULES:
        return False
    return getattr(sys.modules[module], kind.__qualname__, None) is kind


def declaration(thing: object, name: str) -> str:
    """Return what a class of ``MODULES`` declares of an object, also of a subclass; or nothing.

    What another author's class declares itself does not count.
    """
    kinds = (kind for kind in type(thing).__mro__ if kind.__module__ in MODULES)
    return next((str(vars(kind)[name]) for kind in kinds if name in vars(kind)), "")
