"""Public bounds of one record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError

#: Records of which squares are taken at a time: so many entries stay in the processor's cache, and
#: so many columns are worth a call.
_ENTRIES, _COLUMNS = 1 << 16, 1 << 8
#: Numbers in a block of records, 16 MB: memory follows what is read, however wide records are.
_BLOCK = 1 << 21


@dataclass(frozen=True)
class Box:
    """Public bounds of each feature of a record: lower <= x <= upper, m finite numbers each.

    >>> mdp.Box((0, 0), (120, 200_000)).features
    2
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __post_init__(self) -> None:
        lower = checks.array(shape=(None,), lower=self.lower)
        if lower.ndim != 1 or not lower.size:
            raise InputError(
                f"lower has shape {lower.shape}; give one number per feature, of one or more"
            )
        upper = checks.array(shape=lower.shape, upper=self.upper)
        for i in np.flatnonzero(~(lower < upper)):
            raise InputError(
                f"lower[{i}] is {lower[i]} and upper[{i}] is {upper[i]}; "
                "each lower bound must be below its upper bound"
            )
        largest = np.abs([lower, upper]).max()
        if largest > checks.LARGEST or (upper - lower).min() < checks.SMALLEST:
            raise InputError(
                f"bounds are from {lower.min():g} to {upper.max():g}; choose a unit in which none "
                f"is beyond {checks.LARGEST:g}, and no range below {checks.SMALLEST:g}"
            )
        # -0.0 is written as 0.0, so that texts of equal boxes are equal.
        object.__setattr__(self, "lower", tuple((lower + 0.0).tolist()))
        object.__setattr__(self, "upper", tuple((upper + 0.0).tolist()))

    @classmethod
    def cube(cls, features: int, lower: float, upper: float) -> Box:
        """Return the box with the same bounds for each of ``features`` features."""
        return cls((lower,) * features, (upper,) * features)

    @property
    def features(self) -> int:
        """Number of features, m."""
        return len(self.lower)

    @property
    def widths(self) -> Array:
        """Range of each feature, shape (m,)."""
        return np.subtract(self.upper, self.lower)

    @property
    def middle(self) -> Array:
        """Middle of each feature's range, shape (m,)."""
        return self.widths / 2 + self.lower

    @property
    def magnitudes(self) -> Array:
        """Largest absolute value of each feature, shape (m,)."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    def clip(self, records: Array) -> Array:
        """Return the records, one per column (..., m, n), within the bounds."""
        return np.clip(records, np.array(self.lower)[:, None], np.array(self.upper)[:, None])

    @property
    def radius(self) -> float:
        """Largest l2 norm of a record."""
        return float(np.linalg.norm(self.magnitudes))

    @property
    def symmetric(self) -> bool:
        """Whether every feature's bounds are -c and c."""
        return bool(np.array_equal(np.negative(self.lower), self.upper))

    @property
    def nonnegative(self) -> bool:
        """Whether no feature can be below 0."""
        return min(self.lower) >= 0

    @property
    def contains_zero(self) -> bool:
        """Whether the zero record lies within the bounds."""
        return max(self.lower) <= 0 <= min(self.upper)


@dataclass(frozen=True)
class Ball:
    """Public bound on the l2 norm of a record of ``features`` features.

    >>> mdp.Ball(1.0, features=2).magnitudes.tolist()
    [1.0, 1.0]
    """

    radius: float
    features: int
    #: The ball contains -x for every record x.
    symmetric = True
    nonnegative = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", checks.size(radius=self.radius))
        object.__setattr__(self, "features", checks.count(features=self.features))

    @property
    def magnitudes(self) -> Array:
        """Largest absolute value of each feature, shape (m,)."""
        return np.full(self.features, self.radius)

    def clip(self, records: Array) -> Array:
        """Return the records, one per column (..., m, n), the longer ones shrunk to the radius.

        What becomes of a record is the same alone and among any others, to the last bit.
        """
        norms = np.sqrt(squared_norms(records))
        return records * (self.radius / np.maximum(norms, self.radius))[..., None, :]


def block_rows(features: int, most: int) -> int:
    """Return how many records of this many columns make a block, ``most`` at most."""
    return max(1, min(most, _BLOCK // max(features, 1)))


def squared_norms(records: Array) -> Array:
    """Return the squared l2 norms of records, one per column (..., m, n), shape (..., n).

    A private sum may depend on a record through its own value alone. So the norm of a record is
    the same to the last bit whatever stands beside it, however many these are, and in any layout of
    memory: squares are added entry by entry in the order of the features. Reductions along an axis
    (``sum``, ``einsum``, ``@``) choose their order by shape and strides. The relative error is at
    most m 2^-53.
    """
    features, count = records.shape[-2:]
    total = np.zeros((*records.shape[:-2], count))
    step = block_rows(features, max(_COLUMNS, _ENTRIES // features))
    for start in range(0, count, step):
        squares = np.square(records[..., start : start + step])
        part = total[..., start : start + step]
        for feature in range(features):
            part += squares[..., feature, :]
    return total
