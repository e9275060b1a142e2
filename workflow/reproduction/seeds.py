"""Independent random streams that depend on stable names alone.

A stream depends on the root seed, the words of its key and the trial. It never depends on the order
of jobs, the number of cores or the size of a batch.

They are the streams of ``np.random.SeedSequence(entropy, spawn_key=(trial,))``. A run starts
millions of them, and a SeedSequence for each would take longer than many a trial. Its hash takes in
the trial last, so that all trials share what comes before.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.random.bit_generator import ISpawnableSeedSequence
from numpy.typing import NDArray

#: Words of 32 bits in the pool of a SeedSequence, and in the seed of a PCG64.
POOL, SEED = 4, 8

#: Constants of the hash of a SeedSequence: of its two kinds of rounds, and of its mixing.
IN, OUT, LEFT, RIGHT = (0x43B0D7E5, 0x931E8875), (0x8B51F9DD, 0x58F38DED), 0xCA01F9DD, 0x4973F715


def streams(seed: int, *key: str, trials: Iterable[int]) -> list[Generator]:
    """Return one Generator per trial for a purpose.

    Args:
        seed: the root seed of the run.
        key: purpose of the stream, e.g. ``("noise", "regression", "laplace", "1", "report")``.
        trials: trial numbers, below 2^32.
    """
    digest = hashlib.sha256("\x1f".join(key).encode()).digest()
    # Words of 32 bits, as SeedSequence would make them of the seed and each word, but much faster.
    size = 4 * max(1, -(-seed.bit_length() // 32))
    entropy = np.frombuffer(seed.to_bytes(size, "little") + digest, dtype="<u4").astype(np.uint32)
    numbers = [*trials]
    # NumPy's types name no other kind of seed than a SeedSequence.
    seeds: Iterable[Any] = map(_Seed, itertools.repeat(entropy), numbers, _seeds(entropy, numbers))
    return [Generator(PCG64(each)) for each in seeds]


class _Seed(ISpawnableSeedSequence):
    """The SeedSequence of a trial, with the seed of its PCG64 already at hand."""

    def __init__(self, entropy: NDArray[np.uint32], trial: int, state: NDArray[np.uint64]) -> None:
        self._entropy, self._trial, self._state = entropy, trial, state

    @cached_property
    def _whole(self) -> SeedSequence:
        return SeedSequence(self._entropy, spawn_key=(self._trial,))

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        """Return words of the seed."""
        if n_words == len(self._state) and dtype is np.uint64:
            return self._state
        return self._whole.generate_state(n_words, dtype)

    def spawn(self, n_children: int) -> list[Any]:
        """Return independent seeds."""
        return self._whole.spawn(n_children)


def _seeds(entropy: NDArray[np.uint32], trials: list[int]) -> NDArray[np.uint64]:
    """Return the seed of each trial's PCG64, shape (trials, 4).

    ``entropy`` has at least as many words as the pool. All products are modulo 2^32.
    """
    # A word in the pool costs a round; every other one costs a round for each word of the pool.
    rounds = POOL * POOL + POOL * (len(entropy) - POOL)
    constant = IN[0] * pow(IN[1], rounds, 2**32) % 2**32
    last = np.asarray(trials, np.uint32)
    pool = []
    # Words as arrays: NumPy warns of an overflow of single numbers.
    for word in SeedSequence(entropy).pool[:, None]:
        mixed, constant = _round(last, constant, IN[1])
        pool.append(_folded(np.uint32(LEFT) * word - np.uint32(RIGHT) * mixed))
    constant, seeds = OUT[0], np.empty((len(trials), SEED), np.uint32)
    for number in range(SEED):
        seeds[:, number], constant = _round(pool[number % POOL], constant, OUT[1])
    # As SeedSequence joins words to longer ones: the low word first.
    return seeds.astype("<u4").view("<u8").astype(np.uint64)


def _round(words: NDArray[np.uint32], constant: int, factor: int) -> tuple[NDArray, int]:
    """Return the hash of words, and the constant of the next round."""
    following = constant * factor % 2**32
    return _folded((words ^ np.uint32(constant)) * np.uint32(following)), following


def _folded(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return words ^ (words >> np.uint32(16))
