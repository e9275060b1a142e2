"""Writing of data sets with their provenance; :mod:`reproduction.data.prepared` reads them.

A data set is a matrix (:mod:`reproduction.data.matrices`) or a learning set
(:mod:`reproduction.data.learning`); these two modules have the same functions.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from matrixdp import checks
from matrixdp.checks import Array
from reproduction import seeds
from reproduction.data import (
    csv_records,
    datasets,
    download,
    learning,
    matrices,
    prepared,
    simulate,
)
from reproduction.data.datasets import Spec
from reproduction.data.download import Mismatch, Unreachable
from reproduction.data.learning import Encoded
from reproduction.data.prepared import DEFAULT
from reproduction.files import replacing, write_text

#: Sources of the numbers, see :func:`prepare`.
SOURCES = ("auto", "original", "simulated")

#: Records, and what provenance.json states about their origin.
Content = tuple[Array | Encoded, dict[str, Any]]


def original(
    spec: Spec, folder: str | os.PathLike, mirror: str | os.PathLike | None = None
) -> Content:
    """Return the original records, shape ``spec.shape``, and their origin.

    Args:
        spec: the data set.
        folder: where downloads are stored.
        mirror: a folder that is searched first.

    Raises:
        Unreachable: no mirror is named, and no address can be reached.
        Mismatch: the records or a file are not the expected ones.
        InputError: see :func:`reproduction.data.download.fetch`.
    """
    if spec.file:
        return csv_records.original(spec)
    files = download.fetch(spec, folder, mirror, lambda members: decode(spec, members))
    origins = [
        {"file": each.path.name, "source": each.source, "sha256": each.sha256}
        for each in files.originals
    ]
    return files.records, {
        "status": prepared.COPY if spec.copy_of else "original",
        "files": origins,
    }


def decode(spec: Spec, members: Mapping[str, bytes]) -> Array | Encoded:
    """Return the records that members of a data set hold.

    Raises:
        Mismatch: they are not the expected ones.
        Exception: the data set's reader cannot read them.
    """
    records = _module(spec).read(members)
    if not spec.is_learning_set:
        records = records + 0.0  # makes -0 and 0 the same bytes
    sha256 = _kind(spec).content_sha256(records)
    expected = spec.sha256 or sha256
    if (list(records.shape), sha256) != (spec.shape, expected):
        raise Mismatch(
            f"records of shape {records.shape} with sha256 {sha256} where {tuple(spec.shape)} with "
            f"{expected} are expected"
        )
    return records


def prepare(
    name: str,
    *,
    out: str | os.PathLike,
    source: str = "auto",
    mirror: str | os.PathLike | None = None,
    seed: int = 0,
    scaling: str = DEFAULT,
    entry: Mapping[str, Any] | None = None,
) -> None:
    """Write ``out``/matrix.npy (m x n), or a learning set's arrays.npz, and provenance.json.

    A further scaling of a matrix goes in the same way to a subfolder of its name. Downloads are
    stored in ``out``/downloads. The same input gives the same bytes.

    Args:
        name: a data set of workflow/datasets.yaml.
        out: the folder to write into.
        source: ``original``; ``simulated``; or ``auto``: the originals, or a stand-in with a
            warning if no mirror is named and the network cannot be reached. A wrong checksum is
            an error in any case.
        mirror: a folder that is searched before anything is downloaded.
        seed: of the stand-in.
        scaling: its name. One that is not the default has the records, original or simulated, of
            the default one, which must be there.
        entry: the data set, where it is a CSV file of one's own.

    Raises:
        InputError: the name, source or scaling is unknown, or the originals are not available or
            are not the expected ones.
    """
    spec = datasets.parse(name, entry) if entry else datasets.find_dataset(name)
    checks.choice(SOURCES, source=source)
    requested = source
    checks.choice(spec.scalings or [DEFAULT], scaling=scaling)
    if scaling != DEFAULT:
        source = prepared.read_provenance(Path(out))["status"]
    content = None
    if source != "simulated":
        try:
            content = original(spec, Path(out, "downloads"), mirror)
        except Unreachable as error:
            if source == "original" or not simulate.has_stand_in(spec):
                raise
            print(
                f"warning: {error}; so a simulated stand-in takes the place of {name}: results "
                "from it are marked simulated and are no evidence about the papers; to try again "
                f"for the originals, start again with `--forcerun {out}/provenance.json`, which "
                "make takes in ARGS",
                file=sys.stderr,
            )
    write_content(Path(out), spec, requested, content or _stand_in(spec, seed), scaling)


def _stand_in(spec: Spec, seed: int) -> Content:
    (rng,) = seeds.streams(seed, "stand-in", spec.name, trials=[0])
    return simulate.simulate(spec, rng), {"status": "simulated", "files": [], "seed": seed}


def write_content(out: Path, spec: Spec, requested: str, content: Content, scaling: str) -> None:
    """Write the numbers of a scaling, and then the provenance with their checksum."""
    records, origin = content
    file = prepared.ARRAYS if spec.is_learning_set else prepared.MATRIX
    kind = _kind(spec)
    packed, description = kind.pack(spec, records, scaling)
    provenance = {
        "name": spec.name,
        "title": spec.title,
        "publisher": spec.publisher or "",
        "requested": requested,
        **origin,
        "content_sha256": {"expected": spec.sha256, "found": kind.content_sha256(records)},
        "records_shape": list(records.shape),
        **description,
        "licence": spec.licence or "",
        "doi": spec.doi,
        "citation": spec.citation or "",
        "software": {
            "python": platform.python_version(),
            **{package: version(package) for package in ("numpy", "pandas", "python-calamine")},
        },
        prepared.checksum(file): hashlib.sha256(packed).hexdigest(),
    }
    folder = prepared.place(out, scaling)
    with replacing(folder / file) as temporary:
        temporary.write_bytes(packed)
    text = json.dumps(provenance, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(folder / "provenance.json", text + "\n")


def _kind(spec: Spec) -> ModuleType:
    return learning if spec.is_learning_set else matrices


def _module(spec: Spec) -> ModuleType:
    """Return the data set's module."""
    return importlib.import_module(f"reproduction.data.{spec.name}")
