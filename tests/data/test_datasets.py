import jsonschema
import pytest
import yaml

from matrixdp.checks import InputError
from matrixdp.data import datasets, scaling
from matrixdp.data.datasets import Member, find, parse

TEXT = {"type": "string", "minLength": 3}
DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
COUNT = {"type": "integer", "minimum": 1}
NAMES = {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True}


def closed(properties, *required):
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


FILE = closed(
    {
        "kind": {"enum": ["file", "xls", "gz", "zip", "tar.gz", "tar.xz"]},
        "url": {"type": "string", "pattern": r"^https://[^/]+/.*[^/]$"},
        "name": TEXT,
        "sha256": DIGEST,
        "holds": NAMES,
    },
    "kind",
) | {"oneOf": [{"required": ["url"]}, {"required": ["name"]}]}
SCALING = closed({"method": {"enum": list(scaling.METHODS)}, "rows": COUNT}, "method")
SCHEMA = closed(
    {
        "title": TEXT,
        "publisher": TEXT,
        "files": {"type": "array", "items": FILE, "minItems": 1},
        "members": {
            "type": "array",
            "items": closed({"name": TEXT, "count": COUNT, "sha256": DIGEST}, "name"),
            "minItems": 1,
        },
        "shape": {"type": "array", "items": COUNT, "minItems": 2, "maxItems": 2},
        "columns": NAMES,
        "sha256": DIGEST,
        "scalings": {
            "type": "object",
            "additionalProperties": SCALING,
            "required": ["default"],
        },
        "licence": TEXT,
        "doi": {"type": "string", "pattern": r"^10\.\d+/\S+$"},
        "citation": TEXT,
    },
    *["title", "publisher", "files", "members", "shape", "sha256", "licence", "citation"],
) | {"dependentRequired": {"scalings": ["columns"]}}


def entries():
    return yaml.safe_load(datasets.FILE.read_text(encoding="utf-8"))


def test_every_entry_keeps_to_the_schema():
    assert list(entries()) == ["liver", "movement", "ctg", "cora", "adult", "imdb"]
    for entry in entries().values():
        jsonschema.validate(entry, SCHEMA)


def test_the_schema_refuses_what_it_should():
    entry = entries()["adult"]
    for wrong in (
        entry | {"mirrors": []},
        entry | {"members": [{"name": "adult.data", "md5": "0"}]},
        entry | {"files": [{"kind": "rar", "url": "https://example.org/a.rar"}]},
        entry | {"sha256": "0" * 63},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA)


def test_every_member_has_an_address_and_every_column_its_name():
    for spec in datasets.specs().values():
        held = {name for file in spec.files if file.url for name in file.holds}
        assert {member.name for member in spec.members} <= held, spec.name
        if spec.columns:
            assert len(spec.columns) == spec.shape[1]


def test_files_are_named_by_their_address_and_hold_every_member_or_themselves():
    imdb, adult = (datasets.specs()[name] for name in ("imdb", "adult"))
    assert {file.name for file in imdb.files} == {
        "aclImdb_v1.tar.gz",
        "aclImdb_v1_labelled.tar.xz",
    }
    assert sum(member.count for member in imdb.members) == 50_000
    assert adult.files[0].holds == ("adult.data", "adult.test")
    assert adult.files[2].holds == ("adult.test",)


def test_sets_without_scalings_are_learning_sets():
    found = [name for name, spec in datasets.specs().items() if spec.is_learning_set]
    assert found == ["cora", "adult", "imdb"]


def test_names_and_keys_are_checked():
    with pytest.raises(InputError, match="dataset is 'livr'; did you mean 'liver'"):
        find("livr")
    with pytest.raises(InputError, match=r"'liver' of datasets\.yaml .*unexpected.*'colums'"):
        parse("liver", entries()["liver"] | {"colums": []})
    with pytest.raises(InputError, match=r"'x' of datasets\.yaml .*'members'"):
        parse("x", {})
    assert find("ctg").members == (Member("CTG.xls", 1, find("ctg").members[0].sha256),)
