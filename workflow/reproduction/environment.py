"""What becomes of the host's environment variables, so that none changes a result unseen.

Every command calls :func:`fix` before it imports anything else. The Makefile has those of the
set-up. All other variables are free: they change no result.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping, MutableMapping

#: What every command sets, by name or pattern; it removes those without a value.
FIXED = {
    # Jobs run in parallel, and more threads would also add numbers in another order.
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **dict.fromkeys(("NPROC", "PJRT_NPROC"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    # Logs hold what concerns a run.
    "TF_CPP_MIN_LOG_LEVEL": "2",
    # Jobs of one run share what is compiled, which takes a third of a short one. Its keys hold the
    # versions, the options and the features of the processor.
    "JAX_ENABLE_COMPILATION_CACHE": "true",
    "JAX_COMPILATION_CACHE_DIR": ".snakemake/jax",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    # Doubles or another precision of products change every accuracy.
    "JAX_*": "",
    # One that is not installed, such as Jupyter's, is fatal.
    "MPLBACKEND": "agg",
    # Figures look alike everywhere.
    "MATPLOTLIBRC": "",
}

#: What the host may choose, with the default; the page names another choice. An accelerator rounds
#: otherwise, and what acts as another processor changes the last digits.
RECORDED = {"JAX_PLATFORMS": "cpu", "OPENBLAS_CORETYPE": "", "NPY_DISABLE_CPU_FEATURES": ""}


def fix(variables: MutableMapping[str, str] = os.environ) -> None:
    """Set and remove the variables that a command fixes, and set what is recorded by default."""
    for name in set(variables) - RECORDED.keys():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in FIXED):
            del variables[name]
    variables.update({name: value for name, value in FIXED.items() if value})
    for name, value in RECORDED.items():
        if value and not variables.get(name):
            variables[name] = value


def choices(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return by name the choices of the host that are not the default ones."""
    texts = {name: variables.get(name) for name in RECORDED}
    return {name: text for name, text in texts.items() if text and text != RECORDED[name]}
