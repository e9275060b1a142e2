from dataclasses import replace

import jsonschema
import pytest
import yaml
from localserver import ONCE, tarred, zipped

from matrixdp.checks import InputError
from matrixdp.data import datasets, scaling
from matrixdp.data.datasets import Member, find, parse
from matrixdp.data.fetch import Mismatch, fetch

IMAGES = ["mnist", "cifar10", "svhn"]

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
        "url": {"type": "string", "pattern": r"^https?://[^/]+/.*[^/]$"},
        "name": TEXT,
        "sha256": DIGEST,
        "holds": NAMES,
    },
    "kind",
) | {
    "oneOf": [{"required": ["url"]}, {"required": ["name"]}],
    # Anyone on the way may change what comes without TLS.
    "if": {"properties": {"url": {"pattern": "^http:"}}, "required": ["url"]},
    "then": {"required": ["sha256"]},
}
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
    *["title", "publisher", "files", "members", "shape", "licence", "citation"],
) | {"dependentRequired": {"scalings": ["columns"]}}


def entries():
    return yaml.safe_load(datasets.FILE.read_text(encoding="utf-8"))


def test_every_entry_keeps_to_the_schema():
    matrices, learning = ["liver", "movement", "ctg"], ["cora", "adult", "imdb", *IMAGES]
    assert {*matrices, *learning} <= {*entries()}
    for entry in entries().values():
        jsonschema.validate(entry, SCHEMA)


def test_every_set_has_a_checksum_of_its_records_or_of_every_member():
    without = [name for name, entry in entries().items() if "sha256" not in entry]
    assert {"cifar10", "svhn"} <= {*without}
    for name in without:
        entry = entries()[name]
        assert all("sha256" in member for member in entry["members"])
        del entry["members"][-1]["sha256"]
        with pytest.raises(InputError, match=rf"'{name}' of datasets\.yaml .*'sha256'"):
            parse(name, entry)


def test_the_schema_refuses_what_it_should():
    entry = entries()["adult"]
    for wrong in (
        entry | {"mirrors": []},
        entry | {"members": [{"name": "adult.data", "md5": "0"}]},
        entry | {"files": [{"kind": "rar", "url": "https://example.org/a.rar"}]},
        entry | {"files": [{"kind": "zip", "url": "http://example.org/a.zip"}]},
        entry | {"files": [{"kind": "zip", "url": "ftp://example.org/a.zip", "sha256": "0" * 64}]},
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


#: SHA-256 of archives as those who use them state it; a mirror need not have the archives.
STATED = """
adult.zip 7537312dd56c2b98035880805ce99e68183a30ee468aa5329d6df0fbb3cc21bb
aclImdb_v1.tar.gz c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe
train-images-idx3-ubyte.gz 440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609
train-labels-idx1-ubyte.gz 3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c
t10k-images-idx3-ubyte.gz 8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6
t10k-labels-idx1-ubyte.gz f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6
cifar-10-python.tar.gz 6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce
train_32x32.mat 435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8
test_32x32.mat cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b
"""
ARCHIVES = dict(line.split() for line in STATED.strip().splitlines())


def test_an_archive_with_a_known_checksum_has_it_at_every_address():
    files = [file for spec in datasets.specs().values() for file in spec.files]
    for file in files:
        assert file.sha256 == ARCHIVES.get(file.name), file
    checked = ["adult.zip", *["aclImdb_v1.tar.gz"] * 2, *list(ARCHIVES)[2:6] * 3]
    checked += ["cifar-10-python.tar.gz"] * 2 + ["train_32x32.mat", "test_32x32.mat"] * 2
    assert [file.name for file in files if file.sha256] == checked


@pytest.mark.parametrize(
    ("name", "place"), [("adult", 0), ("imdb", 0), ("imdb", 1), ("cifar10", 0), ("cifar10", 1)]
)
def test_an_address_that_gives_another_archive_is_refused(name, place, server, tmp_path):
    spec = find(name)
    file = spec.files[place]
    members = {member.name.replace("*", "1"): b"1" for member in spec.members}
    forged = zipped(**members) if file.kind == "zip" else tarred("gz", **members)
    url = server.gives(f"/{file.name}", forged)
    spec = replace(spec, files=(replace(file, url=url),))
    with pytest.raises(Mismatch, match=f"sha256 .* where {ARCHIVES[file.name]} is expected"):
        fetch(spec, tmp_path, network=ONCE)
    assert [path.name for path in tmp_path.iterdir()] == [f"{file.name}.rejected"]


def test_sets_without_scalings_are_learning_sets():
    found = [name for name, spec in datasets.specs().items() if spec.is_learning_set]
    assert found == ["cora", "adult", "imdb", *IMAGES]


def test_names_and_keys_are_checked():
    with pytest.raises(InputError, match="dataset is 'livr'; did you mean 'liver'"):
        find("livr")
    with pytest.raises(InputError, match=r"'liver' of datasets\.yaml .*unexpected.*'colums'"):
        parse("liver", entries()["liver"] | {"colums": []})
    with pytest.raises(InputError, match=r"'x' of datasets\.yaml .*'members'"):
        parse("x", {})
    assert find("ctg").members == (Member("CTG.xls", 1, find("ctg").members[0].sha256),)
