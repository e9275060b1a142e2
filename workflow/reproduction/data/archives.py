"""Files, and the files in archives: .zip, .tar.*, .gz, and archives within these."""

from __future__ import annotations

import bz2
import fnmatch
import functools
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Any

#: No file of a data set has more bytes; more are never unpacked into memory.
LARGEST = 2**28

#: What the reading of an archive raises that is damaged, encrypted or none.
BROKEN = (
    OSError,
    EOFError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
)

#: Compression of single files: how it begins, and what undoes it.
_SINGLE: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ": lzma.open,
    b"BZh": bz2.open,
}
_SUFFIXES = {".zip", ".tar", ".tgz", ".txz", ".gz", ".xz", ".bz2"}


@dataclass(frozen=True)
class Entry:
    """A file: its name with its folders, its bytes, and how many (None: not known in advance)."""

    name: str
    size: int | None
    read: Callable[[], bytes]


def walk(folder: str | os.PathLike) -> list[Path]:
    """Return the files below a folder; links are followed, and each folder is entered once."""
    paths: list[Path] = []
    visited = set()
    for root, folders, names in os.walk(Path(folder), followlinks=True):
        status = os.stat(root)
        place = (status.st_dev, status.st_ino)
        if place in visited:
            folders.clear()
            continue
        visited.add(place)
        folders.sort()
        paths += [Path(root, name) for name in sorted(names)]
    # Reading a pipe or a device might never end.
    return [path for path in paths if path.is_file()]


def is_packed(path: PurePath) -> bool:
    """Return whether a file is an archive by its name."""
    return path.suffix.lower() in _SUFFIXES


def plain(path: Path) -> Entry:
    """Return a file as it is."""
    return Entry(path.as_posix(), path.stat().st_size, path.read_bytes)


def unpacked(name: str, stream: IO[bytes], depth: int = 2) -> Iterator[Entry]:
    """Yield the files in an archive, whatever it is called, without unpacking to disk.

    Each must be read before the next one. ``depth`` is the number of archives within each other.

    Raises:
        *BROKEN: it is damaged or encrypted.
    """
    entries = _zipped if zipfile.is_zipfile(stream) else _streamed
    stream.seek(0)
    for entry in entries(name, stream):
        if depth > 1 and is_packed(PurePath(entry.name)) and (entry.size or 0) <= LARGEST:
            data = entry.read()
            yield Entry(entry.name, len(data), functools.partial(bytes, data))
            yield from unpacked(entry.name, io.BytesIO(data), depth - 1)
        else:
            yield entry


def _zipped(name: str, stream: IO[bytes]) -> Iterator[Entry]:
    with zipfile.ZipFile(stream) as archive:
        for item in archive.infolist():
            if not item.is_dir():
                # No more is read than the stated size.
                yield Entry(item.filename, item.file_size, functools.partial(archive.read, item))


def _streamed(name: str, stream: IO[bytes]) -> Iterator[Entry]:
    try:
        archive = tarfile.open(fileobj=stream, mode="r|*")  # noqa: SIM115
    except tarfile.ReadError:
        archive = None
    if archive is None:
        path = PurePath(name)
        stream.seek(0)
        start = stream.read(6)
        stream.seek(0)
        for magic, opened in _SINGLE.items():
            if start.startswith(magic):
                with opened(stream) as content:
                    inner = str(path.with_suffix("") if is_packed(path) else path)
                    yield Entry(inner, None, functools.partial(content.read, LARGEST + 1))
        return
    with archive:
        for item in archive:
            if item.isfile() and (content := archive.extractfile(item)):
                yield Entry(item.name, item.size, content.read)


def matching(name: str, patterns: Sequence[str]) -> str | None:
    """Return the last components of a path that match a pattern, as many as it has, or None."""
    parts = name.split("/")
    # The archives of macOS have a hidden file beside each file.
    names = ("/".join(parts[-pattern.count("/") - 1 :]) for pattern in patterns)
    pairs = zip(names, patterns, strict=True)
    hidden = parts[-1].startswith(".")
    return next((n for n, p in pairs if fnmatch.fnmatchcase(n, p) and not hidden), None)
