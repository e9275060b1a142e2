"""A progress bar for whoever looks on."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress(total: int, name: str) -> Iterator[Callable[[], object]]:
    """Yield a function to call after each step; on a terminal it advances a progress bar."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    # A slow import.
    from tqdm import tqdm

    with tqdm(total=total, desc=name, leave=False) as bar:
        yield bar.update
