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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data.images import CLASSES, encoded
from reproduction.data.learning import Encoded

TESTING = 5000
_SIDE, _BLOCK = 28, 4


def read(members: Mapping[str, bytes]) -> Encoded:
    """Return the images and labels of the three parts.

    Raises:
        ValueError: a file is no IDX file of bytes, or the files do not fit together.
    """
    images, official = (_idx(members[f"{f}-images-idx3-ubyte"]) for f in ("train", "t10k"))
    labels, digits = (_idx(members[f"{f}-labels-idx1-ubyte"]) for f in ("train", "t10k"))
    return encoded(
        {
            "train": (images[TESTING:], labels[TESTING:]),
            "test": (images[:TESTING], labels[:TESTING]),
            "official": (official, digits),
        }
    )


def summarise(members: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the facts for a stand-in.

    Returns:
        ``images``: number of images by class in each part. ``means`` and ``deviations`` of the ink
        in each block of 4 x 4 pixels, by class of the training images (10 x 49, integers).
    """
    encoding = read(members)
    arrays = encoding.arrays
    images, labels = arrays["train_images"], arrays["train_labels"]
    side = _SIDE // _BLOCK
    blocks = images.reshape(-1, side, _BLOCK, side, _BLOCK).mean(axis=(2, 4)).reshape(-1, side**2)
    classes = [blocks[labels == c] for c in range(CLASSES)]
    return {
        "images": {name.removesuffix("_images_by_class"): n for name, n in encoding.facts.items()},
        "means": [ink.mean(axis=0).round().astype(int).tolist() for ink in classes],
        "deviations": [ink.std(axis=0).round().astype(int).tolist() for ink in classes],
    }


def simulate(facts: Mapping[str, Any], rng: np.random.Generator) -> Encoded:
    """Return a stand-in: blobs of ink, with independent blocks of 4 x 4 pixels in each class.

    It has no strokes, and a network that learns from it learns nothing about digits.
    """
    parts = {}
    for part, counts in facts["images"].items():
        labels = rng.permutation(np.repeat(np.arange(CLASSES), counts))
        means, deviations = (np.array(facts[name])[labels] for name in ("means", "deviations"))
        ink = np.clip(means + deviations * rng.standard_normal(means.shape), 0, 255)
        blocks = ink.astype(np.uint8).reshape(len(labels), _SIDE // _BLOCK, _SIDE // _BLOCK)
        parts[part] = (blocks.repeat(_BLOCK, axis=1).repeat(_BLOCK, axis=2), labels)
    return encoded(parts)


def _idx(data: bytes) -> NDArray:
    """Return the array (unsigned bytes) of an IDX file: its type and shape come first."""
    if data[:3] != b"\0\0\x08":
        raise ValueError("no IDX file of bytes")
    shape = np.frombuffer(data, ">u4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)
