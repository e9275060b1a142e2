"""Every address of the data sets still gives what its checksum stands for, each by itself."""

import os
from dataclasses import replace

import pytest

from reproduction.data import datasets, download

ADDRESSES = [
    pytest.param(spec, replace(file, urls=(url,)), id=f"{spec.name}-{url}")
    for spec in datasets.specs().values()
    for file in spec.files
    for url in file.urls
]


@pytest.mark.skipif("ASK_ADDRESSES" not in os.environ, reason="ASK_ADDRESSES=1 asks the network")
@pytest.mark.parametrize(("spec", "file"), ADDRESSES)
def test_an_address_gives_what_is_expected(spec, file, tmp_path):
    download.fetch(replace(spec, files=(file,)), tmp_path)
