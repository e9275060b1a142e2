"""Tasks, which use a release and measure the error; each file has its own in ``TASKS``."""

from __future__ import annotations

import sys

from reproduction import discovery
from reproduction.experiments.tasks.base import TaskEntry


def find_task(name: str) -> TaskEntry:
    """Return a task by its name in config.yaml, without importing those of other files."""
    entry: TaskEntry = discovery.find_entry(sys.modules[__name__], "TASKS", task=name)
    return entry
