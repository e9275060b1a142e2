"""Independent random streams that are functions of stable names alone.

A stream depends on the root seed, the words of its key and the trial, never on the order of jobs,
the number of cores or the size of a batch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np


def streams(seed: int, *key: str, trials: Iterable[int]) -> list[np.random.Generator]:
    """Return one Generator per trial for the named purpose.

    Args:
        seed: the root seed of the run.
        key: what the stream is for, e.g. ``("noise", "regression", "laplace", "1", "report")``.
        trials: trial numbers.
    """
    digest = hashlib.sha256("\x1f".join(key).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return [
        np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *words], spawn_key=(t,))))
        for t in trials
    ]
