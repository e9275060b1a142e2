"""CIFAR-10: 60,000 photographs of ten classes, 32 x 32 pixels in colour.

Arrays:
    train_images (50000, 32, 32, 3), test_images (10000, 32, 32, 3): uint8; the last axis is red,
        green, blue.
    train_labels (50000,), test_labels (10000,): int8, the class.

The order is that of the files of the archive for Python, whose pickles may name arrays alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reproduction.data import pickles
from reproduction.data.images import encode_images
from reproduction.data.learning import Encoded

_FILES = {"train": [f"data_batch_{i}" for i in range(1, 6)], "test": ["test_batch"]}


def read(members: Mapping[str, bytes]) -> Encoded:
    """Return the images and labels of both parts.

    Raises:
        InputError: a pickle has more than arrays, lists and numbers.
        ValueError: a file is no pickle, or its images and labels do not fit together.
    """

    def part(files: list[str]) -> tuple[NDArray, NDArray]:
        batches = [pickles.load(members[file]) for file in files]
        colours = np.concatenate([batch["data"] for batch in batches]).reshape(-1, 3, 32, 32)
        labels = np.concatenate([batch["labels"] for batch in batches])
        return colours.transpose(0, 2, 3, 1), labels

    return encode_images({name: part(files) for name, files in _FILES.items()})
