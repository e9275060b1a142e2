"""Schemes: the noise of each of many releases, and its tight epsilon.

A mechanism answers a query once. A scheme spends a claimed (epsilon, delta) on an entire training
run: the gradients of all its steps (``gradients``), or one release of all features (``features``).
The registry collects the ``SCHEMES`` of the two files; to add a scheme, add an entry.
"""

from __future__ import annotations

import importlib

from matrixdp import checks
from reproduction.experiments.schemes.base import Scheme

PERTURBATIONS = ("gradients", "features")


def registry(perturbation: str) -> dict[str, Scheme]:
    """Return the schemes for ``gradients`` or ``features`` by name, in the order of tables."""
    checks.choice(PERTURBATIONS, perturbation=perturbation)
    schemes: dict[str, Scheme] = importlib.import_module(f"{__name__}.{perturbation}").SCHEMES
    return dict(schemes)
