"""The provenance of a run as an RO-Crate 1.1 (https://w3id.org/ro/crate/1.1), for archives.

It lists each file with its checksum, and the data, the code and the time of the run.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matrixdp.version import VERSION
from reproduction import files
from reproduction.report import inputs
from reproduction.report.page import machine

NAME = "ro-crate-metadata.json"
LICENCE = {"@id": "https://spdx.org/licenses/MIT"}
STANDARD = "https://w3id.org/ro/crate/1.1"
TITLE = "Matrix-valued differential privacy, reproduced: one run"
#: Identifier of the code that makes the results.
CODE = "#matrixdp"


def write_crate(
    results: str | os.PathLike, paths: Iterable[str | os.PathLike], out: str | os.PathLike
) -> None:
    """Describe files of a run in ``out``; all of them lie below the folder ``results``.

    Raises:
        InputError: a ``provenance.json`` is damaged, or the file cannot be written.
    """
    root, now = Path(results), datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    outputs = [Path(path) for path in paths]
    parts = [_file(path, root) for path in outputs]
    sources = [_source(path) for path in outputs if path.name == "provenance.json"]
    software = [
        _entity(f"#{name}", "SoftwareApplication", name=name, version=version)
        for name, version in machine.versions().items()
    ]
    about = "Tables, figures and verdicts, with the settings and data they rest on."
    graph = [
        _entity(NAME, "CreativeWork", about={"@id": "./"}, conformsTo={"@id": STANDARD}),
        _entity("./", "Dataset", name=TITLE, description=about, datePublished=now)
        | {"license": LICENCE, "hasPart": _ids(parts), "mentions": [{"@id": "#run"}]},
        _entity("#run", "CreateAction", name="One run of the workflow", endTime=now)
        | {"instrument": {"@id": CODE}, "object": _ids(sources), "result": _ids(parts)},
        _entity(CODE, "SoftwareSourceCode", name="matrixdp", version=VERSION, license=LICENCE)
        | {"identifier": machine.commit(), "softwareRequirements": _ids(software)},
    ]
    crate = {"@context": f"{STANDARD}/context", "@graph": [*graph, *sources, *software, *parts]}
    files.write_text(out, json.dumps(crate, indent=1))


def _entity(id_: str, entity_type: str, **facts: Any) -> dict[str, Any]:
    return {"@id": id_, "@type": entity_type, **facts}


def _ids(entities: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{"@id": entity["@id"]} for entity in entities]


def _file(path: Path, root: Path) -> dict[str, Any]:
    content, name = path.read_bytes(), path.relative_to(root).as_posix()
    checksum = hashlib.sha256(content).hexdigest()
    return _entity(name, "File", name=path.name, contentSize=str(len(content)), sha256=checksum)


def _source(path: Path) -> dict[str, Any]:
    facts = inputs.provenance(path)
    about = f"{facts['status']}; described in data/{facts['name']}/{path.name}"
    words = {
        "creditText": facts["citation"],
        "license": facts["licence"],
        "identifier": facts.get("doi"),
    }
    entity = _entity(f"#data-{facts['name']}", "Dataset", name=facts["title"], description=about)
    return entity | {name: text for name, text in words.items() if text}
