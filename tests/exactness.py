"""Comparisons of arrays to the last bit, each under the name of what allows it.

Another processor sums in another order, and the same product twice may differ where its operands
lie otherwise in memory. So what went through BLAS, LAPACK, XLA or a sum has a tolerance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def same_copies(one: ArrayLike, other: ArrayLike) -> bool:
    """Whether two arrays are equal whose numbers were read, moved or clipped, and never summed."""
    return np.array_equal(one, other)


def same_draws(one: ArrayLike, other: ArrayLike) -> bool:
    """Whether two arrays are equal that a generator drew, with arithmetic by entry at most."""
    return np.array_equal(one, other)


def same_integers(one: ArrayLike, other: ArrayLike) -> bool:
    """Whether two arrays of whole numbers are equal.

    Raises:
        ValueError: a number is none.
    """
    for array in map(np.asarray, (one, other)):
        if array.dtype.kind not in "biu" and (array != np.round(array)).any():
            raise ValueError("a number is not whole: compare with a tolerance")
    return np.array_equal(one, other)
