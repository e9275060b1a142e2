import re

import pytest

from reproduction.data import datasets
from reproduction.data.datasets import find_dataset


@pytest.mark.parametrize("name", datasets.entries())
def test_every_data_set_can_be_had_and_cited(name):
    spec = find_dataset(name)
    packed = [file for file in spec.files if re.search(r"\.zip$|\.tar\.", file)]
    assert bool(spec.members) == bool(packed), "archives need members, and nothing else does"
    assert all(file.urls for file in spec.files.values()) or not spec.publisher
    assert all([spec.licence, spec.citation]) or not spec.publisher
    assert spec.is_learning_set == (name not in ("liver", "movement", "ctg"))


#: Files that no mirror needs to have: their SHA-256 as those who use them state it.
STATED = {
    "aclImdb_v1.tar.gz": "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
    "cifar-10-python.tar.gz": "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    "train_32x32.mat": "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
    "test_32x32.mat": "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
}


def test_large_files_have_the_checksums_that_others_state():
    files = [find_dataset(name).files for name in ("imdb", "cifar10", "svhn")]
    assert {name: file.sha256 for each in files for name, file in each.items()} == STATED
