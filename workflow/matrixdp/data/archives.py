"""Finding members in containers: zip, tar and gz at any depth, or a plain file."""

from __future__ import annotations

import fnmatch
import functools
import gzip
import hashlib
import io
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import IO, Any, cast

from matrixdp.checks import InputError, said
from matrixdp.data.datasets import Member

Entry = tuple[str, Callable[[], bytes]]
Contents = dict[str, dict[str, bytes]]
Stream = IO[bytes] | gzip.GzipFile | lzma.LZMAFile

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
#: What one file may unpack to, with all that is packed in it: bytes.
LIMIT = 2**29
_DEPTH = 3


class Broken(InputError):
    """A file that is not what it should be; the same file from elsewhere may be."""


class Meter:
    """Counts what one file unpacks to, with all that is packed in it."""

    def __init__(self, name: str) -> None:
        self.name, self.left = name, LIMIT

    def read(self, stream: Stream, size: int | None = None) -> bytes:
        """Return the next ``size`` bytes of a stream, or all that are left.

        Raises:
            Broken: that is more than ``LIMIT`` in all.
        """
        data = stream.read(self.left + 1 if size is None else size)
        self.left -= len(data)
        if self.left < 0:
            raise Broken(f"{self.name} unpacks to more than {LIMIT >> 20} MiB")
        return data


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
        Broken: it is not of this kind, truncated or damaged, unpacks to more than ``LIMIT``, or a
            member is missing.
    """
    if not data.startswith(_FIRST_BYTES[kind]):
        raise Broken(f"{name} is no {kind} file")
    with said(f"{name} is truncated or damaged", Broken):
        contents = select(_entries(name, kind, data, Meter(name)), wanted)
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


def sha256(data: bytes) -> str:
    """Return the checksum that all files are checked by."""
    return hashlib.sha256(data).hexdigest()


def select(entries: Iterable[Entry], wanted: Sequence[Member]) -> Contents:
    """Return the bytes of the entries that match a wanted member, as :func:`extract` does.

    Of entries of one name that differ, the one with the member's checksum is taken.

    Raises:
        Broken: two entries of one name differ, and no checksum says which is right.
    """
    contents: Contents = {member.name: {} for member in wanted}
    # Joined components have as many slashes as the name has, so that no * reaches over one.
    patterns = [
        (one, len(PurePosixPath(one.name).parts), re.compile(fnmatch.translate(one.name)).match)
        for one in wanted
    ]
    first: dict[str, str] = {}
    for entry, read in entries:
        parts = PurePosixPath(entry).parts
        for member, depth, matches in patterns:
            key, found = "/".join(parts[-depth:]), contents[member.name]
            if len(parts) >= depth and matches(key):
                data = read()
                if found.setdefault(key, data) == data:
                    first.setdefault(key, entry)
                elif member.sha256 is None:
                    both = f"{first[key]} and {entry}"
                    raise Broken(f"there are two different files {key}, {both}")
                elif sha256(data) == member.sha256:
                    found[key] = data
    return contents


def _entries(name: str, kind: str, data: bytes, meter: Meter, depth: int = 0) -> Iterator[Entry]:
    """Yield path and reader of every file in a container, and in containers inside it."""
    if kind == "zip":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    read = functools.partial(_unpacked, meter, archive.open, entry)
                    yield from _opened(entry.filename, read, meter, depth)
    elif kind in ("tar.gz", "tar.xz"):
        uncompressed = gzip.open if kind == "tar.gz" else lzma.open
        with uncompressed(io.BytesIO(data)) as stream:
            metered = SimpleNamespace(read=functools.partial(meter.read, stream))
            with tarfile.open(fileobj=metered, mode="r|") as archive:
                for item in archive:
                    # A link is no file, and a sparse one can be of any size.
                    if item.isreg() and not item.issparse():
                        content = cast(IO[bytes], archive.extractfile(item))
                        yield from _opened(item.name, content.read, meter, depth)
            # The checksum comes after the last member.
            while metered.read(2**20):
                pass
    elif kind == "gz":
        read = functools.partial(_unpacked, meter, gzip.open, io.BytesIO(data))
        yield from _opened(name.removesuffix(".gz"), read, meter, depth)
    else:
        yield name, lambda: data


def _unpacked(meter: Meter, open: Callable[..., Any], packed: object) -> bytes:
    with open(packed) as stream:
        return meter.read(stream)


def _opened(path: str, read: Callable[[], bytes], meter: Meter, depth: int) -> Iterator[Entry]:
    kind = next((kind for end, kind in _SUFFIXES.items() if path.lower().endswith(end)), None)
    if kind is None or depth == _DEPTH:
        yield path, read
        return
    for inner, inner_read in _entries(PurePosixPath(path).name, kind, read(), meter, depth + 1):
        yield f"{path}/{inner}", inner_read
