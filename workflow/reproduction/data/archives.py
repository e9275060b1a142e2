"""Files, and the files in archives: .zip, .tar.*, .gz."""

from __future__ import annotations

import bz2
import fnmatch
import functools
import gzip
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

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
_SINGLE: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ": lzma.open,
    b"BZh": bz2.open,
}
#: How a .zip file begins; its list of files stands at its end.
_ZIP = b"PK\x03\x04"
_SUFFIXES = {".zip", ".tar", ".tgz", ".txz", ".gz", ".xz", ".bz2"}


@dataclass(frozen=True)
class ArchiveEntry:
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


def read_plain(path: Path) -> ArchiveEntry:
    """Return a file as it is."""
    return ArchiveEntry(path.as_posix(), path.stat().st_size, path.read_bytes)


def unpack(path: Path, name: str | None = None) -> Iterator[ArchiveEntry]:
    """Yield the files in an archive without unpacking to disk; each is read before the next one.

    Args:
        path: the archive.
        name: what a compressed single file stands for, if not for what it is called.

    Raises:
        *BROKEN: it is damaged or encrypted.
    """
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for each in archive.infolist():
                if not each.is_dir():
                    # No more is read than the stated size.
                    read = functools.partial(archive.read, each)
                    yield ArchiveEntry(each.filename, each.file_size, read)
    elif tarfile.is_tarfile(path):
        # As a stream, in which nothing is unpacked twice.
        with tarfile.open(path, "r|*") as archive:
            for item in archive:
                if item.isfile() and (content := archive.extractfile(item)):
                    yield ArchiveEntry(item.name, item.size, content.read)
    else:
        with path.open("rb") as stream:
            start = stream.read(max(map(len, [*_SINGLE, _ZIP])))
        if start.startswith(_ZIP):
            raise zipfile.BadZipFile("its end is missing")
        for magic, opened in _SINGLE.items():
            if start.startswith(magic):
                with opened(path) as content:
                    inner = name or path.with_suffix("").name
                    yield ArchiveEntry(inner, None, functools.partial(content.read, LARGEST + 1))


def match_end(name: str, patterns: Sequence[str]) -> str | None:
    """Return the last components of a path that match a pattern, as many as it has, or None."""
    parts = name.split("/")
    # The archives of macOS have a hidden file beside each file.
    names = ("/".join(parts[-pattern.count("/") - 1 :]) for pattern in patterns)
    pairs = zip(names, patterns, strict=True)
    hidden = parts[-1].startswith(".")
    return next((n for n, p in pairs if fnmatch.fnmatchcase(n, p) and not hidden), None)
