"""The registry of the library's own classes, whose recomputation is trusted.

A class counts by what it is, exactly: no subclass of it does. What another class states is
declared. Hostile Python in one's own process is no threat model, see SECURITY.md.
"""

from __future__ import annotations

import sys
from functools import cached_property  # noqa: TID251
from typing import Any, Self, TypeVar, overload

import numpy as np

T = TypeVar("T")

#: Modules whose classes are the library's own; the study adds its own ones. Another module is not:
#: a mechanism of one's own is a file of a package, too.
MODULES = {
    "matrixdp.mechanisms.additive",
    "matrixdp.mechanisms.mechanism",
    "matrixdp.mechanisms.centred",
    "matrixdp.mechanisms.clipped",
    "matrixdp.mechanisms.in_parts",
    "matrixdp.mechanisms.directional",
    "matrixdp.mechanisms.gaussian",
    "matrixdp.mechanisms.laplace",
    "matrixdp.mechanisms.histogram",
    "matrixdp.mechanisms.programs",
    "matrixdp.mechanisms.scaled",
    "matrixdp.noise.distributions",
    "matrixdp.noise.value",
    "matrixdp.privacy.domain",
    "matrixdp.privacy.groups",
    "matrixdp.privacy.present",
    "matrixdp.privacy.sensitivity",
    "matrixdp.privacy.sizes",
}

#: Audits, ``module:function``, of classes of the study's modules, ``module:name``.
AUDITS: dict[str, str] = {}

#: Numbers of Python and of numpy, none of another author's class.
_NUMBERS = {
    *(bool, int, float, np.bool_, np.float16, np.float32, np.float64, np.longdouble),
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
}


class LazyProperty(cached_property[T]):
    """A property that an instance computes on first use and keeps, without a lock.

    That of Python 3.11 has a lock, one for all instances: in a process that is forked while another
    thread holds it, nobody would ever free it. Two threads may compute a value, and get the same.
    """

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the value for an instance."""
        if instance is None:
            return self
        values, name = vars(instance), self.attrname
        return values[name] if name in values else values.setdefault(name, self.func(instance))


def registered(cls: type) -> bool:
    """Return whether a class is one of the library: a module of it has this class by its name."""
    module = sys.modules.get(cls.__module__) if cls.__module__ in MODULES else None
    return getattr(module, cls.__qualname__, None) is cls


def owns(thing: object) -> bool:
    """Return whether all methods of an object are those of a class of the library.

    An attribute of the instance would hide a method of its class, so that it may have none but the
    class's fields and lazy properties.
    """
    cls, attributes = type(thing), getattr(thing, "__dict__", None)
    if attributes is None or not registered(cls):
        return False
    fields = getattr(cls, "__dataclass_fields__", ())
    return all(
        name in fields or isinstance(getattr(cls, name, None), cached_property)
        for name in attributes
    )


def plain(thing: object) -> bool:
    """Return whether an object is the library's own, and everything that it holds.

    It holds numbers, words, arrays of numbers and sequences of these, and other such objects.
    """
    cls = type(thing)
    if thing is None or cls is str or cls in _NUMBERS:
        return True
    if isinstance(thing, np.ndarray) and cls is np.ndarray:
        return thing.dtype.kind in "biuf"
    if isinstance(thing, tuple | list | frozenset) and cls in (tuple, list, frozenset):
        # Mostly of floats, which are many.
        return all(type(one) is float for one in thing) or all(map(plain, thing))
    return owns(thing) and all(map(plain, vars(thing).values()))


def audit_of(thing: object) -> str:
    """Return the audit of an object's class, or of one that it builds on, or nothing."""
    kinds = (cls for cls in type(thing).__mro__ if registered(cls))
    names = (f"{cls.__module__}:{cls.__qualname__}" for cls in kinds)
    return next((AUDITS[name] for name in names if name in AUDITS), "")
