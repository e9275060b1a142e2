"""Schemes: how much noise each of many releases gets, and how private that really is.

A mechanism answers a query once. A scheme spends a nominal (epsilon, delta) on a whole training
run: the gradients of all its steps (``gradients``), or one release of all features (``features``).
Every entry of the two files' ``SCHEMES`` is found here; to add a scheme, add an entry.
"""

from __future__ import annotations

import importlib

from matrixdp import checks
from matrixdp.experiments.schemes.base import Scheme

KINDS = ("gradients", "features")


def registry(kind: str) -> dict[str, Scheme]:
    """Return the schemes for ``gradients`` or ``features`` by name, in the order of tables."""
    checks.choice(KINDS, kind=kind)
    found: dict[str, Scheme] = importlib.import_module(f"{__name__}.{kind}").SCHEMES
    return dict(found)
