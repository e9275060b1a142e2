"""What is done with a release, and how well it went; every file's ``TASKS`` is found here."""

from __future__ import annotations

import sys

from matrixdp.discovery import collect
from matrixdp.experiments.tasks.base import Task


def registry() -> dict[str, type[Task]]:
    """Return the task of every experiment by the experiment's name."""
    return collect(sys.modules[__name__], "TASKS")
