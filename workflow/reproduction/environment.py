"""What becomes of the host's environment variables, so that none changes a result unseen.

Every command calls :func:`fix` before it imports anything else. The Makefile keeps its rows to
itself, and a test holds it to this table.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass

_THREADS = "jobs run in parallel, and more threads would also add numbers in another order"
_PLACE = "a package elsewhere, or another version than the lock's, would be used"
_COMPILED = "jobs of one run share what is compiled, which takes a third of a short one"
_PROCESSOR = "as another processor does, it changes the last digits"


@dataclass(frozen=True)
class Variable:
    """What becomes of a variable, or of all whose names match a pattern.

    ``role`` is one of these:

    - ``fixed``: every command sets it to ``value``, or removes it if there is none.
    - ``make``: the Makefile sets it, or keeps it from the set-up and from runs.
    - ``recorded``: the host chooses; it is ``value`` by default. The page names another choice.
    - ``free``: it changes no result.
    """

    name: str
    role: str
    why: str
    value: str = ""


#: The first row that matches a name counts. What no row matches is as ``free``.
TABLE = (
    Variable("OMP_NUM_THREADS", "fixed", _THREADS, "1"),
    Variable("OPENBLAS_NUM_THREADS", "fixed", _THREADS, "1"),
    Variable("MKL_NUM_THREADS", "fixed", _THREADS, "1"),
    Variable("NPROC", "fixed", _THREADS, "1"),
    Variable("PJRT_NPROC", "fixed", _THREADS, "1"),
    Variable("XLA_FLAGS", "fixed", _THREADS, "--xla_cpu_multi_thread_eigen=false"),
    Variable("TF_CPP_MIN_LOG_LEVEL", "fixed", "logs hold what concerns a run", "2"),
    # Its keys hold the versions, the options and the features of the processor.
    Variable("JAX_ENABLE_COMPILATION_CACHE", "fixed", _COMPILED, "true"),
    Variable("JAX_COMPILATION_CACHE_DIR", "fixed", _COMPILED, ".snakemake/jax"),
    Variable("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "fixed", _COMPILED, "0"),
    Variable("JAX_PLATFORMS", "recorded", "an accelerator rounds otherwise", "cpu"),
    Variable("JAX_*", "fixed", "doubles or another precision of products change every accuracy"),
    Variable("OPENBLAS_CORETYPE", "recorded", _PROCESSOR),
    Variable("NPY_DISABLE_CPU_FEATURES", "recorded", _PROCESSOR),
    Variable(
        "MPLBACKEND", "fixed", "one that is not installed, such as Jupyter's, is fatal", "agg"
    ),
    Variable("MATPLOTLIBRC", "fixed", "figures look alike everywhere"),
    Variable("PYTHONPATH", "make", "rules set it, too: the packages are those of the clone"),
    Variable("PYTHONDONTWRITEBYTECODE", "make", "each job would compile its code anew"),
    Variable("PIP_USER", "make", _PLACE),
    Variable("PIP_TARGET", "make", _PLACE),
    Variable("PIP_PREFIX", "make", _PLACE),
    Variable("PIP_CONSTRAINT", "make", _PLACE),
    Variable("PIP_NO_DEPS", "make", _PLACE),
    Variable("UV_CONSTRAINT", "make", _PLACE),
    Variable("UV_OVERRIDE", "make", _PLACE),
    Variable("HOME", "make", "Snakemake needs one, and a user without a name may have none"),
    Variable("USER", "make", "Snakemake needs one, and a user of a container may have none"),
    Variable("PYTHONHASHSEED", "free", "what is written is sorted"),
    Variable("LC_ALL", "free", "files are UTF-8, and numbers have a point"),
    Variable("LANG", "free", "files are UTF-8, and numbers have a point"),
    Variable("TZ", "free", "no result has a time"),
)


def find(name: str) -> Variable | None:
    """Return the row of a variable, if there is one."""
    rows = (row for row in TABLE if fnmatch.fnmatchcase(name, row.name))
    return next(rows, None)


def fix(variables: MutableMapping[str, str] = os.environ) -> None:
    """Set and remove the variables that a command fixes, and set what is recorded by default."""
    for name in list(variables):
        if (row := find(name)) and row.role == "fixed":
            del variables[name]
    for row in TABLE:
        if row.role == "fixed" and row.value:
            variables[row.name] = row.value
        elif row.role == "recorded" and row.value:
            variables[row.name] = variables.get(row.name) or row.value


def choices(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return by name the choices of the host that are not the default ones."""
    rows = [row for row in TABLE if row.role == "recorded"]
    return {
        row.name: text for row in rows if (text := variables.get(row.name)) and text != row.value
    }
