"""The original files of a data set, from a mirror folder or by download, and their members."""

from __future__ import annotations

import fnmatch
import glob
import gzip
import os
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast
from urllib.parse import urlsplit

from matrixdp.checks import InputError, as_input_error, why
from reproduction.data.datasets import File, Spec

#: Seconds to connect to an address, and to wait for its next bytes.
TIMEOUT = (6.0, 20.0)

_REMEDY = "try again later, or name a folder that has the files as data.mirror"


class Unreachable(InputError):
    """The network does not answer."""


class Mismatch(InputError):
    """A file or its records do not match their checksum."""


@dataclass(frozen=True)
class Original:
    """A file with the right checksum; ``source`` is its address, ``mirror``, or ``path``."""

    path: Path
    source: str
    sha256: str


def fetch(
    spec: Spec, folder: str | os.PathLike, mirror: str | os.PathLike | None = None
) -> list[Original]:
    """Return the files of a data set, each with the checksum of workflow/datasets.yaml.

    Args:
        spec: the data set.
        folder: folder of the downloads; a right file in it is not downloaded again.
        mirror: a folder that is searched first, with its subfolders, for the files' names.

    Raises:
        Unreachable: no mirror is named, and no address of a file can be reached.
        Mismatch: a checksum is wrong, in the mirror or of a download.
        InputError: the mirror is no folder, or neither it nor an address has a file.
    """
    if mirror is not None and not Path(mirror).is_dir():
        raise InputError(
            f"data.mirror is {os.fspath(mirror)!r}, which is no folder; correct it or leave it out"
        )
    originals = []
    for file in spec.files:
        copy = _at_path(spec, file) if file.path else None
        if mirror is not None and not copy:
            copy = _search(file, Path(mirror))
        try:
            originals.append(copy or _download(spec, file, Path(folder)))
        except Unreachable as error:
            if mirror is None:
                raise
            raise InputError(f"data.mirror {os.fspath(mirror)!r} lacks a file: {error}") from None
    return originals


def members(originals: Iterable[Original], patterns: Sequence[str]) -> dict[str, bytes]:
    """Return the content of plain and ``.gz`` files, and of files in archives, by name.

    Only the files of an archive that match one of the patterns are returned. Their names have as
    many path components as the pattern. Archives are read as streams, without unpacking to disk.
    """
    contents: dict[str, bytes] = {}
    for path in (original.path for original in originals):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for entry in archive.namelist():
                    if name := _matching(entry, patterns):
                        contents[name] = archive.read(entry)
        elif path.stem.endswith(".tar"):
            with tarfile.open(path, "r|*") as stream:
                for item in stream:
                    if item.isfile() and (name := _matching(item.name, patterns)):
                        contents[name] = cast(IO[bytes], stream.extractfile(item)).read()
        elif path.suffix == ".gz":
            contents[path.stem] = gzip.decompress(path.read_bytes())
        else:
            contents[path.name] = path.read_bytes()
    return contents


def _matching(entry: str, patterns: Sequence[str]) -> str | None:
    """Return the last components of a path in an archive that match a pattern, or None."""
    parts = entry.split("/")
    names = ("/".join(parts[-pattern.count("/") - 1 :]) for pattern in patterns)
    pairs = zip(names, patterns, strict=True)
    return next((name for name, pattern in pairs if fnmatch.fnmatchcase(name, pattern)), None)


def _at_path(spec: Spec, file: File) -> Original:
    """Return a file of this machine.

    Raises:
        Mismatch: its checksum is wrong.
        InputError: it cannot be read.
    """
    import pooch

    path = Path(file.path).expanduser()
    with as_input_error(f"{path} of data set {spec.name} cannot be read ({{why}}); correct path"):
        sha256 = pooch.file_hash(path)
    if file.names.get(sha256) != path.name:
        raise Mismatch(f"{_mismatch(path, sha256, file)}; correct path or sha256 in datasets.yaml")
    return Original(path, "path", sha256)


def _search(file: File, mirror: Path) -> Original | None:
    """Return a file of a mirror, or a copy of it, or None.

    Raises:
        Mismatch: it has files of these names, and none has a right checksum.
    """
    import pooch

    paths = (
        mirror / path
        for name in dict.fromkeys(file.names.values())
        for path in sorted(glob.glob(f"**/{glob.escape(name)}", root_dir=mirror, recursive=True))
    )
    wrong = ""
    # Reading a pipe or a device might never end.
    for path in filter(Path.is_file, paths):
        with as_input_error(f"{path} in data.mirror cannot be read ({{why}}); make it readable"):
            sha256 = pooch.file_hash(path)
        if file.names.get(sha256) == path.name:
            return Original(path, "mirror", sha256)
        wrong = wrong or _mismatch(path, sha256, file)
    if wrong:
        raise Mismatch(f"{wrong}; replace it in data.mirror, or take it away to download it")
    return None


def _download(spec: Spec, file: File, folder: Path) -> Original:
    """Return a file from the first of its addresses that has it.

    Raises:
        Unreachable: no address can be reached.
        Mismatch: the checksum of a download is wrong.
        InputError: no address has the file, or the folder cannot be written.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    # Decompression by the client would change the bytes of a .gz file.
    downloader = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(), timeout=TIMEOUT, headers={"Accept-Encoding": "identity"}
    )
    stored = folder / file.name
    # A file of an earlier entry is downloaded anew.
    if stored.is_file() and pooch.file_hash(stored) not in file.names:
        stored.unlink()
    failures: list[str] = []
    reachable = False
    for url in file.urls:
        try:
            pooch.retrieve(url, None, file.name, folder, downloader=downloader)
        except (requests.ConnectionError, requests.Timeout):
            failures.append(f"{urlsplit(url).hostname} cannot be reached")
        except requests.RequestException as error:
            reachable = True
            answer = error.response
            what = "breaks off" if answer is None else f"answers {answer.status_code}"
            failures.append(f"{url} {what}")
        except OSError as error:
            raise InputError(
                f"{stored} cannot be written ({why(error)}); free some space or choose "
                "a folder that you may write to"
            ) from error
        else:
            if file.names.get(sha256 := pooch.file_hash(stored)) == file.name:
                return Original(stored, url, sha256)
            stored.unlink()
            raise Mismatch(f"{_mismatch(url, sha256, file)}; {_REMEDY}")
    if not file.urls:
        raise InputError(
            f"{file.name} of data set {spec.name} has no addresses; name its path in "
            "datasets.yaml, or a folder that has it as data.mirror"
        )
    error_type = InputError if reachable else Unreachable
    reasons = ", ".join(dict.fromkeys(failures))
    raise error_type(
        f"{file.name} of data set {spec.name} cannot be downloaded ({reasons}); {_REMEDY}"
    )


def _mismatch(place: object, sha256: str, file: File) -> str:
    return f"{place} has the sha256 {sha256} where {' or '.join(file.names)} is expected"
