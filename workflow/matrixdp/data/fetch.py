"""Getting the members of a data set from a mirror folder, or from an address that has them."""

from __future__ import annotations

import functools
import gzip
import hashlib
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from matrixdp.checks import InputError
from matrixdp.data import archives
from matrixdp.data.archives import Broken, Contents
from matrixdp.data.datasets import File, Member, Spec
from matrixdp.files import replacing

_MIRROR_HINT = "or name a folder that has the files as data.mirror"


class Unreachable(InputError):
    """The network gave no answer at all."""


class Mismatch(InputError):
    """A file's content is not the one that its checksum stands for."""


class _Interrupted(Broken):
    """An answer that broke off, or asked to try again later."""


@dataclass(frozen=True)
class Network:
    """How hard to try: attempts per address, seconds to connect and to wait for the next bytes."""

    attempts: int = 3
    connect: float = 6
    silence: float = 60
    pause: float = 1


PATIENT = Network()
HASTY = Network(attempts=1, connect=3, silence=20)


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
    """The bytes of every member by its name (see :func:`archives.extract`), and their origins."""

    members: dict[str, bytes]
    origins: tuple[Origin, ...]


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
        Unreachable: no address could be reached.
        Mismatch: a checksum differs; a download is then renamed to end in ``.rejected``.
        InputError: the mirror is no folder or has a bad file, or no address gave what is needed.
    """
    contents: Contents = {}
    origins: list[Origin] = []
    if mirror is not None:
        _look_in(Path(mirror), spec, contents, origins)
    for member in spec.members:
        if member.name not in contents:
            _download_any(member, spec, Path(folder), network, contents, origins)
    members = {name: data for found in contents.values() for name, data in found.items()}
    return Fetched(members, tuple(origins))


def reject(path: Path) -> str:
    """Set a bad download aside, so that it is not used again, and say so in half a sentence."""
    aside = path.with_name(f"{path.name}.rejected")
    os.replace(path, aside)
    return f"it is kept aside as {aside.name} and not used: try again {_MIRROR_HINT}"


def _missing(spec: Spec, file: File, contents: Contents) -> list[Member]:
    return [m for m in spec.members if m.name in file.holds and m.name not in contents]


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
    found = _sha256(data)
    if expected not in (None, found):
        raise Mismatch(f"{name} has sha256 {found} where {expected} is expected")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be read ({reason}); make it readable") from error


def _look_in(mirror: Path, spec: Spec, contents: Contents, origins: list[Origin]) -> None:
    if not mirror.is_dir():
        raise InputError(
            f"data.mirror is {str(mirror)!r}, which is no folder; correct it or leave it out"
        )
    paths = sorted(
        Path(folder, name).relative_to(mirror).as_posix()
        for folder, _, names in os.walk(mirror)
        for name in names
    )
    by_name = {Path(path).name: path for path in reversed(paths)}
    for file in spec.files:
        wanted = _missing(spec, file, contents)
        if wanted and file.name in by_name:
            data = _read(mirror / by_name[file.name])
            try:
                contents |= _checked(file, data, wanted)
            except (Mismatch, Broken) as error:
                raise type(error)(f"{error}; replace {by_name[file.name]} in data.mirror") from None
            origins.append(Origin(file.name, "mirror", _sha256(data)))
    _look_for_members(mirror, paths, spec, contents, origins)


def _look_for_members(
    mirror: Path, paths: list[str], spec: Spec, contents: Contents, origins: list[Origin]
) -> None:
    wanted = [member for member in spec.members if member.name not in contents]
    entries = [
        (path.removesuffix(".gz"), functools.partial(_read_loose, mirror / path)) for path in paths
    ]
    loose = archives.select(entries, wanted) if wanted else {}
    for member in wanted:
        found = loose[member.name]
        if len(found) != member.count:
            continue
        for name, data in found.items():
            try:
                archives.check_data(name, data)
                _check(name, data, member.sha256)
            except (Mismatch, Broken) as error:
                raise type(error)(f"{error}; replace {name} in data.mirror") from None
        contents[member.name] = found
        digest = _sha256(data) if member.count == 1 else None
        origins.append(Origin(member.name, "mirror", digest))


def _read_loose(path: Path) -> bytes:
    data = _read(path)
    if path.suffix != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except archives.DAMAGE:
        raise Broken(f"{path.name} is truncated or damaged; replace it in data.mirror") from None


def _download_any(
    member: Member,
    spec: Spec,
    folder: Path,
    network: Network,
    contents: Contents,
    origins: list[Origin],
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
            contents |= _checked(file, data, _missing(spec, file, contents))
        except Mismatch as error:
            raise Mismatch(f"{error} (from {file.url}); {reject(path)}") from None
        except Broken as error:
            if path.is_file():
                reject(path)
            failures.append(error)
        except Unreachable as error:
            failures.append(error)
        else:
            origins.append(Origin(file.name, file.url, _sha256(data), path))
            return
    reasons = ", ".join(dict.fromkeys(str(failure) for failure in failures)) or "no address known"
    nothing = all(isinstance(failure, Unreachable) for failure in failures) and failures
    raise (Unreachable if nothing else InputError)(
        f"{member.name} of data set {spec.name} cannot be had ({reasons}); try again later "
        f"{_MIRROR_HINT}"
    )


def _download(url: str, path: Path, network: Network) -> None:
    """Download to ``path`` in one step, trying again where that may help."""
    for attempt in range(1, network.attempts + 1):
        try:
            _download_once(url, path, network)
            return
        except (Unreachable, _Interrupted):
            if attempt == network.attempts:
                raise
            time.sleep(network.pause * attempt)


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
    with replacing(path) as temporary:
        try:
            download(url, str(temporary), None)
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else 500
            kind = _Interrupted if status >= 500 or status == 429 else Broken
            raise kind(f"{url} answers {status}") from None
        except requests.exceptions.ChunkedEncodingError:
            raise _Interrupted(f"{name} from {host} is truncated") from None
        except requests.Timeout:
            raise Unreachable(f"{host} does not answer in time") from None
        except requests.ConnectionError:
            raise Unreachable(f"{host} cannot be reached") from None
        except requests.RequestException as error:
            raise Broken(f"{url} cannot be used ({type(error).__name__})") from None
