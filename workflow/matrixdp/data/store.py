"""Data sets are written once, with their provenance; :mod:`matrixdp.data.prepared` reads them.

A data set is a matrix (:mod:`matrixdp.data.matrices`) or a learning set
(:mod:`matrixdp.data.learning`); these two modules have the same functions.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import platform
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from matrixdp import checks, seeds
from matrixdp.checks import Array, InputError
from matrixdp.data import datasets, fetch, learning, matrices, prepared, simulate
from matrixdp.data.datasets import Spec
from matrixdp.data.fetch import Fetched, Lacking, Mismatch, Network, Unreachable
from matrixdp.data.learning import Encoded
from matrixdp.data.prepared import DEFAULT, read_provenance
from matrixdp.files import replacing, write_text

#: What may be asked for, see :func:`prepare`.
SOURCES = ("auto", "original", "fallback", "simulated")

#: Records, and what provenance.json says of their origin.
Made = tuple[Array | Encoded, dict[str, Any]]


def original(
    spec: Spec,
    folder: str | os.PathLike,
    mirror: str | os.PathLike | None = None,
    *,
    network: Network = fetch.PATIENT,
) -> Made:
    """Return the original records, shape ``spec.shape``, and where they came from.

    Args:
        spec: the data set.
        folder: where downloads are kept.
        mirror: a folder that is looked in first.
        network: how hard to try.

    Raises:
        Unreachable, Lacking: no address could be reached; a mirror was not named, or lacks a file.
        Mismatch: the records or a file are not the expected ones.
        InputError: see :func:`matrixdp.data.fetch.fetch`.
    """
    fetched = fetch.fetch(spec, folder, mirror, network=network)
    kind = _kind(spec)
    try:
        records = _module(spec).read(fetched.members)
        if not spec.is_learning_set:
            records = records + 0.0  # makes -0 and 0 the same bytes
    except Exception as error:
        why = f" ({error})" if isinstance(error, InputError) else ""
        raise _refuse(spec, fetched, f"cannot be read as records{why}") from error
    found = kind.content_sha256(records)
    expected = spec.sha256 or found
    if records.shape != spec.shape or found != expected:
        raise _refuse(
            spec,
            fetched,
            f"has {_times(records.shape)} records with sha256 {found} where {_times(spec.shape)} "
            f"with {expected} are expected",
        )
    files = [{"file": o.file, "source": o.source, "sha256": o.sha256} for o in fetched.origins]
    return records, {"status": "original", "files": files}


def prepare(
    name: str,
    *,
    out: str | os.PathLike,
    source: str = "auto",
    mirror: str | os.PathLike | None = None,
    seed: int = 0,
    network: Network = fetch.PATIENT,
) -> None:
    """Write ``out``/matrix.npy (m x n), or a learning set's arrays.npz, and provenance.json.

    Further scalings of a matrix are written in the same way to the folders of their names in
    ``out``. Downloads are kept in ``out``/downloads. Same input, same bytes.

    Args:
        name: a data set of workflow/datasets.yaml.
        out: the folder to write into.
        source: ``original``; ``simulated``; ``auto``: the originals, or a stand-in with a warning
            if no mirror is named and the network cannot be reached; or ``fallback``: as ``auto``,
            and a stand-in also for what a named mirror lacks. A wrong checksum is an error in any
            case.
        mirror: a folder that is looked in before anything is downloaded.
        seed: of the stand-in.
        network: how hard to try to download.

    Raises:
        InputError: the name or source is unknown, or the originals cannot be had or are
            not the expected ones.
    """
    spec = datasets.find(name)
    checks.choice(SOURCES, source=source)
    made = None
    if source != "simulated":
        try:
            made = original(spec, Path(out, "downloads"), mirror, network=network)
        except (Unreachable, Lacking) as error:
            if source == "original" or not simulate.standin_path(name).is_file():
                raise
            if source == "auto" and isinstance(error, Lacking):
                raise Lacking(f"{error}; data.source: fallback would simulate it") from None
            _warn([name], f"{error}; so ")
    # Stand-ins for want of originals are looked for by this word.
    requested = "auto" if source == "fallback" else source
    write(Path(out), spec, requested, made or _stand_in(spec, seed))


def refresh(
    folders: Iterable[str | os.PathLike],
    *,
    mirror: str | os.PathLike | None = None,
    network: Network = fetch.HASTY,
) -> list[str]:
    """Replace stand-ins that ``source: auto`` made by the originals, if these can now be had.

    The files get new contents and times, so that Snakemake reruns what depends on them. One line
    on stderr says what happened; without stand-ins nothing is tried or said.

    Args:
        folders: folders that :func:`prepare` wrote; others are left alone.
        mirror: a folder that is looked in first.
        network: how hard to try; the first failure ends the attempt.

    Returns:
        Names of the data sets that are original now.

    Raises:
        Mismatch: the originals were found but are not the expected ones.
        InputError: a provenance.json is damaged.
    """
    stand_ins = _stand_ins(folders)
    replaced: list[str] = []
    reason = ""
    for folder, provenance in stand_ins.items():
        spec = datasets.find(provenance["name"])
        try:
            made = original(spec, folder / "downloads", mirror, network=network)
        except Mismatch:
            raise
        except InputError as error:
            reason = f"{error}; so "
            break
        write(folder, spec, "auto", made)
        replaced.append(spec.name)
    if replaced:
        print(f"originals have replaced the stand-ins of {', '.join(replaced)}", file=sys.stderr)
    _warn([each["name"] for each in stand_ins.values()][len(replaced) :], reason)
    return replaced


def warn_of_stand_ins(folders: Iterable[str | os.PathLike]) -> None:
    """Say on stderr, in one line, which folders hold stand-ins that ``source: auto`` made, if any.

    Raises:
        InputError: a provenance.json is damaged.
    """
    _warn([each["name"] for each in _stand_ins(folders).values()])


def _stand_ins(folders: Iterable[str | os.PathLike]) -> dict[Path, dict[str, Any]]:
    """Return the provenance of each folder that holds a stand-in for want of the originals."""
    found = {}
    for folder in map(Path, folders):
        if (folder / "provenance.json").is_file():
            provenance = read_provenance(folder)
            if (provenance["status"], provenance["requested"]) == ("simulated", "auto"):
                found[folder] = provenance
    return found


def _stand_in(spec: Spec, seed: int) -> Made:
    facts = simulate.load_summary(spec.name)
    (rng,) = seeds.streams(seed, "stand-in", spec.name, trials=[0])
    maker = _module(spec) if spec.is_learning_set else simulate
    return maker.simulate(facts, rng), {"status": "simulated", "files": [], "seed": seed}


def write(out: Path, spec: Spec, requested: str, made: Made) -> None:
    """Write the numbers of every scaling, and then their provenance, which has their checksum."""
    records, origin = made
    written = prepared.ARRAYS if spec.is_learning_set else prepared.MATRIX
    kind = _kind(spec)
    # The default scaling comes last: where it is whole, all are.
    for scaling_name in sorted(spec.scalings or [DEFAULT], key=DEFAULT.__eq__):
        content, described = kind.pack(spec, records, scaling_name)
        provenance = {
            "name": spec.name,
            "title": spec.title,
            "publisher": spec.publisher,
            "requested": requested,
            **origin,
            "content_sha256": {"expected": spec.sha256, "found": kind.content_sha256(records)},
            "records_shape": list(records.shape),
            **described,
            "licence": spec.licence,
            "doi": spec.doi,
            "citation": spec.citation,
            "software": {
                "python": platform.python_version(),
                **{name: version(name) for name in ("numpy", "pandas", "python-calamine")},
            },
            written.checksum: hashlib.sha256(content).hexdigest(),
        }
        folder = prepared.place(out, scaling_name)
        with replacing(folder / written.file) as temporary:
            temporary.write_bytes(content)
        text = json.dumps(provenance, indent=2, ensure_ascii=False, allow_nan=False)
        write_text(folder / "provenance.json", text + "\n")


def _kind(spec: Spec) -> ModuleType:
    return learning if spec.is_learning_set else matrices


def _module(spec: Spec) -> ModuleType:
    """Return the data set's own module."""
    return importlib.import_module(f"matrixdp.data.{spec.name}")


def _refuse(spec: Spec, fetched: Fetched, what: str) -> Mismatch:
    """Return the error for wrong records, downloads set aside."""
    files = ", ".join(origin.file for origin in fetched.origins)
    aside = [fetch.reject(origin.path) for origin in fetched.origins if origin.path]
    remedy = "; ".join(aside) or f"replace {files} in data.mirror"
    return Mismatch(f"data set {spec.name} ({files}) {what}; {remedy}")


def _warn(names: list[str], reason: str = "") -> None:
    if names:
        print(
            f"warning: {reason}simulated stand-ins take the place of {', '.join(names)}: results "
            "from them are marked simulated and are no evidence about the papers; to try for the "
            "originals (data.source: auto), run `make` again, or "
            "`snakemake data --forcerun dataset learning`",
            file=sys.stderr,
        )


def _times(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
