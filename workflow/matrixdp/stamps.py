"""What a table of numbers was when it was written, and what it was made from.

The stamp of ``summary/regression.csv`` is ``stamps/summary/regression.csv.json`` below the run's
folder, so that tables stay plain CSV. Whoever reads a table checks its stamp. A file without one is
taken as it is: kept results, for which git vouches, have none.

What takes long is kept beside its stamp too, as a second name of the same file: Snakemake deletes
the first one before the job that makes it anew, which takes over the parts that rest on the same.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matrixdp.checks import InputError
from matrixdp.places import FOLDERS, SETTINGS

#: Of a data set's provenance: words on it, and where it came from; no number rests on them.
WORDS = {"title", "publisher", "licence", "doi", "citation"}
ORIGIN = {"requested", "files", "software"}


def write(path: str | os.PathLike, parts: Mapping[str, str] | None = None, /, **facts: str) -> None:
    """Write the stamp of a CSV or npz file that lies in a run's folder.

    Args:
        path: of the file; of another one, or elsewhere, nothing is written.
        parts: digests of all that parts of it rest on, by name; it is kept for the next job.
        facts: digests of the settings and the code that it was made from, where they are known.
    """
    file, stamp = Path(path), _place(path)
    if stamp is None:
        return
    content = file.read_bytes()
    text = gzip.decompress(content) if file.suffix == ".gz" else content
    said = {"rows": max(text.count(b"\n") - 1, 0), "sha256": _sha256(content), **facts}
    stamp.parent.mkdir(parents=True, exist_ok=True)
    if parts is not None:
        said["parts"] = dict(parts)
        kept = stamp.with_suffix("")
        # Where links are not to be had, nothing is kept.
        with contextlib.suppress(OSError):
            kept.unlink(missing_ok=True)
            os.link(file, kept)
    # One job writes one file: nobody reads this before the job has ended.
    stamp.write_text(json.dumps(said, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def check(path: str | os.PathLike, **facts: str) -> None:
    """Check that a file is what was written, from what it must rest on.

    Args:
        path: of the file.
        facts: as for :func:`write`; those that its stamp lacks are not compared.

    Raises:
        InputError: it was changed since, or made from something else.
    """
    stamp = _place(path)
    if stamp is None or not stamp.is_file() or not Path(path).is_file():
        return
    try:
        said = dict(json.loads(stamp.read_text(encoding="utf-8")))
    except ValueError:
        raise InputError(f"{stamp} is damaged; delete {path} and run again") from None
    if said.get("sha256") != _sha256(Path(path).read_bytes()):
        raise InputError(
            f"{path} is not as it was written (with {said.get('rows')} rows); delete it and run "
            "again, which makes it anew"
        )
    for name, value in facts.items():
        if said.get(name, value) != value:
            raise InputError(f"{path} was made from other {name}; delete it and run again")


def kept(path: str | os.PathLike) -> tuple[Path, dict[str, str]] | None:
    """Return what is kept of a file, as it was written, and its parts; None if nothing is."""
    stamp = _place(path)
    if stamp is None or not (stamp.is_file() and stamp.with_suffix("").is_file()):
        return None
    with contextlib.suppress(ValueError):
        said = json.loads(stamp.read_text(encoding="utf-8"))
        if said.get("sha256") == _sha256(stamp.with_suffix("").read_bytes()):
            return stamp.with_suffix(""), said.get("parts", {})
    return None


def forget(results: str | os.PathLike) -> None:
    """Delete what is kept in a run's folder, so that jobs compute all that they make."""
    for file in Path(results, "stamps").rglob("*"):
        if file.is_file() and file.suffix != ".json":
            file.unlink()


def keep_records(results: str | os.PathLike, *, started: bool) -> None:
    """Keep what Snakemake knows of results beside them, where they are found without .snakemake.

    Without these records it would take results of other settings for those that are wanted.
    """
    own, kept = Path(".snakemake", "metadata"), Path(results, "metadata")
    if own.is_symlink() and not own.is_dir():
        own.unlink()
    if started and own.is_dir() and not os.path.lexists(kept):
        shutil.move(own, kept)
    if kept.is_dir() and not os.path.lexists(own):
        Path(".snakemake", "incomplete").mkdir(parents=True, exist_ok=True)
        own.symlink_to(Path(os.pardir, kept))


def of_data(place: str | os.PathLike) -> str:
    """Return a digest of a file, or of what numbers may rest on in a data set's folder.

    Originals are the same ones wherever they came from and whatever was asked for.
    """
    if Path(place).is_file():
        return _sha256(Path(place).read_bytes())
    found = []
    for file in sorted(Path(place).glob("**/provenance.json")):
        # A damaged one is told by whoever reads the numbers.
        with contextlib.suppress(ValueError):
            said: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            found.append({key: value for key, value in said.items() if key not in WORDS | ORIGIN})
    return _sha256(json.dumps(found, sort_keys=True).encode())


def _place(path: str | os.PathLike) -> Path | None:
    """Return where the stamp of a file lies, if it lies where a run's files lie."""
    file = Path(path)
    if file.name.endswith((".csv", ".csv.gz", ".npz")):
        for folder in file.parents:
            inside = file.relative_to(folder)
            if inside.parts[0] in (*FOLDERS, "claims.csv") and (folder / SETTINGS).is_file():
                return folder / "stamps" / f"{inside}.json"
    return None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
