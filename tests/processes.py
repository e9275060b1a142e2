"""Processes that tests start."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any


def hear() -> None:
    """Hear every signal in a child, also where the parent ignores some, as below nohup."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def started(*command: Any, **options: Any) -> Iterator[subprocess.Popen]:
    """Start a command as :class:`subprocess.Popen` does; at the end, kill what is left of it."""
    process = subprocess.Popen(command, start_new_session=True, preexec_fn=hear, **options)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
