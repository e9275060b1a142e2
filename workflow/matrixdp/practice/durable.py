"""Files that outlive a crash: first their space, then their content, then their name.

A file grows under another name beside its place, its ``part``. Content that has its name is whole
and on the disk, whenever the process is killed or the power fails.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

from matrixdp.checks import InputError, why

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def part(path: Path) -> Path:
    """Return where the content of ``path`` grows until it is whole."""
    return path.with_name(f".{path.name}.part")


def reserve(path: Path, size: int, mode: int = 0o666) -> None:
    """Take ``size`` bytes for the part of a file, so that a full disk shows before its content.

    Raises:
        OSError: there is no space, or the folder cannot be written.
    """
    handle = os.open(part(path), os.O_WRONLY | os.O_CREAT, mode)
    try:
        try:
            os.posix_fallocate(handle, 0, size)
        except AttributeError:  # macOS
            _fill(handle, bytes(size))
    finally:
        os.close(handle)


def release(path: Path) -> None:
    """Give back what is left of a file's space."""
    with contextlib.suppress(OSError):
        part(path).unlink()


def write(path: Path, text: str, mode: int = 0o666) -> None:
    """Put the text of a file on the disk, and then in its place in one step.

    Raises:
        OSError: there is no space, or the folder cannot be written.
    """
    content = text.encode()
    handle = os.open(part(path), os.O_WRONLY | os.O_CREAT, mode)
    try:
        _fill(handle, content)
        os.ftruncate(handle, len(content))
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(part(path), path)
    # The name is an entry of the folder, which has to reach the disk too.
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _fill(handle: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


@contextlib.contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold a file, which is made at need, or a folder against other processes and threads.

    Raises:
        OSError: it cannot be opened or locked.
    """
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT
    handle = os.open(path, flags, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def explain(path: Path, remedy: str) -> Iterator[None]:
    """Turn an error of the file system into one sentence.

    Raises:
        InputError: with the reason and the remedy.
    """
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written ({why(error)}); {remedy}") from error


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """Put off Ctrl-C and requests to end until the block is done; in other threads do nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    late: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: late.append(number))
        for number in _INTERRUPTS
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if late:
            signal.raise_signal(late[0])
