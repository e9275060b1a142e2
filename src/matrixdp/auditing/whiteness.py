"""Tests of draws that should be independent standard normals, entry by entry and in all directions.

They are for noise that another author's class draws itself. Each has an exact or a proven error
probability, whatever the number of draws T and of entries d:

- all squares, and those of an entry, sum to chi-square numbers with T d and T degrees of freedom;
- the distribution of all numbers, and that of the lengths of draws, are compared with theirs
  (Kolmogorov & Smirnov, with the constant of Massart 1990);
- numbers beyond 3, 4 and 5 deviations are counted;
- equal numbers are as rare as their grid is fine: that of float64, or of a value that was there;
- the squared cosine of the draws of two entries is Beta(1/2, (T - 1)/2);
- the singular values of the draws lie within sqrt(T) +- (sqrt(d) + t), except with probability
  2 exp(-t^2 / 2) (Davidson & Szarek 2001, Theorem II.13). A direction without noise has a singular
  value of 0, although each entry and each pair of entries may pass.

Singular values need more draws than entries. Of more than ``WHOLE`` entries, blocks are tested:
what lies across blocks is not seen, but for entries that are equal up to a factor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from matrixdp.auditing.base import ERROR
from matrixdp.checks import Array

#: Largest number of entries whose directions are all tested, and the size of blocks beyond.
WHOLE, BLOCK = 1000, 64

#: Least number of draws per tested entry; largest number of draws, and of their numbers, beyond it.
RATIO, DRAWS, NUMBERS = 5, 50_000, 1_000_000

#: Deviations beyond which numbers are counted.
FAR = 3.0, 4.0, 5.0

#: Probability with which the smallest defect of :class:`Result` is found.
FOUND = 0.99

#: Ways in which draws differ from white noise.
LESS = "an entry has less noise than declared"
MORE = "more noise is drawn than declared"
OTHER = "the noise has another distribution than declared"
GRID = "the noise repeats numbers, as on a grid"
SHARED = "entries share noise that is declared independent"
DIRECTION = "a direction has less noise than declared"


class Result(NamedTuple):
    """Result of the tests.

    Attributes:
        defect: how the draws differ from white noise; empty where no test rejects it.
        entry: smallest share of noise that one entry may lack and be found, with probability
            ``FOUND``.
        direction: the same of any direction, or of one within a block.
        blocks: whether directions were tested in blocks alone.
    """

    defect: str
    entry: float
    direction: float
    blocks: bool

    def explain(self) -> str:
        """Return what the tests see, in words."""
        where = "direction within a block of entries" if self.blocks else "direction"
        words = f"draws show an entry with {self.entry:.1%} too little noise, and a {where} with"
        return f"{words} {self.direction:.0%} too little, with probability {FOUND:g}"


def draws_of(entries: int) -> int:
    """Return the number of draws of noise with ``entries`` entries that the tests take."""
    tested = entries if entries <= WHOLE else BLOCK
    return max(RATIO * tested, min(DRAWS, NUMBERS // entries))


def judge(
    white: Array, stream: np.random.Generator, level: float = ERROR, grid: float = 0.0
) -> Result:
    """Return the result of all tests on draws (T, d), one per row.

    White noise has a defect with a probability of at most ``level``.

    Args:
        white: the draws, of which T is more than the entries of a block.
        stream: shares the entries out to blocks.
        level: error probability, an eighth for each kind of test.
        grid: spacing of numbers that rounding leaves, where it is coarser than that of the draws.
    """
    count, entries = white.shape
    each = level / 8
    whole = entries <= WHOLE
    order = np.arange(entries) if whole else stream.permutation(entries)
    step = entries if whole else BLOCK
    blocks = [white[:, order[start : start + step]] for start in range(0, entries, step)]
    # Tails for one entry, one pair (counted for all, tested or not), and one block's two sides.
    squares = (white**2).sum(axis=0)
    tail = each / entries / 2
    low, high = 2 * special.gammaincinv(count / 2, tail), 2 * special.gammainccinv(count / 2, tail)
    pairs = max(1.0, entries * (entries - 1) / 2)
    together = 1 - special.betaincinv((count - 1) / 2, 0.5, each / pairs)
    deviation = float(np.sqrt(2 * np.log(2 * len(blocks) / each)))
    edge = float(np.sqrt(count) - np.sqrt(step) - deviation)
    total, numbers = float(squares.sum()) / 2, white.size
    share = special.gammainc(numbers / 2, total), special.gammaincc(numbers / 2, total)
    defects = [
        (not np.isfinite(squares).all(), MORE),
        (bool((squares < low).any()), LESS),
        (bool(share[0] < each / 2), LESS),
        (_equal(white, together), SHARED),
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        for block in blocks:
            gram = np.nan_to_num(block.T @ block)
            norms = np.sqrt(np.diag(gram))
            cosines = np.abs(gram / np.outer(norms, norms))[np.triu_indices(len(gram), 1)]
            values = np.sqrt(np.maximum(np.linalg.eigvalsh(gram), 0))
            width = float(np.sqrt(len(gram))) + deviation
            defects += [
                (bool((cosines**2 > together).any()), SHARED),
                (bool(values[0] < np.sqrt(count) - width), DIRECTION),
                (bool(values[-1] > np.sqrt(count) + width), MORE),
            ]
    lengths = special.gammainc(entries / 2, (white**2).sum(axis=1) / 2)
    defects += [
        (bool((squares > high).any() or share[1] < each / 2), MORE),
        (_repeats(white, each, grid), GRID),
        (_tails(white, each), OTHER),
        (not _uniform(special.ndtr(white.ravel()), each), OTHER),
        (not _uniform(lengths, each), OTHER),
    ]
    # A direction with a share s of its noise has s times a chi number, at most once in 100 above.
    usual = float(np.sqrt(2 * special.gammaincinv(count / 2, FOUND)))
    return Result(
        next((words for wrong, words in defects if wrong), ""),
        float(1 - np.sqrt(low) / usual),
        float(1 - edge / usual),
        not whole,
    )


def _uniform(numbers: Array, level: float) -> bool:
    """Return whether numbers are uniform in [0, 1]."""
    ordered, count = np.sort(numbers), len(numbers)
    ranks = np.arange(count + 1) / count
    apart = max(np.abs(ordered - ranks[1:]).max(), np.abs(ordered - ranks[:-1]).max())
    return bool(apart <= np.sqrt(np.log(2 / level) / (2 * count)))


def _tails(white: Array, level: float) -> bool:
    """Return whether too few or too many numbers are far out."""
    for far in FAR:
        chance, beyond = 2 * special.ndtr(-far), int(np.count_nonzero(np.abs(white) > far))
        few = special.bdtr(beyond, white.size, chance)
        many = special.bdtrc(beyond - 1, white.size, chance) if beyond else 1.0
        if min(few, many) < level / 2 / len(FAR):
            return True
    return False


def _repeats(white: Array, level: float, grid: float) -> bool:
    """Return whether more numbers are repeated than on a grid of float64, or a coarser one.

    A number equals one of k others with a probability of at most k times that of the likeliest
    point, about phi(0) times the spacing, whatever these are. So the repeats among N numbers are at
    most a sum of independent events, whose tail is below that of a Poisson number with the same
    mean (Hoeffding 1956): N (N - 1) / 2 times that probability.
    """
    ordered = np.sort(white, axis=None)
    repeats, count = int(np.count_nonzero(ordered[1:] == ordered[:-1])), ordered.size
    likeliest = max(2 * np.finfo(float).eps, grid) / np.sqrt(2 * np.pi)
    mean = count * (count - 1) / 2 * likeliest
    return bool(repeats > mean and special.pdtrc(repeats - 1, mean) < level)


def _equal(white: Array, together: float) -> bool:
    """Return whether neighbours in the order of the first draw's size have a cosine above a limit.

    Entries that are equal up to sign and scale are neighbours in the order of a ratio of draws.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(white[0] / white[1], kind="stable")
        sorted_draws = white[:, order]
        sides = sorted_draws[:, :-1], sorted_draws[:, 1:]
        products = np.einsum("ti,ti->i", *sides) ** 2
        sizes = [np.einsum("ti,ti->i", side, side) for side in sides]
        return bool((products > together * sizes[0] * sizes[1]).any())
