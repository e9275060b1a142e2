"""The neural experiments of the IMGM paper, the only part of the package that needs jax.

Type I trains on private gradients (``gradients``), Type II on private features (``features``). Each
file has its own in ``TRAININGS``, and its networks in ``EXTRACTORS``. The guarantees assume exact
arithmetic, whereas gradients and noise are float32.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from matrixdp.checks import InputError, why
from reproduction import discovery, environment

# jax reads its variables when it is imported: one thread each, on the processor unless the host
# names another platform.
environment.fix()

for package in ("jax", "optax"):
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise InputError(
            f"{package} cannot be imported ({error}), but neural experiments need it; install it "
            "by `python -m pip install -r workflow/requirements.lock` or take `training` out of "
            "config.yaml"
        ) from None

if (platform := os.environ["JAX_PLATFORMS"]) != "cpu":
    try:
        sys.modules["jax"].devices()
    except RuntimeError as error:
        raise InputError(
            f"JAX_PLATFORMS is {platform!r}, which jax cannot use here ({why(error)}); unset it, "
            "or install a jax for it (see docs/data.md)"
        ) from None


def find_training(experiment: str, table: str = "TRAININGS") -> Any:
    """Return the ``Training`` of a neural experiment, or that in ``EXTRACTORS``, by its name."""
    return discovery.find_entry(sys.modules[__name__], table, experiment=experiment)
