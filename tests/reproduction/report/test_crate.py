"""A run's origin as an RO-Crate: every file with its checksum, every reference described."""

import hashlib
import json

from packages import KEPT

from reproduction.report.page import crate


def named(value):
    """Yield what a part of a crate refers to."""
    if isinstance(value, dict):
        yield from [value["@id"]] if len(value) == 1 else named(list(value.values()))
    elif isinstance(value, list):
        for part in value:
            yield from named(part)


def test_a_crate_describes_all_that_it_names_and_has_the_checksums_of_the_listed_files(tmp_path):
    parts = [
        *KEPT.glob("data/*/provenance.json"),
        *KEPT.glob("summary/*.csv"),
        KEPT / "settings.yaml",
    ]
    crate.write_crate(KEPT, parts, tmp_path / crate.NAME)
    graph = json.loads((tmp_path / crate.NAME).read_text())
    assert graph["@context"] == "https://w3id.org/ro/crate/1.1/context"
    entities = {entity["@id"]: entity for entity in graph["@graph"]}
    inside = {name for entity in entities.values() for name in named([*entity.values()])}
    assert {name for name in inside if not name.startswith("https://")} <= {*entities}
    files = {name: entity for name, entity in entities.items() if entity["@type"] == "File"}
    assert files.keys() == {path.relative_to(KEPT).as_posix() for path in parts}
    for name, entity in files.items():
        assert entity["sha256"] == hashlib.sha256((KEPT / name).read_bytes()).hexdigest()
    datasets = {f"#data-{path.name}" for path in (KEPT / "data").iterdir()}
    assert {name["@id"] for name in entities["#run"]["object"]} == datasets
    assert entities["#data-liver"]["description"].startswith("original")
    assert {"@id": "#numpy"} in entities["#matrixdp"]["softwareRequirements"]
    assert entities["#numpy"]["version"]
