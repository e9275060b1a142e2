"""Numbers as a person reads them, held against the numbers that they stand for."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np


def shows(text, *values):
    """Return whether a text has these numbers in this order, each to the digits that it shows."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    scaled = re.fullmatch(r"\((.*)\)(e-?\d+)", text)
    parts = re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", scaled[1] if scaled else text)
    parts = [part + (scaled[2] if scaled else "") for part in parts]
    values = [value for value in values if not np.isnan(value)]
    if len(parts) != len(values):
        return False
    return all(
        abs(float(part) - value) <= 0.501 * 10.0 ** _last(part)
        # Trailing zeros may have been left out.
        and abs(float(part) - value) <= 0.051 * max(abs(value), abs(float(part)))
        for part, value in zip(parts, values, strict=True)
    )


def _last(part):
    """Return the power of ten of the last digit that a number shows; large ones are rounded."""
    number = Decimal(part)
    digits = number.normalize() if abs(number) >= 1000 else number
    return digits.as_tuple().exponent
