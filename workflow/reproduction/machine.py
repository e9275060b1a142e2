"""What the machine or the container has of memory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

#: Where a control group of either version has its limit, with the folder of its hierarchy.
_LIMITS = {"": ("", "memory.max"), "memory": ("memory", "memory.limit_in_bytes")}


def memory(root: Path = Path("/")) -> int | None:
    """Return the megabytes that all jobs together can have; None where the system does not say.

    Args:
        root: folder with the system's ``proc`` and ``sys``.
    """
    return min(_megabytes(root), default=None)


def _megabytes(root: Path) -> Iterator[int]:
    """Yield the memory of the machine, and the limits of our control group and those around it."""
    if root == Path("/"):
        with contextlib.suppress(ValueError, OSError):
            yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    for place, name in _places(root):
        # A group without a limit says `max`, or more than any machine has.
        with contextlib.suppress(ValueError, OSError):
            yield int((place / name).read_text()) // 2**20


def _places(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the folders of our control groups, up to the root, and their files of a limit.

    In a container the path of a group may be that of the host; its root is then our own group.
    """
    base = root / "sys/fs/cgroup"
    yield base, "memory.max"
    yield base / "memory", "memory.limit_in_bytes"
    with contextlib.suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            for kind in {*kinds.split(",")} & _LIMITS.keys():
                folder, name = _LIMITS[kind]
                group = Path(path.lstrip("/"))
                for place in [group, *group.parents]:
                    yield base / folder / place, name
