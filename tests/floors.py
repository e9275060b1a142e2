"""A checker of floors: what the modules of a package import, and what they may."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


def matches(module: str, patterns: Sequence[str]) -> bool:
    """Return whether a module matches one of the patterns."""
    return any(fnmatch(module, pattern) for pattern in patterns)


def module_names(package: Path) -> dict[str, Path]:
    """Return {name below the package: file}; a subpackage goes by its folder's name."""
    names = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        is_subpackage = parts[-1] == "__init__" and len(parts) > 1
        names[".".join(parts[:-1] if is_subpackage else parts)] = file
    return names


def imports(file: Path, package: Path) -> Iterator[str]:
    """Yield the full dotted name of each thing that the file imports, at any depth in it."""
    inside = [package.name, *file.relative_to(package).parts[:-1]]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def target(imported: str, names: Mapping[str, Path], root: str) -> str | None:
    """Return the module of a package that an import reaches, or None if it is not of it."""
    first, _, rest = imported.partition(".")
    if first != root:
        return None
    while rest and rest not in names:
        rest = rest.rpartition(".")[0]
    return rest or "__init__"


def violations(
    package: Path,
    floors: Mapping[str, Sequence[str]],
    reserved: Mapping[str, Sequence[str]],
    below: Path | None = None,
) -> list[str]:
    """Return one sentence for each import that the floors forbid.

    Args:
        package: folder of the package.
        floors: what the modules that match a pattern may import, lowest floor first; modules of
            the package below by their full names.
        reserved: other packages that only some modules may import.
        below: folder of the package that this one uses.
    """
    names = module_names(package)
    lower = module_names(below) if below else {}
    found, graph = [], {}
    for name, file in names.items():
        floor = next(
            (allowed for pattern, allowed in floors.items() if fnmatch(name, pattern)), None
        )
        if floor is None:
            found.append(f"{name} stands on no floor: give it one in FLOORS")
            continue
        reached = list(imports(file, package))
        ours = {target(one, names, package.name) for one in reached} - {None, name}
        graph[name] = ours
        others = {target(one, lower, below.name) for one in reached} - {None} if below else set()
        others = {f"{below.name}.{one}" for one in others} if below else set()
        found += [
            f"{name} imports {one}" for one in sorted(ours | others) if not matches(one, floor)
        ]
        for other in sorted({one.partition(".")[0] for one in reached} & set(reserved)):
            if not matches(name, reserved[other]):
                found.append(f"{name} imports {other}")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found.append(f"circle: {' <- '.join(error.args[1])}")
    return found
