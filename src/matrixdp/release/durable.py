"""Crash-safe files: space is reserved first, then the content is written, then the file renamed.

Content is written to a temporary file in the same folder, the file's ``part``. A file under its
final name is always complete and on the disk, whenever the process is killed or the power fails.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from matrixdp.checks import InputError, why

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_INTERRUPTS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
#: Whoever may write to a folder could plant a link under the name of a temporary file, or a pipe.
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
#: How often a lock is tried anew whose file was deleted meanwhile.
_TRIES = 100
#: Open files of the locks of this process, and what a fork waits for, so that it knows them all.
_handles: set[int] = set()
_opening = threading.RLock()
#: Handlers of signals that some thread postpones.
_postponed: dict[int, Any] = {}


def _begin_child() -> None:
    """Give back what a forked process has from other threads of its parent.

    With the files of their locks it would hold a lock beyond the end of a release, and wait for
    itself. With their handlers of signals nothing but a kill would end it.
    """
    _opening.release()
    while _handles:
        os.close(_handles.pop())
    for number, handler in _postponed.items():
        signal.signal(number, handler)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_begin_child
    )


def check() -> None:
    """Check that this system has the locks that an account needs.

    Raises:
        InputError: it has not.
    """
    if fcntl is None:
        raise InputError(
            "an account needs Linux or macOS, whose locks keep two releases apart; without an "
            "account, all else works here"
        )


def part(path: Path) -> Path:
    """Return the temporary file in which the content of ``path`` is written."""
    return path.with_name(f".{path.name}.part")


def reserve(path: Path, size: int, mode: int = 0o666) -> None:
    """Allocate ``size`` bytes for the temporary file of ``path``, to detect a full disk early.

    Raises:
        OSError: there is no space, or the folder cannot be written.
    """
    handle = _open(part(path), mode)
    try:
        try:
            os.posix_fallocate(handle, 0, size)
        except AttributeError:  # macOS
            _fill(handle, bytes(size))
    finally:
        os.close(handle)


def unreserve(path: Path) -> None:
    """Delete the temporary file of ``path``, if it exists."""
    with contextlib.suppress(OSError):
        part(path).unlink()


def write(
    path: Path, text: str, mode: int = 0o666, check: Callable[[], None] = lambda: None
) -> None:
    """Write a file atomically: its temporary file reaches the disk, and is then renamed.

    Args:
        path: the file.
        text: its content.
        mode: its permissions where it is new.
        check: what is called just before the file is renamed, and may refuse it.

    Raises:
        OSError: there is no space, or the folder cannot be written.
    """
    content = text.encode()
    handle = _open(part(path), mode)
    try:
        _fill(handle, content)
        os.ftruncate(handle, len(content))
        os.fsync(handle)
    finally:
        os.close(handle)
    check()
    os.replace(part(path), path)
    # The name is an entry of the folder, which has to reach the disk too.
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _open(file: Path, mode: int) -> int:
    """Return a handle of a temporary file: of the one that was reserved, or of a new one."""
    with contextlib.suppress(OSError):
        handle = os.open(file, os.O_WRONLY | _NO_LINKS)
        status = os.fstat(handle)
        is_single = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
        if is_single and status.st_uid == os.geteuid():
            return handle
        os.close(handle)
    file.unlink(missing_ok=True)
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS, mode)


def _fill(handle: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


@contextlib.contextmanager
def lock(path: Path, unneeded: Callable[[], bool] = lambda: False) -> Iterator[Callable[[], bool]]:
    """Lock a file, created if necessary, or a folder against other processes and threads.

    Args:
        path: the file or folder.
        unneeded: whether the file goes at the end; who waits for it then locks a new one.

    Yields:
        a function that tells whether the lock still holds. Of a file that was deleted others lock
        a new one under its name.

    Raises:
        OSError: it cannot be opened or locked.
        InputError: this system has no locks.
    """
    check()
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT | _NO_LINKS
    for _ in range(_TRIES):
        with _opening:
            handle = os.open(path, flags, 0o666)
            _handles.add(handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_at(path, handle):
                try:
                    yield functools.partial(_is_at, path, handle)
                finally:
                    if unneeded() and _is_at(path, handle):
                        path.unlink()
                return
        finally:
            with _opening:
                if handle in _handles:
                    _handles.remove(handle)
                    os.close(handle)
    raise OSError(errno.ESTALE, "its lock is deleted again and again", str(path))


def _is_at(path: Path, handle: int) -> bool:
    """Return whether an open file is the one under a path."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


#: Errors of a place that cannot be written.
PROTECTED = errno.EACCES, errno.EPERM, errno.EROFS
#: What helps against some errors of writing; against others it is space.
_CURES = {
    **dict.fromkeys(PROTECTED, "get leave to write there"),
    errno.EEXIST: "move what is there, which may be a link that leads nowhere",
    errno.ENAMETOOLONG: "take a shorter name",
    errno.ENOENT: "make its folder first",
    errno.ENOTDIR: "move the file that stands where a folder should",
}


@contextlib.contextmanager
def explain(path: Path, remedy: str) -> Iterator[None]:
    """Turn an error of the file system into a one-sentence :class:`InputError`.

    ``{cure}`` in ``remedy`` is replaced by what helps against this error.

    Raises:
        InputError: with the reason and the remedy.
    """
    try:
        yield
    except OSError as error:
        remedy = remedy.replace("{cure}", _CURES.get(error.errno or 0, "free some space"))
        raise InputError(f"{path} cannot be written ({why(error)}); {remedy}") from error


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """Postpone Ctrl-C and termination signals to the end of the block, in the main thread only.

    Blocks are not nested.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    late: list[int] = []
    before = {number: signal.getsignal(number) for number in _INTERRUPTS}
    # One that Python did not set is None.
    before = {number: handler or signal.SIG_DFL for number, handler in before.items()}
    _postponed.update(before)
    for number in before:
        signal.signal(number, lambda number, _: late.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _postponed.clear()
        if late:
            signal.raise_signal(late[0])
