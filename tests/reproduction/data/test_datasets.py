import re

import pytest
import yaml

from matrixdp.checks import InputError
from reproduction.data import datasets, scaling
from reproduction.data.datasets import find, parse

ENTRIES = yaml.safe_load(datasets.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry_is_complete(name):
    spec = find(name)
    assert spec.files
    for file in spec.files:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256), file.name
        assert file.size is None or file.size > 0
        assert file.urls or not spec.publisher
        assert all(re.match(r"https?://[^/]+/.*[^/]$", url) for url in file.urls)
    packed = [file for file in spec.files if re.search(r"\.zip$|\.tar\.", file.name)]
    assert bool(spec.members) == bool(packed), "archives need members, and nothing else does"
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in [spec.sha256] if digest)
    assert all(isinstance(length, int) and length > 0 for length in spec.shape)
    if spec.scalings:
        assert "default" in spec.scalings
        assert {entry["method"] for entry in spec.scalings.values()} <= scaling.METHODS.keys()
        assert len(set(spec.columns)) == spec.shape[1]
    words = (spec.title, spec.publisher, spec.licence, spec.citation)
    assert all(len(text) > 2 for text in words if text or spec.publisher)
    assert re.fullmatch(r"10\.\d+/\S+", spec.doi or "10.1/x")


#: Files that no mirror needs to have: their SHA-256 as those who use them state it.
STATED = {
    "aclImdb_v1.tar.gz": "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
    "cifar-10-python.tar.gz": "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    "train_32x32.mat": "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
    "test_32x32.mat": "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
}


def test_large_files_have_the_checksums_that_others_state():
    files = [file for name in ("imdb", "cifar10", "svhn") for file in find(name).files]
    assert {file.name: file.sha256 for file in files} == STATED


def test_sets_without_scalings_are_learning_sets():
    assert find("mnist").is_learning_set
    assert not find("liver").is_learning_set


def test_names_and_keys_are_checked():
    with pytest.raises(InputError, match="dataset is 'livr'; did you mean 'liver'"):
        find("livr")
    entry = ENTRIES["liver"]
    (file,) = entry["files"].values()
    without = {key: value for key, value in file.items() if key != "sha256"}
    for wrong, reason in (
        ({}, "'files'"),
        (entry | {"colums": []}, "unexpected.*'colums'"),
        (entry | {"files": {"bupa.data": without}}, "'sha256'"),
        (entry | {"files": ["bupa.data"]}, "'list'"),
    ):
        with pytest.raises(InputError, match=rf"'liver' of datasets\.yaml .*{reason}"):
            parse("liver", wrong)
