"""Tasks, which use a release and measure the error; collected from each file's ``TASKS``."""

from __future__ import annotations

import sys

from reproduction.discovery import collect
from reproduction.experiments.tasks.base import Entry


def registry() -> dict[str, Entry]:
    """Return all tasks by their names in config.yaml."""
    return collect(sys.modules[__name__], "TASKS")
