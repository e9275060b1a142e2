"""What is done with a release, and how well it went; every file's ``TASKS`` is found here."""

from __future__ import annotations

import sys

from matrixdp.discovery import collect
from matrixdp.experiments.tasks.base import Entry


def registry() -> dict[str, Entry]:
    """Return every task by the name that config.yaml calls it."""
    return collect(sys.modules[__name__], "TASKS")
