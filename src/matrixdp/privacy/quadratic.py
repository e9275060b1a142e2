"""The largest values of quadratic and quartic forms over a box."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array

#: The largest number of features for which all sign vectors are enumerated (2^21 at most).
ENUMERABLE = 22

#: Factor that exceeds the rounding error of a supremum in float64, to round to the private side.
UPWARDS = 1 + 1e-12


def sign_vectors(count: int) -> Array:
    """Return all sign vectors up to a global sign, shape (2^(count - 1), count)."""
    bits = np.arange(2 ** (count - 1))[:, None] >> np.arange(count) & 1
    return np.where(bits, -1.0, 1.0)


def largest_form(
    precisions: Array, directions: ArrayLike | None, sides: Array
) -> tuple[float, bool]:
    """Return the supremum of d^T W diag(u) W^T d over |d_i| <= sides_i, and whether it is exact.

    A convex form is largest at a vertex. Up to ``ENUMERABLE`` features all sign vectors are tried;
    beyond that the value is an upper bound. Precisions u and half-widths have shape (m,), the
    orthonormal columns W (m, m); None is the standard basis.
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


def signed_sums(numbers: Array) -> Array:
    """Return |+-a_1 +- ... +- a_k| for all signs up to a global one; 0 for no numbers."""
    sums = np.asarray(numbers[:1] if len(numbers) else [0.0], dtype=float)
    for number in numbers[1:]:
        sums = np.concatenate([sums + number, sums - number])
    return np.abs(sums)


def largest_difference(shares: Array) -> tuple[float, bool]:
    """Return sup |y y^T - y' y'^T|_F^2 over y_i^2, y'_i^2 <= s_i, and whether it is exact.

    With u = y + y' and v = y - y', the form is (|u|^2 |v|^2 + (u . v)^2) / 2 under the limits
    |u_i| + |v_i| <= 2 sqrt(s_i). It is largest for u, v >= 0 that meet each limit. There y is the
    vertex sqrt(s), and y'_i = z_i sqrt(s_i).

    The form is then S^2 + Q^2 - 2 L^2 with S = sum_i s_i, Q = sum_i s_i z_i^2 and
    L = sum_i s_i z_i. For a fixed L the convex Q is largest at a vertex of the cube cut by that
    plane: all z_i except one, z_k, are -1 or 1. The second derivative in z_k is
    4 s_k (S - 2 s_k + 3 s_k z_k^2), so that only a share above S / 2 has |z_k| < 1.

    Let B be the signed sum of the other shares. Then z_k is a root z of
    z (2 s_k - S - s_k z^2) = B below the maximum of the left side. The form grows with B, so that
    the largest feasible B is the worst.

    All signs are tried up to ``ENUMERABLE`` features; beyond that the value is the bound 2 S^2.

    Args:
        shares: s, shape (m,), at least 0.
    """
    total = float(np.sum(shares))
    if len(shares) > ENUMERABLE:
        return 2 * total**2 * UPWARDS, False
    *shorter, largest = np.sort(shares).tolist()
    sums = signed_sums(np.array(shorter))
    best = 2 * (total**2 - float(np.abs(largest - sums).min()) ** 2)
    excess = max(0.0, 2 * largest - total)
    turn = np.sqrt(excess / (3 * largest)) if excess else 0.0
    below = sums[sums <= turn * (excess - largest * turn**2)]
    if excess and len(below):
        beyond = float(below.max())
        z = np.clip(np.roots([largest, 0, -excess, beyond]).real, -1, 1)
        squares, line = total - largest + largest * z**2, largest * z - beyond
        best = max(best, float((total**2 + squares**2 - 2 * line**2).max()))
    return best * UPWARDS, True
