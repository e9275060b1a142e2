"""A run's origin in one file that programs read: RO-Crate 1.1, https://w3id.org/ro/crate/1.1.

It makes the folder of results a thing to archive: each file with its checksum, what it was made
from, by what, and when.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from matrixdp import files
from matrixdp.report import inputs
from matrixdp.report.page import machine
from matrixdp.version import VERSION

NAME = "ro-crate-metadata.json"
#: What of a run is described: results, and neither its logs nor what an older run left.
FOLDERS = ("tables", "figures", "summary", "comparisons", "readings", "trials", "audit", "theory")
FILES = ("settings.yaml", "claims.csv", "report.html")
LICENCE = "https://spdx.org/licenses/MIT"


def write(results: str | os.PathLike) -> None:
    """Describe what a run has made in ``<results>/ro-crate-metadata.json``.

    Raises:
        InputError: a ``provenance.json`` is damaged, or the file cannot be written.
    """
    root, now = Path(results), datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    made = [root / name for name in FILES]
    made += [path for folder in (*FOLDERS, "data") for path in sorted((root / folder).rglob("*"))]
    parts = [_file(path, root) for path in made if path.is_file()]
    sources = [_source(path) for path in sorted(root.glob("data/*/provenance.json"))]
    software = [
        {"@id": f"#{name}", "@type": "SoftwareApplication", "name": name, "version": version}
        for name, version in machine.versions().items()
    ]
    workflow = {
        "@id": "#matrixdp",
        "@type": "SoftwareSourceCode",
        "name": "matrixdp",
        "version": VERSION,
        "identifier": machine.commit(),
        "license": {"@id": LICENCE},
        "softwareRequirements": _ids(software),
    }
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": "One run of the workflow",
        "instrument": {"@id": "#matrixdp"},
        "object": _ids(sources),
        "result": _ids(parts),
        "endTime": now,
    }
    crate = {
        "@id": "./",
        "@type": "Dataset",
        "name": "Matrix-valued differential privacy, reproduced: one run",
        "description": "Tables, figures and verdicts, with the settings and data they rest on.",
        "datePublished": now,
        "license": {"@id": LICENCE},
        "hasPart": _ids(parts),
        "mentions": [{"@id": "#run"}],
    }
    itself = {
        "@id": NAME,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
    }
    graph = [itself, crate, run, workflow, *sources, *software, *parts]
    context = "https://w3id.org/ro/crate/1.1/context"
    files.write_text(root / NAME, json.dumps({"@context": context, "@graph": graph}, indent=1))


def _ids(entities: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{"@id": one["@id"]} for one in entities]


def _file(path: Path, root: Path) -> dict[str, Any]:
    content = path.read_bytes()
    return {
        "@id": path.relative_to(root).as_posix(),
        "@type": "File",
        "name": path.name,
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _source(path: Path) -> dict[str, Any]:
    told = inputs.provenance(path)
    return {
        "@id": f"#data-{told['name']}",
        "@type": "Dataset",
        "name": told["title"],
        "description": f"{told['status']}; described in data/{told['name']}/{path.name}",
        "creditText": told["citation"],
        "license": told["licence"],
        "identifier": told.get("doi") or "",
    }
