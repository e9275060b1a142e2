"""Mechanisms of other packages: entry points of the group ``matrixdp.mechanisms``.

In one, ``name = "package.module:Thing"``, ``Thing()`` gives a
:class:`~matrixdp.mechanisms.base.Mechanism`. Names and files are found without an import of the
package; only :func:`load` runs its code.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import re
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from matrixdp.checks import InputError

GROUP = "matrixdp.mechanisms"

#: Endings of files that Python imports.
_CODE = (".py", ".pyd", ".so")


@functools.cache
def points() -> dict[str, EntryPoint]:
    """Return the entry points of all installed packages by name.

    Raises:
        InputError: a name or a value has another form, or two packages have the same name.
    """
    index: dict[str, EntryPoint] = {}
    for point in importlib.metadata.entry_points(group=GROUP):
        package = distribution(point)
        if not re.fullmatch("[a-z0-9_]+", point.name):
            raise InputError(
                f"{package} names a mechanism {point.name!r}; write it in lower-case letters, "
                "digits and underscores, or uninstall the package"
            )
        if not re.fullmatch(r"\w+(\.\w+)*\s*:\s*\w+(\.\w+)*", point.value):
            raise InputError(
                f"{package} names {point.value!r} for its mechanism {point.name}; write it as "
                "package.module:Thing, or uninstall the package"
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


@functools.cache
def place(name: str) -> Path:
    """Return the file of a mechanism's module; no module is imported for it.

    Raises:
        InputError: there is no such file.
    """
    point, path, spec = points()[name], None, None
    parts = point.module.split(".")
    for count in range(1, len(parts) + 1):
        module = ".".join(parts[:count])
        finders = (finder.find_spec(module, path) for finder in sys.meta_path)
        if (spec := next(filter(None, finders), None)) is None:
            break
        path = spec.submodule_search_locations
    if spec is None or not spec.has_location or not spec.origin:
        raise InputError(
            f"{distribution(point)} names {point.value} for its mechanism {name}, and has no such "
            "module; install it anew, or uninstall it"
        )
    return Path(spec.origin)


def files(name: str) -> dict[str, Path]:
    """Return the code of the package that has a mechanism, by path in the package.

    Those are the files that its installation lists. One that is installed as it lies (editable)
    lists none, and has all in the outermost package around the mechanism.
    """
    dist, module = points()[name].dist, place(name)
    listed = (dist.files if dist else None) or []
    index = {
        file.as_posix(): Path(str(file.locate()))
        for file in listed
        if file.suffix in _CODE and Path(str(file.locate())).is_file()
    }
    if module.resolve() in {file.resolve() for file in index.values()}:
        return index
    folder = module.parent
    if points()[name].module.count(".") == 0 and module.name != "__init__.py":
        return index | {module.name: module}
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    beneath = sorted(file for file in folder.rglob("*") if file.suffix in _CODE)
    return index | {file.relative_to(folder.parent).as_posix(): file for file in beneath}


def lines(name: str) -> list[str]:
    """Return name and version of the package of a mechanism, and each of its :func:`files`.

    Each file has a digest of its content. A mechanism of the study has none of these.
    """
    if name not in points():
        return []
    digests = {
        path: hashlib.sha256(file.read_bytes()).hexdigest()[:10]
        for path, file in files(name).items()
    }
    return [distribution(points()[name]), *(f"{path} {digest}" for path, digest in digests.items())]


def load(name: str, kind: type) -> Callable[[], Any]:
    """Return what makes a mechanism of another package; the package is imported.

    Raises:
        InputError: its code fails, or what it makes is not of this kind.
    """
    point = points()[name]
    where = f"the mechanism {name} of {distribution(point)} ({point.value})"
    remedy = "mend or uninstall the package, or take the name out of config.yaml"
    try:
        thing = point.load()
        mechanism = thing()
    except (Exception, SystemExit) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{where} fails ({said}); {remedy}") from error
    if not isinstance(mechanism, kind):
        given = type(mechanism).__name__
        raise InputError(f"{where} gives a {given}, no {kind.__name__}; {remedy}")
    make: Callable[[], Any] = thing
    return make
