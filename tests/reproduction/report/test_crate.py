"""A run's origin as an RO-Crate."""

import hashlib
import json
import shutil

import pytest
from packages import KEPT

from reproduction.report.page import crate


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    for name in ("data", "summary"):
        shutil.copytree(KEPT / name, root / name)
    shutil.copy(KEPT / "settings.yaml", root)
    (root / "report.html").write_text("page")
    paths = [path for path in root.rglob("*") if path.is_file()]
    (root / "a_persons_notes.md").write_text("of nobody else's business")
    crate.write(root, paths, root / crate.NAME)
    told = json.loads((root / crate.NAME).read_text())
    assert told["@context"] == "https://w3id.org/ro/crate/1.1/context"
    return root, {one["@id"]: one for one in told["@graph"]}


def test_every_reference_is_described(graph):
    def named(value):
        if isinstance(value, dict):
            yield from [value["@id"]] if len(value) == 1 else named(list(value.values()))
        elif isinstance(value, list):
            for one in value:
                yield from named(one)

    _, entities = graph
    inside = {name for one in entities.values() for name in named(list(one.values()))}
    assert {name for name in inside if not name.startswith("https://")} <= set(entities)
    assert entities["./"].keys() >= {"name", "description", "datePublished", "license"}


def test_every_file_has_its_checksum(graph):
    root, entities = graph
    files = {name: one for name, one in entities.items() if one["@type"] == "File"}
    apart = {crate.NAME, "a_persons_notes.md"}
    there = [path for path in root.rglob("*") if path.is_file() and path.name not in apart]
    assert files.keys() == {path.relative_to(root).as_posix() for path in there}
    for name, one in files.items():
        assert one["sha256"] == hashlib.sha256((root / name).read_bytes()).hexdigest()


def test_it_says_what_data_and_software_it_rests_on(graph):
    _, entities = graph
    run = entities["#run"]
    assert {one["@id"] for one in run["object"]} == {
        f"#data-{path.name}" for path in (KEPT / "data").iterdir()
    }
    assert entities["#data-liver"]["description"].startswith("original")
    needed = entities["#matrixdp"]["softwareRequirements"]
    assert entities["#numpy"]["version"]
    assert {"@id": "#numpy"} in needed
