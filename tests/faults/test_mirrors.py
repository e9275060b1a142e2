"""A folder of originals that was named: what is in it is found, what is not is never simulated."""

from __future__ import annotations

import os
import shutil

import pytest
from localserver import ONCE, zipped

from matrixdp.checks import InputError
from matrixdp.data import datasets, store
from matrixdp.data.fetch import Lacking, fetch, sha256

RIGHT, WRONG = b"right\n", b"wrong\n"


def adult(nowhere, **pins):
    """A data set of two members, as Adult is."""
    return datasets.parse(
        "adult",
        {
            "title": "t",
            "publisher": "p",
            "files": [{"url": f"{nowhere}/adult.zip", "kind": "zip", **pins.pop("file", {})}],
            "members": [{"name": f"adult.{one}", **pins} for one in ("data", "test")],
            "shape": [2, 1],
            "sha256": "0" * 64,
            "licence": "l",
            "citation": "c",
        },
    )


def filled(folder, **files):
    for name, data in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@pytest.fixture
def prepared(nowhere, tmp_path, monkeypatch):
    """Return what prepares Adult from a mirror, without a network; it returns what was made."""
    spec = adult(nowhere)
    monkeypatch.setattr(datasets, "specs", lambda: {"adult": spec})
    monkeypatch.setattr(store, "_stand_in", lambda spec, seed: "a stand-in")
    made = []
    monkeypatch.setattr(store, "write", lambda out, spec, requested, what: made.append(what))

    def prepare(mirror, source="auto"):
        store.prepare("adult", out=tmp_path / "o", source=source, mirror=mirror, network=ONCE)
        return made

    return prepare


CASES = {
    "empty": ({}, "searched (0 files): of data set adult it has nothing and lacks"),
    "other files": ({"x.csv": RIGHT}, "searched (1 files): of data set adult it has nothing"),
    "half": ({"deep__adult.data": RIGHT}, "it has adult.data and lacks adult.test"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_mirror_lacks_is_said_and_not_simulated(prepared, tmp_path, case):
    files, said = CASES[case]
    mirror = filled(tmp_path / "m", **files)
    mirror.mkdir(exist_ok=True)
    for source in ("auto", "original"):
        with pytest.raises(Lacking) as caught:
            prepared(mirror, source)
        text = str(caught.value)
        assert said in text
        assert str(mirror) in text
        assert "cannot be reached" in text
        assert "\n" not in text
    assert "data.source: fallback" not in text
    assert prepared(mirror, "fallback") == ["a stand-in"]


def test_without_a_mirror_auto_simulates_as_before(prepared):
    assert prepared(None) == ["a stand-in"]


def test_links_are_followed_once(nowhere, tmp_path):
    real = filled(tmp_path / "real", **{"adult.data": RIGHT, "sub__adult.test": RIGHT})
    mirror = tmp_path / "m"
    mirror.mkdir()
    (mirror / "linked").symlink_to(real)
    (real / "sub" / "up").symlink_to(mirror)
    assert fetch(adult(nowhere), tmp_path / "d", mirror, network=ONCE).members.keys() == {
        "adult.data",
        "adult.test",
    }


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_pipe_or_a_device_is_refused(nowhere, tmp_path, make):
    mirror = filled(tmp_path / "m", **{"adult.test": RIGHT})
    make(mirror / "adult.data")
    with pytest.raises(Lacking, match=r"could not open adult\.data\): .* lacks adult\.data"):
        fetch(adult(nowhere), tmp_path / "d", mirror, network=ONCE)


def test_a_folder_that_cannot_be_opened_is_named(nowhere, tmp_path, monkeypatch):
    mirror = filled(tmp_path / "m", **{"shut__adult.data": RIGHT, "adult.test": RIGHT})
    scan = os.scandir

    def refuse(path):
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(Lacking, match=r"could not open .*/shut\): .* lacks adult\.data"):
        fetch(adult(nowhere), tmp_path / "d", mirror, network=ONCE)


@pytest.mark.parametrize("first", [RIGHT, WRONG])
def test_of_two_versions_of_a_member_the_checksum_chooses(nowhere, tmp_path, first):
    second = WRONG if first == RIGHT else RIGHT
    mirror = filled(tmp_path / "m", **{"1__adult.data": first, "2__adult.data": second})
    shutil.copy(mirror / "1/adult.data", mirror / "adult.test")
    (mirror / "adult.test").write_bytes(RIGHT)
    found = fetch(adult(nowhere, sha256=sha256(RIGHT)), tmp_path / "d", mirror, network=ONCE)
    assert found.members == {"adult.data": RIGHT, "adult.test": RIGHT}
    with pytest.raises(InputError, match=r"two different files adult\.data, 1/.* and 2/.*mirror"):
        fetch(adult(nowhere), tmp_path / "d", mirror, network=ONCE)


@pytest.mark.parametrize("right", [1, 2])
def test_of_two_versions_of_a_file_the_checksum_chooses(nowhere, tmp_path, right):
    good, bad = (zipped(**{"adult.data": one, "adult.test": one}) for one in (RIGHT, WRONG))
    mirror = filled(tmp_path / "m", **{f"{right}__adult.zip": good, f"{3 - right}__adult.zip": bad})
    for pin in ({"file": {"sha256": sha256(good)}}, {"sha256": sha256(RIGHT)}):
        found = fetch(adult(nowhere, **pin), tmp_path / "d", mirror, network=ONCE)
        assert found.members == {"adult.data": RIGHT, "adult.test": RIGHT}
        assert found.origins[0].sha256 == sha256(good)
    with pytest.raises(InputError, match=r"1/adult\.zip and 2/adult\.zip differ; leave the right"):
        fetch(adult(nowhere), tmp_path / "d", mirror, network=ONCE)
    # A damaged version beside a whole one does not stand in its way.
    (mirror / f"{3 - right}/adult.zip").write_bytes(b"PK half")
    assert (
        fetch(adult(nowhere), tmp_path / "d", mirror, network=ONCE).members["adult.data"] == RIGHT
    )
