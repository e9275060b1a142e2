"""Whether an object behaves as the library's own class, or as another author's.

What an audit certifies rests on code of the library alone. A class of another author may declare
anything of itself, so that its methods are tested where those of the library are proven.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

#: Modules whose classes are the library's own. Another module of the package is not: a mechanism
#: of one's own is a file of the package too.
MODULES = frozenset(
    f"matrixdp.{name}"
    for name in (
        *("distributions", "gamma_distributions", "privacy.domain", "privacy.sensitivity"),
        *(f"mechanisms.{name}" for name in ("adaptive", "adassp", "allocation", "base", "centred")),
        *(f"mechanisms.{name}" for name in ("clipped", "directions", "exponential", "jl", "mvg")),
        *(f"mechanisms.{name}" for name in ("scaled", "target_mean")),
    )
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
