"""Independent random streams that depend on stable names alone.

A stream depends on the root seed, the words of its key and the trial, or the block of trials that
share it. It never depends on the order of jobs, the number of cores or the size of a batch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np


def streams(seed: int, *key: str, trials: Iterable[int]) -> list[np.random.Generator]:
    """Return one Generator per trial for a purpose.

    Args:
        seed: the root seed of the run.
        key: purpose of the stream, e.g. ``("noise", "regression", "laplace", "1", "report")``.
        trials: trial numbers.
    """
    digest = hashlib.sha256("\x1f".join(key).encode()).digest()
    # Words of 32 bits, as SeedSequence would make them of the seed and each word, but much faster.
    size = 4 * max(1, -(-seed.bit_length() // 32))
    entropy = np.frombuffer(seed.to_bytes(size, "little") + digest, dtype="<u4").astype(np.uint32)
    return [
        np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy, spawn_key=(trial,))))
        for trial in trials
    ]


def shared_streams(seed: int, *key: str, trials: range, block: int) -> list[np.random.Generator]:
    """Return one Generator per trial, which the trials of a block share and draw from in turn.

    To make a stream takes a hundred times as long as a few numbers of it.

    Args:
        seed, key: as in :func:`streams`.
        trials: trial numbers in order; of a block that is not whole, later draws may differ.
        block: how many trials share a stream.
    """
    numbers = [trial // block for trial in trials]
    distinct = sorted({*numbers})
    shared = dict(zip(distinct, streams(seed, *key, trials=distinct), strict=True))
    return [shared[number] for number in numbers]
