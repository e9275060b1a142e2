"""Whether an object behaves as the library's own class, or as another author's.

What an audit certifies rests on code of the library alone. A class of another author may declare
anything of itself, so that its methods are tested where those of the library are proven.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cached_property  # noqa: TID251
from typing import Any, Self, TypeVar, overload

import numpy as np

T = TypeVar("T")

#: Modules whose classes are the library's own. Another module is not: a mechanism of one's own is
#: a file of a package, too.
MODULES = {
    "matrixdp.mechanisms.additive",
    "matrixdp.mechanisms.mechanism",
    "matrixdp.mechanisms.centred",
    "matrixdp.mechanisms.clipped",
    "matrixdp.mechanisms.directional",
    "matrixdp.mechanisms.gaussian",
    "matrixdp.mechanisms.laplace",
    "matrixdp.mechanisms.histogram",
    "matrixdp.mechanisms.programs",
    "matrixdp.mechanisms.scaled",
    "matrixdp.noise.distributions",
    "matrixdp.noise.value",
    "matrixdp.privacy.domain",
    "matrixdp.privacy.present",
    "matrixdp.privacy.sensitivity",
    "matrixdp.privacy.sizes",
}

#: Audits, ``module:function``, of classes of adopted modules, ``module:name``.
AUDITS: dict[str, str] = {}

#: Numbers of Python and of numpy, none of another author's class.
_NUMBER_TYPES = (
    *(bool, int, float, np.bool_, np.float16, np.float32, np.float64, np.longdouble),
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
)

# What a metaclass cannot change: a class of another author may answer otherwise to ``cls.__mro__``
# or ``cls == other``.
_MRO, _MODULE, _NAME = (
    type.__dict__[name].__get__ for name in ("__mro__", "__module__", "__qualname__")
)


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


def owns(thing: object) -> bool:
    """Return whether all methods of an object are those of a class of the library.

    Its class is one of ``MODULES``, not a subclass: Python lets another author's class change what
    it shows of itself, and at any time. An attribute of the instance would hide a method of its
    class, so that it may have none but the class's fields and lazy properties.
    """
    cls = type(thing)
    if not _defined(cls):
        return False
    attributes = getattr(thing, "__dict__", None)
    return type(attributes) is dict and all(
        type(name) is str and _stores(cls, name) for name in attributes
    )


def plain(thing: object) -> bool:
    """Return whether an object is the library's own, and everything that it holds.

    It holds numbers, words, arrays of numbers and sequences of these, and other such objects. A
    subclass of a number, of a list or of an array may change what it is from call to call.
    """
    cls = type(thing)
    if thing is None or cls is str or any(cls is number for number in _NUMBER_TYPES):
        return True
    if isinstance(thing, np.ndarray) and cls is np.ndarray:
        return thing.dtype.kind in "biuf"
    if cls is tuple or cls is list or cls is frozenset:
        # Mostly of floats, which are many.
        entries: Iterable[object] = thing  # type: ignore[assignment]
        return all(type(one) is float for one in entries) or all(map(plain, entries))
    return owns(thing) and all(map(plain, vars(thing).values()))


def _stores(cls: type, name: str) -> bool:
    """Return whether instances of a class of the library have this attribute of their own."""
    if name in getattr(cls, "__dataclass_fields__", ()):
        return True
    return any(isinstance(vars(base).get(name), cached_property) for base in cls.__mro__)


def _defined(cls: type) -> bool:
    """Return whether a module of the library has this class under its name."""
    module, name = _MODULE(cls), _NAME(cls)
    if type(module) is not str or type(name) is not str or module not in MODULES:
        return False
    return vars(sys.modules[module]).get(name) is cls if module in sys.modules else False


def adopt(modules: Iterable[str], audits: Mapping[str, str]) -> None:
    """Count classes of modules as the library's own, with their audits: for the study alone.

    Args:
        modules: full names of modules, which are yet to be imported.
        audits: see ``AUDITS``.
    """
    MODULES.update(modules)
    AUDITS.update(audits)


def audit_of(thing: object) -> str:
    """Return the audit of an object's class, or of an adopted one that it builds on, or nothing."""
    kinds = (cls for cls in _MRO(type(thing)) if _defined(cls))
    names = (f"{_MODULE(cls)}:{_NAME(cls)}" for cls in kinds)
    return next((AUDITS[name] for name in names if name in AUDITS), "")
