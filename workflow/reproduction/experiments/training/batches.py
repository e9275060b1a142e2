"""Lots and batches: the training examples of each step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Poisson lots are padded to a multiple of this.
BLOCK = 64


def poisson(
    stream: np.random.Generator, examples: int, rate: float, steps: int
) -> tuple[NDArray, NDArray]:
    """Return Poisson lots, which every example joins independently at a ``rate``.

    Returns:
        Indices of examples, shape (steps, capacity), and sizes of lots, shape (steps,). The first
        ``sizes[t]`` indices of row t are distinct, and the rest is padding. The capacity is that of
        the largest lot, rounded up to a multiple of ``BLOCK``.
    """
    sizes = stream.binomial(examples, rate, steps)
    lots = _blank(sizes)
    for lot, size in zip(lots, sizes, strict=True):
        # Conditional on its size, a Poisson lot is a uniform subset.
        lot[:size] = stream.choice(examples, size, replace=False, shuffle=False)
    return lots, sizes.astype(np.int32)


def partition_lots(
    stream: np.random.Generator, records: int, lots: int, epochs: int
) -> tuple[NDArray, NDArray]:
    """Return lots in a fixed order: a random partition of all records, repeated in every epoch.

    Sizes differ by at most 1. The result has the format of :func:`poisson`, with epochs x lots
    steps.
    """
    parts = np.array_split(stream.permutation(records), lots)
    sizes = np.array([len(part) for part in parts])
    blank = _blank(sizes)
    for lot, part in zip(blank, parts, strict=True):
        lot[: len(part)] = part
    return np.tile(blank, (epochs, 1)), np.tile(sizes, epochs).astype(np.int32)


def _blank(sizes: NDArray) -> NDArray:
    """Return an array of zeros (steps, capacity) for lots of these sizes."""
    return np.zeros((len(sizes), max(1, -(-sizes.max() // BLOCK)) * BLOCK), np.int32)


def shuffle_batches(stream: np.random.Generator, records: int, batch: int, epochs: int) -> NDArray:
    """Return batches of indices, shape (steps, batch), from a new random order in every epoch.

    The last records of an epoch, fewer than a batch, are omitted.
    """
    steps = records // batch
    orders = [stream.permutation(records)[: steps * batch] for _ in range(epochs)]
    return np.concatenate(orders).reshape(epochs * steps, batch).astype(np.int32)
