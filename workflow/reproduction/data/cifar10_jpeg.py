"""A lossy copy of CIFAR-10: all of its 60,000 photographs, as JPEG files in an order of their own.

The arrays are those of :mod:`reproduction.data.cifar10`. No picture equals the original byte for
byte, so that results on this copy are marked as such.
"""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reproduction.data.images import encode_images
from reproduction.data.learning import Encoded

#: In the order of their numbers.
CLASSES = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)


def read(members: Mapping[str, bytes]) -> Encoded:
    """Return the images and labels of both parts, in the order of the files' names.

    Raises:
        ValueError: a file is no picture of 32 x 32 points in colour, or its class is unknown.
    """

    def part(name: str) -> tuple[NDArray, NDArray]:
        paths = sorted(path for path in members if path.startswith(f"{name}/"))
        labels = [CLASSES.index(path.split("/")[1]) for path in paths]
        return np.stack([_decoded(members[path]) for path in paths]), np.array(labels)

    return encode_images({name: part(name) for name in ("train", "test")})


def _decoded(data: bytes) -> NDArray:
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=["JPEG"]) as picture:
        if (picture.size, picture.mode) != ((32, 32), "RGB"):
            raise ValueError("a picture is not of 32 x 32 points in colour")
        return np.asarray(picture)
