"""What is equal keeps its order: numpy's other sorts change it as the processor suggests."""

import ast
from pathlib import Path

import matrixdp
import reproduction

SORTS = {"argsort", "sort_index", "sort_values"}


def unstable(text):
    """Return the lines of a module's calls that may order equal things anyhow.

    By several keys pandas sorts with a stable sort whatever it is told.
    """
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    calls = [call for call in calls if getattr(call.func, "attr", "") in SORTS]
    stable = {"kind='stable'"}
    return [
        call.lineno
        for call in calls
        if stable.isdisjoint(map(ast.unparse, call.keywords))
        and not (call.args and isinstance(call.args[0], ast.List) and len(call.args[0].elts) > 1)
    ]


def test_equal_things_keep_their_order():
    packages = [Path(package.__file__).parent for package in (matrixdp, reproduction)]
    assert [
        f"{file.relative_to(package.parent)}:{line}"
        for package in packages
        for file in sorted(package.rglob("*.py"))
        for line in unstable(file.read_text(encoding="utf-8"))
    ] == []
