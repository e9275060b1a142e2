"""Every address of the data sets still gives what its checksums stand for, each by itself."""

import os
from dataclasses import replace

import pytest
import yaml
from localserver import ONCE, zipped

from matrixdp.checks import InputError
from matrixdp.data import datasets, fetch

ADDRESSES = [
    pytest.param(spec, file, id=f"{spec.name}-{file.url}")
    for spec in datasets.specs().values()
    for file in spec.files
    if file.url
]


def ask(spec, file, folder, **options):
    """Fetch from one address alone what it holds; InputError if it gives anything else."""
    held = tuple(member for member in spec.members if member.name in file.holds)
    fetch.fetch(replace(spec, files=(file,), members=held), folder, **options)


@pytest.mark.skipif("ASK_ADDRESSES" not in os.environ, reason="ASK_ADDRESSES=1 asks the network")
@pytest.mark.parametrize(("spec", "file"), ADDRESSES)
def test_an_address_gives_what_is_expected(spec, file, tmp_path):
    ask(spec, file, tmp_path)


@pytest.mark.parametrize("change", [{"body": b"3 4"}, {"status": 404}])
def test_a_second_address_is_found_wrong_though_the_first_is_right(change, server, tmp_path):
    entry = next(iter(yaml.safe_load(datasets.FILE.read_text()).values()))
    entry["files"] = [
        {"url": server.gives("/a.zip", zipped(**{"a.data": b"1 2"})), "kind": "zip"},
        {"url": server.gives("/a.data", **change), "kind": "file"},
    ]
    sha256 = "f71998fe363b9c29116c80b5eecf33a2fedca3b6159724384485804b71651029"
    entry["members"] = [{"name": "a.data", "sha256": sha256}]
    first, second = (spec := datasets.parse("tiny", entry)).files
    ask(spec, first, tmp_path / "first", network=ONCE)
    with pytest.raises(InputError, match=r"a\.data"):
        ask(spec, second, tmp_path / "second", network=ONCE)
