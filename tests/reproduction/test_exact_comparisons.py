"""No test compares results to the last bit: another processor rounds otherwise.

What is exact with good reason (copies, whole numbers, bits of a generator) is compared by the
functions of ``exactness``. This check sees names alone. It does not see ``==`` between single
floats, lists, frames, bytes or texts of floats, nor whether a comparison is what its name says.
"""

from __future__ import annotations

import ast

import pytest
from packages import ROOT

EXACT = {"array_equal", "array_equiv", "assert_array_equal", "assert_equal"}
TOLERANCES = ({"rtol", "atol"}, {"rel", "abs"})


def constant(node: ast.expr) -> bool:
    """Whether an expression is a literal or a constant of a module."""
    if isinstance(node, ast.Attribute):
        return node.attr.isupper()
    if isinstance(node, ast.Name):
        return node.id.isupper()
    return not any(isinstance(part, ast.Name | ast.Attribute | ast.Call) for part in ast.walk(node))


def equality(node: ast.AST | None) -> bool:
    """Whether an expression is ``one == other`` of two variables."""
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Eq)
        and not any(constant(side) for side in (node.left, node.comparators[0]))
    )


def exact(call: ast.Call, asserted: bool) -> bool:
    """Whether a call compares arrays to the last bit."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    values = {each.arg: getattr(each.value, "value", None) for each in call.keywords}
    zero = {key for key, value in values.items() if value == 0 and value is not False}
    return (
        name in EXACT
        or any(pair <= zero for pair in TOLERANCES)
        or values.get("check_exact") is True
        or (asserted and name == "all" and any(map(equality, [*call.args, _owner(call)])))
    )


def _owner(call: ast.Call) -> ast.expr | None:
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def comparisons(text: str) -> list[int]:
    """Return the lines of a program that compare arrays to the last bit."""
    tree = ast.parse(text)
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    asserted = {part for statement in statements for part in ast.walk(statement)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sorted({call.lineno for call in calls if exact(call, call in asserted)})


def test_no_test_compares_results_to_the_last_bit():
    files = [file for file in (ROOT / "tests").rglob("*.py") if file.name != "exactness.py"]
    lines = {str(file.relative_to(ROOT)): comparisons(file.read_text("utf-8")) for file in files}
    assert {file: found for file, found in lines.items() if found} == {}, "give a tolerance"


@pytest.mark.parametrize(
    ("line", "exact"),
    [
        ("assert np.array_equal(a, b)", True),
        ("np.testing.assert_array_equal(a, b)", True),
        ("assert (a == b).all()", True),
        ("assert np.all(a == b)", True),
        ("pd.testing.assert_frame_equal(a, b, check_exact=True)", True),
        ("np.testing.assert_allclose(a, b, rtol=0, atol=0)", True),
        ("np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)", False),
        ("assert a == pytest.approx(b, rel=1e-9, abs=0)", False),
        ("assert (a == 0).all()", False),
        ("assert (a == base.FILLING).all()", False),
        ("assert same_integers(a, b)", False),
    ],
)
def test_exact_comparisons_are_seen(line, exact):
    assert comparisons(line) == [1] * exact
