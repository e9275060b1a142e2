"""Independent random streams that depend on stable names alone.

A stream depends on the root seed, the words of its key and the trial. It never depends on the order
of jobs, the number of cores or the size of a batch.
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
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return [
        np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *words], spawn_key=(t,))))
        for t in trials
    ]
