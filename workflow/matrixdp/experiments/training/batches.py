"""Which training examples a step sees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Poisson lots are padded to a multiple of this.
BLOCK = 64


def poisson(
    stream: np.random.Generator, examples: int, rate: float, steps: int
) -> tuple[NDArray, NDArray]:
    """Return lots that every example joins independently with probability ``rate``.

    Returns:
        Indices, shape (steps, capacity), of which the first ``sizes[t]`` of row t are the lot, all
        different, and the rest is padding; and the sizes. The capacity is that of the largest lot.
    """
    sizes = stream.binomial(examples, rate, steps)
    lots = np.zeros((steps, max(1, -(-sizes.max() // BLOCK)) * BLOCK), np.int32)
    for lot, size in zip(lots, sizes, strict=True):
        # Given its size, a Poisson lot is a uniform subset.
        lot[:size] = stream.choice(examples, size, replace=False, shuffle=False)
    return lots, sizes.astype(np.int32)


def shuffled(stream: np.random.Generator, records: int, batch: int, epochs: int) -> NDArray:
    """Return batches of indices, shape (steps, batch): every epoch a new order of all records.

    What is left over at the end of an epoch, less than a batch, is left out.
    """
    steps = records // batch
    orders = [stream.permutation(records)[: steps * batch] for _ in range(epochs)]
    return np.concatenate(orders).reshape(epochs * steps, batch).astype(np.int32)
