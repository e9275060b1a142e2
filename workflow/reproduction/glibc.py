"""Memory that a job frees, which glibc would return to the system."""

from __future__ import annotations

import os

#: Parameters of ``mallopt`` in glibc's malloc.h, and their values: no array is a mapping of its own
#: (``M_MMAP_MAX``), and the heap never shrinks (``M_TRIM_THRESHOLD``).
PARAMETERS = {-4: 0, -1: -1}


def keep_memory() -> None:
    """Let glibc keep what this process frees: each new array would fault in all its pages again.

    Without glibc nothing happens. No result depends on it.
    """
    if _is_glibc():
        import ctypes  # which a Python without glibc may lack

        for parameter, value in PARAMETERS.items():
            ctypes.CDLL(None).mallopt(parameter, value)


def _is_glibc() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    # There is no such function, no such name, or no value.
    except (AttributeError, ValueError, OSError):
        return False
