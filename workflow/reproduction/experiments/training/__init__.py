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

from matrixdp.checks import InputError
from reproduction import discovery

# Nothing else of jax's is the host's: doubles, for one, change every accuracy.
for name in [name for name in os.environ if name.startswith("JAX_") and name != "JAX_PLATFORMS"]:
    del os.environ[name]
# Parallelism is over jobs: one thread each, on the processor unless the environment names another
# platform. jax reads this when it is imported.
os.environ |= {
    "JAX_PLATFORMS": os.environ.get("JAX_PLATFORMS") or "cpu",
    "NPROC": "1",
    "PJRT_NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_ENABLE_COMPILATION_CACHE": "false",
    "TF_CPP_MIN_LOG_LEVEL": "2",
}

for package in ("jax", "optax"):
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise InputError(
            f"{package} cannot be imported ({error}), but neural experiments need it; install it "
            "by `python -m pip install -r workflow/requirements.lock` or take `training` out of "
            "config.yaml"
        ) from None


def find(experiment: str, table: str = "TRAININGS") -> Any:
    """Return the ``Training`` of a neural experiment, or that in ``EXTRACTORS``, by its name."""
    return discovery.find(sys.modules[__name__], table, experiment=experiment)
