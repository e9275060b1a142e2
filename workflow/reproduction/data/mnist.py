"""MNIST: 70,000 handwritten digits, 28 x 28 pixels in grey.

Arrays:
    train_images (55000, 28, 28), test_images (5000, 28, 28), official_images (10000, 28, 28):
        uint8, row by row, 0 for paper and 255 for ink.
    train_labels, test_labels, official_labels: int8, the digit.

The IMGM paper trains on 55,000 images and tests on 5,000, without saying which. Here these are the
60,000 of the official training file, divided as in TensorFlow's tutorial of the time. The first
5,000 are for testing (in the tutorial for validation), all others for training. The official test
file, by other writers, is also included, for comparison with other reports.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reproduction.data.images import encode_images
from reproduction.data.learning import Encoded

TESTING = 5000


def read(members: Mapping[str, bytes]) -> Encoded:
    """Return the images and labels of the three parts.

    Raises:
        ValueError: a file is no IDX file of bytes, or the files do not fit together.
    """
    images, official = (_idx(members[f"{f}-images-idx3-ubyte"]) for f in ("train", "t10k"))
    labels, digits = (_idx(members[f"{f}-labels-idx1-ubyte"]) for f in ("train", "t10k"))
    return encode_images(
        {
            "train": (images[TESTING:], labels[TESTING:]),
            "test": (images[:TESTING], labels[:TESTING]),
            "official": (official, digits),
        }
    )


def _idx(data: bytes) -> NDArray:
    """Return the array (unsigned bytes) of an IDX file: its type and shape come first."""
    if data[:3] != b"\0\0\x08":
        raise ValueError("no IDX file of bytes")
    shape = np.frombuffer(data, ">u4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)
