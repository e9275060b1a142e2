"""Common code of all data sets of images: raw pixels and labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reproduction.data.learning import Encoded

CLASSES = 10


def encode_images(parts: Mapping[str, tuple[NDArray, NDArray]]) -> Encoded:
    """Return ``<part>_images``, uint8, and ``<part>_labels`` (n,), int8, of each part.

    Args:
        parts: images (n, height, width) or (n, height, width, 3), and labels (n,), by part.

    Raises:
        ValueError: a part has more images than labels or fewer, or labels of other classes.
    """
    for part, (images, labels) in parts.items():
        if len(images) != len(labels) or not np.isin(labels, range(CLASSES)).all():
            raise ValueError(f"the labels of {part} do not fit its images")
    (pixels,) = {int(np.prod(images.shape[1:])) for images, _ in parts.values()}
    return Encoded(
        arrays={f"{part}_images": images.astype(np.uint8) for part, (images, _) in parts.items()}
        | {f"{part}_labels": labels.astype(np.int8) for part, (_, labels) in parts.items()},
        shape=(sum(len(labels) for _, labels in parts.values()), pixels),
        description="pixels as they are stored, 0 to 255",
        facts={
            f"{part}_images_by_class": np.bincount(labels, minlength=CLASSES).tolist()
            for part, (_, labels) in parts.items()
        },
    )
