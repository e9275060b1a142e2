"""The largest value of a convex quadratic form over a box."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array

#: The largest number of features for which all sign vectors are enumerated (2^21 at most).
ENUMERABLE = 22


def sign_vectors(count: int) -> Array:
    """Return all sign vectors up to a global sign, shape (2^(count - 1), count)."""
    bits = np.arange(2 ** (count - 1))[:, None] >> np.arange(count) & 1
    return np.where(bits, -1.0, 1.0)


def largest_form(
    precisions: Array, directions: ArrayLike | None, sides: Array
) -> tuple[float, bool]:
    """Return the supremum of d^T W diag(u) W^T d over |d_i| <= sides_i, and if it is exact.

    A convex form is largest at a vertex; all sign vectors are tried up to ``ENUMERABLE`` features,
    and beyond that the value is an upper bound.

    Args:
        precisions: u, shape (m,).
        directions: W, orthonormal columns, shape (m, m); None is the standard basis.
        sides: half-widths of the box, shape (m,).
    """
    if directions is None:
        return float(precisions @ sides**2), True
    basis = checks.orthonormal(directions=directions)
    form = (basis * precisions) @ basis.T * np.outer(sides, sides)
    m = len(sides)
    if m > ENUMERABLE:
        eigenvalue = float(np.linalg.eigvalsh(form)[-1])
        return min(float(np.abs(form).sum()), m * eigenvalue), False
    # s^T F s over halves s = (a, b): a^T F_aa a + b^T F_bb b + 2 a^T F_ab b, one matrix product.
    k = m // 2
    b = sign_vectors(m - k)
    a = np.concatenate([sign_vectors(k), -sign_vectors(k)]) if k else np.zeros((1, 0))
    within_a = np.einsum("si,ij,sj->s", a, form[:k, :k], a)
    within_b = np.einsum("si,ij,sj->s", b, form[k:, k:], b)
    values = within_a[:, None] + within_b + 2 * (a @ form[:k, k:]) @ b.T
    return float(values.max()), True
