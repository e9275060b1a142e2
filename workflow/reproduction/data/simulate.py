"""Stand-ins: random numbers of the shape and types of a data set, to see that a run works.

They take the place of data that are not at hand, and are evidence of nothing. Of the originals they
have the numbers of records, columns and classes. All else is a signal of low rank and noise, so
that components differ, a regression has something to find, and classes can be learnt.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import Array, InputError
from reproduction.data.datasets import Spec
from reproduction.data.learning import Encoded

#: Records of each class in the parts of the learning sets, as in the originals.
CLASSES = {
    "adult": {"train": [24720, 7841], "test": [12435, 3846]},
    "cora": {
        "train": [152, 81, 174, 337, 187, 135, 74],
        "rest": [69, 45, 100, 162, 90, 60, 42],
        "test": [130, 91, 144, 319, 149, 103, 64],
    },
    "imdb": {"train": [12500, 12500], "test": [12500, 12500]},
    "mnist": {
        "train": [5444, 6179, 5470, 5638, 5307, 4987, 5417, 5715, 5389, 5454],
        "test": [479, 563, 488, 493, 535, 434, 501, 550, 462, 495],
        "official": [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009],
    },
}

#: Their arrays: the name, the shape of a record, and what makes values of a signal within [0, 1).
_ARRAYS: dict[str, tuple[str, tuple[int, ...], Callable[[NDArray], NDArray]]] = {
    "adult": ("inputs", (105,), lambda signal: signal),
    "cora": ("features", (1433,), lambda signal: (signal > 0.97).astype(np.float32)),
    # Frequent words have small numbers, and 0 is none.
    "imdb": ("tokens", (200,), lambda signal: (10_000**signal - 1).astype(np.int16)),
    "mnist": ("images", (28, 28), lambda signal: (256 * signal).astype(np.uint8)),
}

_FACTORS, _LINKS = 3, 5278


def has_stand_in(spec: Spec) -> bool:
    """Return whether there is a stand-in: of every matrix but a file of one's own."""
    return spec.name in CLASSES if spec.is_learning_set else not spec.file


def simulate(spec: Spec, rng: np.random.Generator) -> Array | Encoded:
    """Return a stand-in: records (n x m) within bounds, or the arrays of a learning set.

    The bounds are those of the data set's scaling if it states any, otherwise -1 and 1.

    Raises:
        InputError: the data set has none.
    """
    if not has_stand_in(spec):
        raise InputError(
            f"dataset is {spec.name!r}; it has no stand-in, set data.source to original"
        )
    n, m = spec.shape
    if spec.is_learning_set:
        return Encoded(_arrays(spec.name, rng), (n, m), "random numbers, a stand-in")
    signal = _signal(np.zeros(n, int), (m,), rng)
    scaling = spec.scalings["default"]
    lower, upper = np.array(scaling.lower or [-1.0]), np.array(scaling.upper or [1.0])
    return lower + (upper - lower) * signal


def _arrays(name: str, rng: np.random.Generator) -> dict[str, NDArray]:
    """Return the arrays of a learning set."""
    content, shape, values = _ARRAYS[name]
    classes = [np.repeat(np.arange(len(counts)), counts) for counts in CLASSES[name].values()]
    labels = np.concatenate([rng.permutation(part) for part in classes])
    records = values(_signal(labels, shape, rng))
    ends = np.cumsum([len(part) for part in classes])[:-1]
    if name == "cora":
        # Most links are within a class.
        by_class = np.argsort(labels + rng.random(len(labels)), kind="stable")
        pairs = [np.column_stack([by_class[k:], by_class[:-k]]) for k in (1, 2)]
        edges = np.unique(np.sort(np.concatenate(pairs)[:_LINKS], axis=1), axis=0)
        train, _, test = np.split(np.arange(len(labels), dtype=np.int32), ends)
        whole = {content: records, "labels": labels.astype(np.int8)}
        return {**whole, "edges": edges.astype(np.int32), "train": train, "test": test}
    both = {content: np.split(records, ends), "labels": np.split(labels.astype(np.int8), ends)}
    return {
        f"{part}_{each}": arrays[number]
        for number, part in enumerate(CLASSES[name])
        for each, arrays in both.items()
    }


def _signal(labels: NDArray, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray:
    """Return values within [0, 1), n x shape: by class and a few factors, and noise."""
    width = int(np.prod(shape))
    # The mean of a class is a cosine, so that neighbours, such as points of a picture, are alike.
    waves = np.outer(np.arange(labels.max() + 1), np.linspace(0, np.pi, width))
    means = 3 / np.sqrt(width) * np.cos(waves).astype(np.float32)
    loadings, factors, signal = (
        rng.standard_normal(size, np.float32)
        for size in ((_FACTORS, width), (len(labels), _FACTORS), (len(labels), width))
    )
    signal += factors @ loadings
    signal += means[labels]
    # In place, as pictures fill a fifth of a gigabyte.
    signal /= 3
    np.tanh(signal, out=signal)
    signal += 1
    signal /= 2.000001
    return signal.reshape(-1, *shape)
