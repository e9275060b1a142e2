"""Finding members in containers: zip, tar and gz at any depth, or a plain file."""

from __future__ import annotations

import fnmatch
import functools
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from matrixdp.checks import InputError
from matrixdp.data.datasets import Member

Entry = tuple[str, Callable[[], bytes]]
Contents = dict[str, dict[str, bytes]]

_SUFFIXES = {
    ".zip": "zip", ".tar.gz": "tar.gz", ".tgz": "tar.gz", ".tar.xz": "tar.xz", ".gz": "gz",
}  # fmt: skip
_FIRST_BYTES = {
    "file": b"",
    "xls": b"\xd0\xcf\x11\xe0",
    "gz": b"\x1f\x8b",
    "zip": b"PK",
    "tar.gz": b"\x1f\x8b",
    "tar.xz": b"\xfd7zXZ\x00",
}
_WEB_PAGE = (b"<!doctype html", b"<html", b"<head")
DAMAGE = (
    zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError,
    NotImplementedError, RuntimeError,
)  # fmt: skip
_DEPTH = 3


class Broken(InputError):
    """A file that is not what it should be; the same file from elsewhere may be."""


def extract(name: str, kind: str, data: bytes, wanted: Sequence[Member]) -> Contents:
    """Return the wanted members of one file.

    Args:
        name: what to call the file in messages.
        kind: its container, see workflow/datasets.yaml.
        data: its bytes.
        wanted: the members to take out; each must be there in full number.

    Returns:
        For each member's name, the bytes of every file that goes by it. The key of such a file
        is as many of its last path components as the member's name has.

    Raises:
        Broken: it is not of this kind, truncated or damaged, or a member is missing.
    """
    if not data.startswith(_FIRST_BYTES[kind]):
        raise Broken(f"{name} is no {kind} file")
    try:
        contents = select(_entries(name, kind, data), wanted)
    except DAMAGE:
        raise Broken(f"{name} is truncated or damaged") from None
    for member in wanted:
        found = len(contents[member.name])
        if found != member.count:
            holds = f"{found} of the {member.count} files" if member.count > 1 else "no file"
            raise Broken(f"{name} holds {holds} {member.name}")
    return contents


def check_data(name: str, data: bytes) -> None:
    """Raise Broken if a file is empty or a web page, such as a log-in or error page."""
    if not data:
        raise Broken(f"{name} is empty")
    if data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_WEB_PAGE):
        raise Broken(f"{name} is a web page instead of data")


def select(entries: Iterable[Entry], wanted: Sequence[Member]) -> Contents:
    """Return the bytes of the entries that match a wanted member, as :func:`extract` does.

    Raises:
        Broken: two entries of one name differ.
    """
    contents: Contents = {member.name: {} for member in wanted}
    # Joined components have as many slashes as the name has, so that no * reaches over one.
    patterns = [
        (contents[name], len(PurePosixPath(name).parts), re.compile(fnmatch.translate(name)).match)
        for name in contents
    ]
    for entry, read in entries:
        parts = PurePosixPath(entry).parts
        for found, depth, matches in patterns:
            key = "/".join(parts[-depth:])
            if len(parts) >= depth and matches(key):
                data = read()
                if found.setdefault(key, data) != data:
                    raise Broken(f"there are two different files {key}")
    return contents


def _entries(name: str, kind: str, data: bytes, depth: int = 0) -> Iterator[Entry]:
    """Yield path and reader of every file in a container, and in containers inside it."""
    if kind == "zip":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    read = functools.partial(archive.read, entry)
                    yield from _opened(entry.filename, read, depth)
    elif kind in ("tar.gz", "tar.xz"):
        uncompressed = gzip.open if kind == "tar.gz" else lzma.open
        with uncompressed(io.BytesIO(data)) as stream:
            with tarfile.open(fileobj=stream) as archive:
                for item in archive:
                    if content := archive.extractfile(item):
                        yield from _opened(item.name, content.read, depth)
            # The checksum comes after the last member.
            while stream.read(2**20):
                pass
    elif kind == "gz":
        inner = functools.partial(gzip.decompress, data)
        yield from _opened(name.removesuffix(".gz"), inner, depth)
    else:
        yield name, lambda: data


def _opened(path: str, read: Callable[[], bytes], depth: int) -> Iterator[Entry]:
    kind = next((kind for end, kind in _SUFFIXES.items() if path.lower().endswith(end)), None)
    if kind is None or depth == _DEPTH:
        yield path, read
        return
    for inner, inner_read in _entries(PurePosixPath(path).name, kind, read(), depth + 1):
        yield f"{path}/{inner}", inner_read
