"""Getting the members of a data set from a mirror folder, or from an address that has them."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NoReturn
from urllib.parse import urlsplit

from matrixdp.checks import InputError, said, why
from matrixdp.data import archives
from matrixdp.data.archives import Broken, Contents, sha256
from matrixdp.data.datasets import File, Member, Spec
from matrixdp.files import replacing

_MIRROR_HINT = "or name a folder that has the files as data.mirror"


class Unreachable(InputError):
    """The network gave no answer at all."""


class Lacking(InputError):
    """The mirror that was named lacks a file, and no address could be reached either."""


class Mismatch(InputError):
    """A file's content is not the one that its checksum stands for."""


class _Late(Unreachable):
    """All the time that there was is over."""


class _Interrupted(Broken):
    """An answer that broke off, or asked to try again later."""


@dataclass(frozen=True)
class Network:
    """How hard to try.

    Attributes:
        attempts: per address.
        connect, silence: seconds to connect, and to wait for the next bytes.
        pause: seconds after a first failed attempt; after the next one twice as many.
        whole: seconds for one address with all attempts, also where bytes drip in.
    """

    attempts: int = 3
    connect: float = 6
    silence: float = 20
    pause: float = 1
    whole: float = 1200


PATIENT = Network()
HASTY = Network(attempts=1, connect=3, silence=10, whole=60)


@dataclass(frozen=True)
class Origin:
    """Where members came from.

    Attributes:
        file: name of the file, or of the members if they lay there one by one.
        source: its address, or ``mirror``.
        sha256: of the file; None for several.
        path: where the download is kept; None in a mirror.
    """

    file: str
    source: str
    sha256: str | None
    path: Path | None = None


@dataclass(frozen=True)
class Fetched:
    """What has been found by the name of its member (see :func:`archives.extract`), and where."""

    contents: Contents = field(default_factory=dict)
    origins: list[Origin] = field(default_factory=list)

    @property
    def members(self) -> dict[str, bytes]:
        """The bytes of every file of all members by its name."""
        return {name: data for found in self.contents.values() for name, data in found.items()}

    def lacks(self, members: Iterable[Member]) -> list[Member]:
        """Return those of the members that have not been found."""
        return [member for member in members if member.name not in self.contents]


def fetch(
    spec: Spec,
    folder: str | os.PathLike,
    mirror: str | os.PathLike | None = None,
    *,
    network: Network = PATIENT,
) -> Fetched:
    """Return the members of a data set, checked.

    Args:
        spec: the data set.
        folder: where downloads are kept; a file that is there already is checked and used.
        mirror: a folder that is looked in first, with all its subfolders, for the files by name
            and for the members by name, also with ``.gz`` behind it.
        network: how hard to try.

    Raises:
        Unreachable: no mirror is named and no address could be reached.
        Lacking: the mirror lacks a file and no address could be reached.
        Mismatch: a checksum differs; a download is then renamed to end in ``.rejected``.
        InputError: the mirror is no folder or has a bad file, or no address gave what is needed.
    """
    found = Fetched()
    searched = "" if mirror is None else _look_in(Path(mirror), spec, found)
    for member in spec.members:
        if found.lacks([member]):
            try:
                _download_any(member, spec, Path(folder), network, found)
            except Unreachable as error:
                if mirror is None:
                    raise
                raise Lacking(f"{searched}; {error}") from None
    return found


def reject(path: Path) -> str:
    """Set a bad download aside, so that it is not used again, and say so in half a sentence."""
    aside = path.with_name(f"{path.name}.rejected")
    os.replace(path, aside)
    return f"it is kept aside as {aside.name} and not used: try again {_MIRROR_HINT}"


def _missing(spec: Spec, file: File, found: Fetched) -> list[Member]:
    return found.lacks(member for member in spec.members if member.name in file.holds)


def _checked(file: File, data: bytes, wanted: Sequence[Member]) -> Contents:
    """Return the wanted members of a file, all checksums checked."""
    archives.check_data(file.name, data)
    _check(file.name, data, file.sha256)
    found = archives.extract(file.name, file.kind, data, wanted)
    for member in wanted:
        for name, content in found[member.name].items():
            where = name if name == file.name else f"{name} in {file.name}"
            _check(where, content, member.sha256)
    return found


def _check(name: str, data: bytes, expected: str | None) -> None:
    found = sha256(data)
    if expected not in (None, found):
        raise Mismatch(f"{name} has sha256 {found} where {expected} is expected")


def _read(path: Path) -> bytes:
    with said(f"{path} cannot be read ({{why}}); make it readable"):
        return path.read_bytes()


def _look_in(mirror: Path, spec: Spec, found: Fetched) -> str:
    """Add what a mirror has; return what was searched, found and not found, as a sentence says."""
    if not mirror.is_dir():
        raise InputError(
            f"data.mirror is {str(mirror)!r}, which is no folder; correct it or leave it out"
        )
    paths, closed = _walk(mirror)
    for file in spec.files:
        wanted = _missing(spec, file, found)
        versions = [path for path in paths if Path(path).name == file.name]
        if wanted and versions:
            contents, data = _right(file, wanted, {path: _read(mirror / path) for path in versions})
            found.contents.update(contents)
            found.origins.append(Origin(file.name, "mirror", sha256(data)))
    readers = [(p.removesuffix(".gz"), functools.partial(_read_loose, mirror / p)) for p in paths]
    wanted = found.lacks(spec.members)
    with _in_mirror("one of them"):
        loose = archives.select(readers, wanted) if wanted else {}
    for member in wanted:
        files = loose[member.name]
        if len(files) != member.count:
            continue
        for name, data in files.items():
            with _in_mirror(name):
                archives.check_data(name, data)
                _check(name, data, member.sha256)
        found.contents[member.name] = files
        digest = sha256(data) if member.count == 1 else None
        found.origins.append(Origin(member.name, "mirror", digest))
    have, lack = (
        ", ".join(m.name for m in spec.members if (m in found.lacks(spec.members)) == lacking)
        for lacking in (False, True)
    )
    shut = f" and could not open {', '.join(closed)}" if closed else ""
    return (
        f"data.mirror {str(mirror)!r} was searched ({len(paths)} files{shut}): of data set "
        f"{spec.name} it has {have or 'nothing'} and lacks {lack}"
    )


def _walk(mirror: Path) -> tuple[list[str], list[str]]:
    """Return the files below a folder, links followed, and what could not be looked into."""
    paths: list[str] = []
    closed: list[str] = []
    seen = set()
    for folder, below, names in os.walk(
        mirror, followlinks=True, onerror=lambda error: closed.append(str(error.filename))
    ):
        if (place := os.path.realpath(folder)) in seen:
            below.clear()
        seen.add(place)
        for name in names:
            path = Path(folder, name)
            # Reading a pipe or a device could last for ever.
            (paths if path.is_file() else closed).append(path.relative_to(mirror).as_posix())
    return sorted(set(paths)), sorted(closed)


def _right(
    file: File, wanted: Sequence[Member], versions: Mapping[str, bytes]
) -> tuple[Contents, bytes]:
    """Return members and bytes of the version of a file that is right, by its path in a mirror."""
    good: dict[str, Contents] = {}
    failures: list[InputError] = []
    for path, data in versions.items():
        try:
            with _in_mirror(path):
                good[path] = _checked(file, data, wanted)
        except (Mismatch, Broken) as error:
            failures.append(error)
    if not good:
        raise failures[0]
    path, *others = good
    for other in others:
        if good[other] != good[path]:
            raise Broken(f"{path} and {other} differ; leave the right one in data.mirror")
    return good[path], versions[path]


@contextlib.contextmanager
def _in_mirror(path: str) -> Iterator[None]:
    """Say of an error that the file in the mirror is to be replaced."""
    try:
        yield
    except (Mismatch, Broken) as error:
        if "data.mirror" in str(error):
            raise
        raise type(error)(f"{error}; replace {path} in data.mirror") from None


def _read_loose(path: Path) -> bytes:
    data = _read(path)
    if path.suffix != ".gz":
        return data
    with _in_mirror(path.name):
        return archives.extract(path.name, "gz", data, [Member(path.stem)])[path.stem][path.stem]


def _download_any(
    member: Member, spec: Spec, folder: Path, network: Network, found: Fetched
) -> None:
    """Add a member, and what comes with it, from the first address that has it."""
    failures: list[InputError] = []
    for file in spec.files:
        if file.url is None or member.name not in file.holds:
            continue
        path = folder / file.name
        try:
            if not path.is_file():
                _download(file.url, path, network)
            data = _read(path)
            found.contents.update(_checked(file, data, _missing(spec, file, found)))
        except Mismatch as error:
            raise Mismatch(f"{error} (from {file.url}); {reject(path)}") from None
        except (Broken, Unreachable) as error:
            if isinstance(error, Broken) and path.is_file():
                reject(path)
            failures.append(error)
        else:
            found.origins.append(Origin(file.name, file.url, sha256(data), path))
            return
    reasons = ", ".join(dict.fromkeys(str(failure) for failure in failures)) or "no address known"
    nothing = all(isinstance(failure, Unreachable) for failure in failures) and failures
    raise (Unreachable if nothing else InputError)(
        f"{member.name} of data set {spec.name} cannot be had ({reasons}); try again later "
        f"{_MIRROR_HINT}"
    )


def _download(url: str, path: Path, network: Network) -> None:
    """Download to ``path`` in one step, trying again where that may help."""
    with _within(network.whole, urlsplit(url).hostname):
        for attempt in range(1, network.attempts + 1):
            try:
                _download_once(url, path, network)
                return
            except (Unreachable, _Interrupted) as error:
                if attempt == network.attempts or isinstance(error, _Late):
                    raise
                print(f"{error}: trying again", file=sys.stderr)
                time.sleep(network.pause * attempt)


@contextlib.contextmanager
def _within(seconds: float, host: str | None) -> Iterator[None]:
    """Give up after so many seconds, whatever is being waited for (in the main thread)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> NoReturn:
        raise _Late(f"{host} gives too few bytes in {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _Limited:
    """A file that takes ``archives.LIMIT`` bytes at most, for a server that never ends."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name = file, name
        self.flush = file.flush

    def write(self, data: bytes) -> None:
        self._file.write(data)
        if self._file.tell() > archives.LIMIT:
            raise Broken(f"{self._name} is larger than {archives.LIMIT >> 20} MiB")


def _download_once(url: str, path: Path, network: Network) -> None:
    import pooch
    import requests

    download = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(),
        chunk_size=2**16,
        timeout=(network.connect, network.silence),
        # Compression on the way would hide a truncated body and undo the one of a .gz file.
        headers={"Accept-Encoding": "identity"},
    )
    host, name = urlsplit(url).hostname, path.name
    with replacing(path) as temporary, open(temporary, "wb") as file:
        try:
            download(url, _Limited(file, name), None)
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else 500
            kind = _Interrupted if status >= 500 or status == 429 else Broken
            raise kind(f"{url} answers {status}") from None
        except requests.exceptions.ChunkedEncodingError:
            raise _Interrupted(f"{name} from {host} is truncated") from None
        except (requests.ConnectionError, requests.Timeout) as error:
            # A server that falls silent in mid file is called a failed connection, too.
            silent = isinstance(error, requests.Timeout) or "timed out" in str(error)
            what = "does not answer in time" if silent else "cannot be reached"
            raise Unreachable(f"{host} {what}") from None
        except requests.RequestException as error:
            raise Broken(f"{url} cannot be used ({type(error).__name__})") from None
        except (OSError, InputError):
            raise
        except Exception as error:
            raise Broken(f"{url} cannot be used ({why(error)})") from error
