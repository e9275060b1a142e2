"""SVHN: 99,289 digits of house numbers, cropped to 32 x 32 pixels in colour.

Arrays:
    train_images (73257, 32, 32, 3), test_images (26032, 32, 32, 3): uint8; the last axis is red,
        green, blue.
    train_labels (73257,), test_labels (26032,): int8, the digit.

The publisher's easier extra images are omitted, as in the IMGM paper's counts.
"""

from __future__ import annotations

import io
from collections.abc import Mapping

from reproduction.data.images import CLASSES, encode_images
from reproduction.data.learning import Encoded


def read(members: Mapping[str, bytes]) -> Encoded:
    """Return the images and labels of both parts.

    Raises:
        ValueError: a file is no MATLAB file, or its images and labels do not fit together.
    """
    from scipy.io import loadmat

    parts = {}
    for part in ("train", "test"):
        file = loadmat(io.BytesIO(members[f"{part}_32x32.mat"]), variable_names=("X", "y"))
        # The files have images along the last axis, and the digit 0 has the label 10.
        parts[part] = (file["X"].transpose(3, 0, 1, 2), file["y"].ravel() % CLASSES)
    return encode_images(parts)
