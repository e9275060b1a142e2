"""The original files of a data set by name and checksum: in a mirror folder, or downloaded."""

from __future__ import annotations

import collections
import hashlib
import itertools
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import unquote, urlsplit

from matrixdp.checks import InputError, why
from reproduction.data import archives
from reproduction.data.archives import ArchiveEntry
from reproduction.data.datasets import Spec

#: Seconds to connect to an address, and to wait for its next bytes.
TIMEOUT = (6.0, 20.0)

#: Of files of the right names and other content, so many choices are read.
_CHOICES = 16

_REMEDY = "try again later, or name a folder that has the files as data.mirror"


class Unreachable(InputError):
    """The network does not answer."""


class Mismatch(InputError):
    """A file or its records do not match their checksum."""


@dataclass(frozen=True)
class Original:
    """A file that has content of a data set, an archive for example, or an unpacked folder.

    ``source`` is its address, or ``mirror``. ``sha256`` is that of the file as it is, or
    of the folder's files one after the other.
    """

    path: Path
    source: str
    sha256: str


@dataclass(frozen=True)
class Files:
    """The originals of a data set, its members by name, and what ``read`` makes of these."""

    originals: list[Original]
    members: Mapping[str, bytes]
    records: Any


def fetch(
    spec: Spec,
    folder: str | os.PathLike,
    mirror: str | os.PathLike | None = None,
    read: Callable[[Mapping[str, bytes]], Any] | None = None,
) -> Files:
    """Return the files of a data set, as they are or in an archive.

    Args:
        spec: the data set.
        folder: folder of the downloads; a right file in it is not downloaded again.
        mirror: a folder that is searched first, with its subfolders.
        read: makes records of members, or raises an error if they are not the data set's. Without
            it only checksums of files count.

    Raises:
        Unreachable: no mirror is named, and no address of a file can be reached.
        Mismatch: the mirror, or all that can be reached, has other content.
        InputError: the mirror is no folder, or neither it nor an address has a file.
    """
    search = _Search(spec, read if spec.sha256 else None)
    if mirror is not None:
        if not Path(mirror).is_dir():
            raise InputError(
                f"data.mirror is {os.fspath(mirror)!r}, which is no folder; correct it or leave it "
                "out"
            )
        search.look(archives.walk(mirror), "mirror")
        search.settle("replace it in data.mirror, or take it away to download it")
    for file in search.missing:
        try:
            _download(search, file, Path(folder))
        except Unreachable as error:
            if mirror is None:
                raise
            raise InputError(f"data.mirror {os.fspath(mirror)!r} lacks a file: {error}") from None
    search.settle(_REMEDY)
    if read and search.records is None:
        try:
            search.records = read(search.members)
        except Mismatch as error:
            raise Mismatch(
                f"the files of data set {spec.name} hold {error}; correct its reader or its entry "
                "in datasets.yaml"
            ) from None
    originals = dict.fromkeys(search.right[file] for file in spec.files)
    return Files([*originals], search.members, search.records)


class _Search:
    """What has turned up of a data set.

    A file counts by its name and its SHA-256, also in an archive. Where ``spec.members`` has
    patterns, and for files of the right names and other content, the records that ``read`` makes of
    them decide.

    Attributes:
        members: content for the reader, by name.
        right: by file of the data set, where its content lies.
        wrong: by file of the data set, what other content there is.
        candidates: by file of the data set, content that only the records can tell to be right.
    """

    def __init__(self, spec: Spec, read: Callable[[Mapping[str, bytes]], Any] | None) -> None:
        self.spec, self.read, self.patterns = spec, read, spec.members or []
        self.records: Any = None
        self.members: dict[str, bytes] = {}
        self.right: dict[str, Original] = {}
        self.wrong: dict[str, list[str]] = collections.defaultdict(list)
        self.candidates: dict[str, list[tuple[bytes, Original]]] = collections.defaultdict(list)

    @property
    def missing(self) -> list[str]:
        """The files of the data set whose content has not turned up."""
        return [file for file in self.spec.files if file not in self.right]

    def look(self, paths: Collection[Path], source: str, file: str | None = None) -> None:
        """Take files as they are, and if that does not do, what archives among them have.

        Args:
            paths: files.
            source: see :class:`Original`.
            file: what a single path stands for, under whatever name.
        """
        take = self._take_members if self.patterns else self._take_files
        take(((path, archives.read_plain(path)) for path in paths), source, file)
        packed = [path for path in paths if file or archives.is_packed(path)]
        for path in sorted(packed, key=self._likeness, reverse=True):
            if not self.missing:
                return
            try:
                take(((path, entry) for entry in archives.unpack(path, file)), source, None)
            except archives.BROKEN as error:
                self._refuse(path, source, f"cannot be unpacked ({why(error)})", file)
            for pattern in self.patterns[:1]:
                if not self.wrong[next(iter(self.spec.files))]:
                    self._refuse(path, source, f"has no {pattern}", file)

    def settle(self, remedy: str) -> None:
        """Let the records decide on other content.

        Raises:
            Mismatch: they are not the right ones.
        """
        missing = self.missing
        if not any(self.wrong[file] for file in missing):
            return
        choices = itertools.product(*(self.candidates[file] for file in missing))
        for choice in itertools.islice(choices, _CHOICES) if self.read else ():
            pairs = list(zip(missing, choice, strict=True))
            if not self._differ(members := {file: data for file, (data, _) in pairs}):
                self.members |= members
                self.right |= {file: original for file, (_, original) in pairs}
                return
        reasons = (reason for file in missing for reason in self.wrong[file])
        raise Mismatch(f"{', '.join(dict.fromkeys(reasons))}; {remedy}")

    def _take_files(
        self, entries: Iterable[tuple[Path, ArchiveEntry]], source: str, file: str | None
    ) -> None:
        for path, entry in entries:
            name = file or PurePath(entry.name).name
            if name not in self.missing:
                continue
            if (entry.size or 0) > archives.LARGEST:
                self._refuse_huge(path, entry, source, name)
                continue
            try:
                data = entry.read()
            except archives.BROKEN as error:
                self.wrong[name].append(_unreadable(path, entry, source, error))
                continue
            digest = hashlib.sha256(data).hexdigest()
            if digest == (expected := self.spec.files[name].sha256):
                self.members[name], self.right[name] = data, _original(path, source)
            else:
                self.candidates[name].append((data, _original(path, source)))
                self.wrong[name].append(
                    f"{_place(path, source)} has the sha256 {digest} where {expected} is expected"
                )
            if not self.missing:
                return

    def _take_members(
        self, entries: Iterable[tuple[Path, ArchiveEntry]], source: str, file: str | None
    ) -> None:
        """Take the first folder, in an archive or unpacked, whose members give the records."""
        groups: dict[tuple[Path, str], dict[str, bytes]] = collections.defaultdict(dict)
        for path, entry in entries:
            name = archives.match_end(entry.name, self.patterns)
            if name and (entry.size or 0) > archives.LARGEST:
                self._refuse_huge(path, entry, source, next(iter(self.spec.files)))
            elif name:
                base = entry.name.removesuffix(name)
                unpacked = path.as_posix() == entry.name
                try:
                    groups[Path(base) if unpacked else path, base][name] = entry.read()
                except archives.BROKEN as error:
                    self.wrong[next(iter(self.spec.files))].append(
                        _unreadable(path, entry, source, error)
                    )
                    return
        (file,) = self.spec.files
        for (path, _), members in groups.items():
            original = _original(path, source, members)
            if reason := self._differ(members, original.sha256):
                self._refuse(path, source, f"has {reason}", file)
            else:
                self.members, self.right[file] = members, original
                return

    def _differ(self, members: Mapping[str, bytes], sha256: str = "") -> str:
        """Return what is wrong with members, or nothing."""
        if self.read is None:
            (expected,) = (about.sha256 for about in self.spec.files.values())
            wrong = sha256 != expected
            return f"the sha256 {sha256} where {expected} is expected" if wrong else ""
        try:
            self.records = self.read({**self.members, **members})
        except Mismatch as error:
            return str(error)
        except Exception as error:  # a reader may raise anything over other content
            return f"content that cannot be read ({why(error)})"
        return ""

    def _refuse(self, path: Path, source: str, reason: str, file: str | None) -> None:
        """Note what is wrong with a file, if it stands for one of the data set."""
        for each in self.missing:
            if each in (file, path.name, path.stem):
                self.wrong[each].append(f"{_place(path, source)} {reason}")

    def _refuse_huge(self, path: Path, entry: ArchiveEntry, source: str, name: str) -> None:
        """Note that what stands for a file of the data set is too large to be it."""
        self.wrong[name].append(
            f"{PurePath(entry.name).name} of {_place(path, source)} has {entry.size} bytes, more "
            f"than the {archives.LARGEST} that are read"
        )

    def _likeness(self, path: Path) -> float:
        """Return how alike names are: the archive that is meant is opened first."""
        names = [self.spec.name, *self.spec.files]
        return max(SequenceMatcher(None, path.name, name).ratio() for name in names)


def _original(path: Path, source: str, members: Mapping[str, bytes] | None = None) -> Original:
    """Return a file, or the folder of ``members``."""
    if path.is_dir():
        content = b"".join(data for _, data in sorted((members or {}).items()))
        return Original(path, source, hashlib.sha256(content).hexdigest())
    with path.open("rb") as stream:
        return Original(path, source, hashlib.file_digest(stream, "sha256").hexdigest())


def _unreadable(path: Path, entry: ArchiveEntry, source: str, error: Exception) -> str:
    """Return what is wrong with a file, or with an archive that has it: damaged, or encrypted."""
    verb = "read" if entry.name == path.as_posix() else "unpacked"
    return f"{_place(path, source)} cannot be {verb} ({why(error)})"


def _fault_of_host(url: str, error: OSError) -> str:
    """Return which variable of this machine stops a download, and what to do; nothing for none.

    A proxy's address is not shown, which may have a password.
    """
    import requests

    if error.errno is None and not isinstance(error, requests.RequestException):
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            bundle = os.environ.get(name)
            if bundle and not os.path.exists(bundle):
                return f"{name} is {bundle!r}, which is no file; correct or unset it"
    if isinstance(error, requests.exceptions.InvalidSchema | requests.exceptions.InvalidURL):
        variables = [f"{kind}_proxy" for kind in (urlsplit(url).scheme, "all")]
        for name in (each for lower in variables for each in (lower, lower.upper())):
            if os.environ.get(name):
                if "SOCKS" in str(error):
                    return (
                        f"{name} names a SOCKS proxy, for which the package PySocks is missing; "
                        "name one of http://, or install that package into .venv"
                    )
                return f"{name} is no address of a proxy, as http://host:3128 is; correct it"
    return ""


def _place(path: Path, source: str) -> str:
    return source if "://" in source else str(path)


def _download(search: _Search, file: str, folder: Path) -> None:
    """Look in what a file's addresses have, one after the other, until it turns up.

    Raises:
        Unreachable: no address can be reached.
        Mismatch: an address has other content, and none has the right one.
        InputError: no address has the file, or the folder cannot be written.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    # Decompression by the client would change the bytes of a .gz file.
    downloader = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(), timeout=TIMEOUT, headers={"Accept-Encoding": "identity"}
    )
    urls = search.spec.files[file].urls or []
    places = {url: folder / PurePath(unquote(urlsplit(url).path)).name for url in urls}
    failures: list[str] = []
    # Other content is never a reason to simulate.
    severity = 2 if any(search.candidates.values()) else 0
    # What an earlier run has stored comes first; a wrong file is downloaded anew.
    for url, stored in sorted(places.items(), key=lambda item: not item[1].is_file()):
        host = urlsplit(url).hostname
        if stored.is_file():
            search.look([stored], url, file)
            if file not in search.missing:
                return
            stored.unlink()
            search.wrong.pop(file, None)
            search.candidates.pop(file, None)
        try:
            pooch.retrieve(url, None, stored.name, folder, downloader=downloader)
        except requests.exceptions.SSLError:
            severity = max(severity, 1)
            failures.append(
                f"{host} has a certificate that is not trusted here (name those of your network in "
                "REQUESTS_CA_BUNDLE)"
            )
        except (requests.ConnectionError, requests.Timeout) as error:
            # A proxy that answers is another matter than no network.
            answer = re.search(r"Tunnel connection failed: (\d+[^'\")]*)", str(error))
            severity = max(severity, int(bool(answer)))
            failures.append(
                f"the proxy answers {answer[1]} (see HTTPS_PROXY)"
                if answer
                else f"{host} cannot be reached"
            )
        except requests.RequestException as error:
            if fault := _fault_of_host(url, error):
                raise InputError(fault) from error
            severity = max(severity, 1)
            response = error.response
            failures.append(
                f"{url} breaks off"
                if response is None
                else f"the proxy answers 407 {response.reason} (see HTTP_PROXY)"
                if response.status_code == 407
                else f"{url} answers {response.status_code}"
            )
        except OSError as error:
            if fault := _fault_of_host(url, error):
                raise InputError(fault) from error
            if error.errno is None:
                # Of the client, as without its file of certificates; writing fails with a number.
                severity = max(severity, 1)
                failures.append(f"{host} cannot be asked ({why(error)})")
                continue
            raise InputError(
                f"{stored} cannot be written ({why(error)}); free some space or choose "
                "a folder that you may write to"
            ) from error
        else:
            search.look([stored], url, file)
            if file not in search.missing:
                return
            stored.unlink()
            severity = 2
            failures += search.wrong.pop(file)
    if not urls:
        raise InputError(
            f"{file} of data set {search.spec.name} has no addresses; name a folder that has it as "
            "data.mirror"
        )
    if search.candidates[file]:
        search.wrong[file] = failures
        return
    reasons = ", ".join(dict.fromkeys(failures))
    raise (Unreachable, InputError, Mismatch)[severity](
        f"{file} of data set {search.spec.name} cannot be downloaded ({reasons}); {_REMEDY}"
    )
