"""Prepared data sets: written once as a matrix with its provenance, read by every experiment."""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp import checks, seeds
from matrixdp.checks import Array, InputError
from matrixdp.data import catalogue, scaling, simulate
from matrixdp.data.catalogue import Spec
from matrixdp.data.fetch import (
    HASTY,
    PATIENT,
    Fetched,
    Mismatch,
    Network,
    Unreachable,
    fetch,
    reject,
)
from matrixdp.files import replacing, write_text

SOURCES = ("auto", "original", "simulated")
_NEEDED = (
    "name", "status", "requested", "features", "lower", "upper", "scaling", "matrix_sha256",
)  # fmt: skip


@dataclass(frozen=True)
class Dataset:
    """A prepared data set.

    Attributes:
        name: its name in workflow/datasets.yaml.
        matrix: m features x n records, float64, read-only.
        features: m names.
        lower, upper: the public bounds of each feature; the matrix keeps to them exactly.
        status: ``original`` or ``simulated``.
        provenance: everything in provenance.json.
    """

    name: str
    matrix: Array
    features: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    status: str
    provenance: Mapping[str, Any]


def content_sha256(records: Array) -> str:
    """Return the sha256 of records (n x m) as little-endian float64, row after row."""
    return hashlib.sha256(np.ascontiguousarray(records, dtype="<f8").tobytes()).hexdigest()


def original(
    spec: Spec,
    folder: str | os.PathLike,
    mirror: str | os.PathLike | None = None,
    *,
    network: Network = PATIENT,
) -> tuple[Array, Fetched]:
    """Return the original records, shape ``spec.shape``, and where they came from.

    Args:
        spec: the data set.
        folder: where downloads are kept.
        mirror: a folder that is looked in first.
        network: how hard to try.

    Raises:
        Unreachable: no address could be reached.
        Mismatch: the records or a file are not the expected ones.
        InputError: see :func:`matrixdp.data.fetch.fetch`.
    """
    fetched = fetch(spec, folder, mirror, network=network)
    reader = importlib.import_module(f"matrixdp.data.{spec.name}")
    try:
        # Adding 0 makes -0 and 0 the same bytes.
        records = reader.read(fetched.members) + 0.0
    except (ValueError, KeyError, IndexError):
        raise _refuse(spec, fetched, "cannot be read as records") from None
    found = content_sha256(records)
    if records.shape != spec.shape or found != spec.sha256:
        raise _refuse(
            spec,
            fetched,
            f"has {_times(records.shape)} records with sha256 {found} where {_times(spec.shape)} "
            f"with {spec.sha256} are expected",
        )
    return records, fetched


def prepare(
    name: str,
    *,
    out: str | os.PathLike,
    source: str = "auto",
    mirror: str | os.PathLike | None = None,
    seed: int = 0,
    scaling_name: str = "default",
    network: Network = PATIENT,
) -> None:
    """Write ``out``/matrix.npy (m x n) and ``out``/provenance.json.

    Downloads are kept in ``out``/downloads. Same input, same bytes.

    Args:
        name: a data set of workflow/datasets.yaml.
        out: the folder to write into.
        source: ``original``; ``simulated``; or ``auto``: the originals, or a stand-in with a
            warning if the network cannot be reached. A wrong checksum is an error in any case.
        mirror: a folder that is looked in before anything is downloaded.
        seed: of the stand-in.
        scaling_name: which of the data set's scalings.
        network: how hard to try to download.

    Raises:
        InputError: the name, source or scaling is unknown, or the originals cannot be had or are
            not the expected ones.
    """
    spec = catalogue.find(name)
    checks.choice(SOURCES, source=source)
    checks.choice(spec.scalings, scaling=scaling_name)
    try:
        if source == "simulated":
            records, origin = _stand_in(spec, seed)
        else:
            records, origin = _originals(spec, Path(out), mirror, network)
    except Unreachable as error:
        if source == "original":
            raise
        _warn([name], f"{error}; so ")
        records, origin = _stand_in(spec, seed)
    _write(Path(out), spec, scaling_name, source, records, origin)


def load(folder: str | os.PathLike) -> Dataset:
    """Return the data set that :func:`prepare` wrote.

    Raises:
        InputError: a file is missing, damaged, or belongs to another run.
    """
    folder = Path(folder)
    provenance = _provenance(folder)
    path = folder / "matrix.npy"
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; run `snakemake data`") from None
    if hashlib.sha256(data).hexdigest() != provenance["matrix_sha256"]:
        raise _damaged(path)
    matrix = np.load(io.BytesIO(data), allow_pickle=False)
    matrix.setflags(write=False)
    return Dataset(
        name=provenance["name"],
        matrix=matrix,
        features=tuple(provenance["features"]),
        lower=tuple(provenance["lower"]),
        upper=tuple(provenance["upper"]),
        status=provenance["status"],
        provenance=provenance,
    )


def refresh(
    folders: Iterable[str | os.PathLike],
    *,
    mirror: str | os.PathLike | None = None,
    network: Network = HASTY,
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
        spec = catalogue.find(provenance["name"])
        try:
            records, origin = _originals(spec, folder, mirror, network)
        except Mismatch:
            raise
        except InputError as error:
            reason = f"{error}; so "
            break
        _write(folder, spec, provenance["scaling"]["name"], "auto", records, origin)
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
            provenance = _provenance(folder)
            if (provenance["status"], provenance["requested"]) == ("simulated", "auto"):
                found[folder] = provenance
    return found


def _originals(
    spec: Spec, out: Path, mirror: str | os.PathLike | None, network: Network
) -> tuple[Array, dict[str, Any]]:
    records, fetched = original(spec, out / "downloads", mirror, network=network)
    files = [{"file": o.file, "source": o.source, "sha256": o.sha256} for o in fetched.origins]
    return records, {"status": "original", "files": files}


def _stand_in(spec: Spec, seed: int) -> tuple[Array, dict[str, Any]]:
    facts = simulate.load_summary(spec.name)
    (rng,) = seeds.streams(seed, "stand-in", spec.name, trials=[0])
    return simulate.simulate(facts, rng), {"status": "simulated", "files": [], "seed": seed}


def _write(
    out: Path,
    spec: Spec,
    scaling_name: str,
    requested: str,
    records: Array,
    origin: Mapping[str, Any],
) -> None:
    """Write the matrix and then its provenance, which has the matrix's checksum."""
    chosen = spec.scalings[scaling_name]
    scaled = scaling.scale(records, spec.columns, **chosen)
    stream = io.BytesIO()
    np.save(stream, scaled.matrix.astype("<f8"), allow_pickle=False)
    provenance = {
        "name": spec.name,
        "title": spec.title,
        "publisher": spec.publisher,
        "requested": requested,
        **origin,
        "content_sha256": {"expected": spec.sha256, "found": content_sha256(records)},
        "records_shape": list(records.shape),
        "rows_used": scaled.matrix.shape[1],
        "shape": list(scaled.matrix.shape),
        "features": list(spec.columns),
        "scaling": {
            "name": scaling_name,
            "method": chosen["method"],
            "description": scaled.description,
            "constants": scaled.constants,
            "treated_as_public": ["constants", "lower", "upper"],
        },
        "lower": scaled.lower.tolist(),
        "upper": scaled.upper.tolist(),
        "facts": scaled.facts,
        "licence": spec.licence,
        "doi": spec.doi,
        "citation": spec.citation,
        "software": {
            "python": platform.python_version(),
            **{package: version(package) for package in ("numpy", "pandas", "python-calamine")},
        },
        "matrix_sha256": hashlib.sha256(stream.getvalue()).hexdigest(),
    }
    with replacing(out / "matrix.npy") as temporary:
        temporary.write_bytes(stream.getvalue())
    text = json.dumps(provenance, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(out / "provenance.json", text + "\n")


def _provenance(folder: Path) -> dict[str, Any]:
    path = folder / "provenance.json"
    try:
        provenance = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; run `snakemake data`") from None
    except ValueError:
        raise _damaged(path) from None
    if not isinstance(provenance, dict) or not set(_NEEDED) <= set(provenance):
        raise _damaged(path)
    return provenance


def _damaged(path: Path) -> InputError:
    return InputError(
        f"{path} is damaged or of another run than its neighbours; delete it and run "
        "`snakemake data`"
    )


def _refuse(spec: Spec, fetched: Fetched, what: str) -> Mismatch:
    """Return the error for wrong records, downloads set aside."""
    files = ", ".join(origin.file for origin in fetched.origins)
    aside = [reject(origin.path) for origin in fetched.origins if origin.path]
    remedy = "; ".join(aside) or f"replace {files} in data.mirror"
    return Mismatch(f"data set {spec.name} ({files}) {what}; {remedy}")


def _warn(names: list[str], reason: str = "") -> None:
    if names:
        print(
            f"warning: {reason}simulated stand-ins take the place of {', '.join(names)}: results "
            "from them are marked simulated and are no evidence about the papers; to try for the "
            "originals (data.source: auto), run `make` again, or "
            "`snakemake data --forcerun dataset`",
            file=sys.stderr,
        )


def _times(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
