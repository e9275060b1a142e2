"""Mechanisms of other packages: entry points of the group ``matrixdp.mechanisms``.

In one, ``name = "package.module:Thing"``, ``Thing()`` gives a
:class:`~matrixdp.mechanisms.mechanism.Mechanism`. Only :func:`load` imports the package: a broken
one stops the runs that name its mechanism, and no other.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

from matrixdp.checks import InputError

GROUP = "matrixdp.mechanisms"


@functools.cache
def points() -> dict[str, EntryPoint]:
    """Return the entry points of all installed packages by name.

    Raises:
        InputError: a name cannot be that of a file, or two packages have the same one.
    """
    index: dict[str, EntryPoint] = {}
    for point in importlib.metadata.entry_points(group=GROUP):
        package = distribution(point)
        if not re.fullmatch("[a-z0-9_]+", point.name):
            raise InputError(
                f"{package} names a mechanism {point.name!r}; write it in lower-case letters, "
                "digits and underscores, or uninstall the package"
            )
        if other := index.get(point.name):
            raise InputError(
                f"{distribution(other)} ({other.value}) and {package} ({point.value}) both name a "
                f"mechanism {point.name!r}; uninstall one of the two"
            )
        index[point.name] = point
    return index


def distribution(point: EntryPoint) -> str:
    """Return the name and the version of the package that has an entry point."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else ""


def load(name: str, kind: type) -> Callable[[], Any]:
    """Return what makes a mechanism of another package; the package is imported.

    Raises:
        InputError: its code fails, or what it makes is not of this kind.
    """
    point = points()[name]
    where = f"the mechanism {name} of {distribution(point)} ({point.value})"
    remedy = "mend or uninstall the package, or take the name out of config.yaml"
    try:
        make: Callable[[], Any] = point.load()
        mechanism = make()
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{where} fails ({reason}); {remedy}") from error
    if not isinstance(mechanism, kind):
        raise InputError(
            f"{where} gives a {type(mechanism).__name__}, no {kind.__name__}; {remedy}"
        )
    return make
