"""Liver Disorders: five blood tests and the daily drinks of 345 men, without a header."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np

from matrixdp.checks import Array


def read(members: Mapping[str, bytes]) -> Array:
    """Return the records, shape (345, 6): four counts of blood tests, gammagt, drinks.

    The seventh column is omitted; it only has its donor's split of the data (McDermott & Forsyth
    2016).
    """
    return np.loadtxt(io.BytesIO(members["bupa.data"]), delimiter=",", usecols=range(6), ndmin=2)
