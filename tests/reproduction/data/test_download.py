"""Files of a data set: the right bytes, from a mirror or the first address that has them."""

from __future__ import annotations

import gzip
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from localserver import entry, file, sha256, tarred, zipped

from matrixdp.checks import InputError
from reproduction.data import download
from reproduction.data.datasets import parse
from reproduction.data.download import Mismatch, Original, Unreachable, fetch, members

DATA, WRONG = b"85,92,45,27,31,0.0,1\n", b"85,92,45,27,31,0.0,2\n"


def spec(*urls, **more):
    """Return a data set with the file a.data at these addresses."""
    return parse("tiny", entry({"a.data": file(DATA, *urls, **more)}))


def names(folder):
    return sorted(path.name for path in folder.rglob("*"))


def sentence(caught):
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_download_is_stored_and_not_repeated(server, tmp_path):
    url = server.gives("/x/other+name", DATA)
    for _ in range(2):
        (original,) = fetch(spec(url), tmp_path / "new")
        assert original == Original(tmp_path / "new/a.data", url, sha256(DATA))
        assert original.path.read_bytes() == DATA
    assert server.requests == ["/x/other+name"]
    assert names(tmp_path / "new") == ["a.data"]


def test_bytes_are_stored_as_they_come(server, tmp_path):
    packed = gzip.compress(DATA)
    url = server.gives("/a.data.gz", packed, headers={"Content-Type": "application/gzip"})
    (original,) = fetch(parse("tiny", entry({"a.data.gz": file(packed, url)})), tmp_path)
    assert original.path.read_bytes() == packed
    assert members([original], ()) == {"a.data": DATA}


def test_the_next_address_is_tried_after_each_failure(server, nowhere, tmp_path):
    urls = [
        server.gives("/gone", status=404),
        server.gives("/busy", status=503),
        server.gives("/circle", status=302, headers={"Location": "/circle"}),
        server.gives("/cut", DATA[:5], headers={"Content-Length": "99"}),
        f"{nowhere}/off",
    ]
    (original,) = fetch(spec(*urls, server.gives("/a.data", DATA)), tmp_path / "1")
    assert original.source == f"{server.address}/a.data"

    with pytest.raises(InputError) as caught:
        fetch(spec(*urls), tmp_path / "2")
    assert not isinstance(caught.value, Unreachable | Mismatch)
    assert sentence(caught) == (
        f"a.data of data set tiny cannot be downloaded ({urls[0]} answers 404, {urls[1]} answers "
        f"503, {urls[2]} answers 302, {urls[3]} breaks off, 127.0.0.1 cannot be reached); "
        "try again later, or name a folder that has the files as data.mirror"
    )
    assert names(tmp_path / "2") == []


def test_no_answer_from_any_address_is_unreachable(nowhere, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", (0.2, 0.2))
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/a.data"
        with pytest.raises(Unreachable, match=r"\(127\.0\.0\.1 cannot be reached\)") as caught:
            fetch(spec(url, f"{nowhere}/a.data"), tmp_path)
    sentence(caught)


def test_a_wrong_checksum_is_an_error_at_once(server, tmp_path):
    page = server.gives("/log-in", b"<!DOCTYPE html><p>Log in")
    data = spec(page, server.gives("/good", DATA))
    for _ in range(2):
        with pytest.raises(Mismatch) as caught:
            fetch(data, tmp_path)
        text = sentence(caught)
        assert text.startswith(f"{page} has the sha256 ")
        assert f"where {sha256(DATA)} is expected" in text
        assert text.endswith("name a folder that has the files as data.mirror")
        assert names(tmp_path) == []
    assert server.requests == ["/log-in"] * 2


def test_a_file_may_end_otherwise_where_an_entry_says_so(server, tmp_path):
    data = spec(server.gives("/a.data", DATA + b"\n"))
    with pytest.raises(Mismatch):
        fetch(data, tmp_path)
    (file,) = data.files
    data = replace(data, files=(replace(file, copies={sha256(DATA + b"\n"): "a.data"}),))
    (original,) = fetch(data, tmp_path)
    assert original.sha256 == sha256(DATA + b"\n")
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "a.data").write_bytes(DATA + b"\n")
    (copy,) = fetch(data, tmp_path, tmp_path / "mirror")
    assert copy.source == "mirror"


def test_a_wrong_file_of_an_earlier_run_is_replaced(server, tmp_path):
    (tmp_path / "a.data").write_bytes(DATA[:9])
    (original,) = fetch(spec(server.gives("/a.data", DATA)), tmp_path)
    assert original.path.read_bytes() == DATA


def test_an_interruption_leaves_nothing(server, tmp_path, monkeypatch):
    import requests

    def break_off(self, chunk_size):
        yield b"half"
        raise KeyboardInterrupt

    monkeypatch.setattr(requests.Response, "iter_content", break_off)
    with pytest.raises(KeyboardInterrupt):
        fetch(spec(server.gives("/a.data", DATA)), tmp_path)
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_one_sentence(server, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InputError, match=r"file/a\.data cannot be written \(.*choose a") as caught:
        fetch(spec(server.gives("/a.data", DATA)), tmp_path / "file")
    sentence(caught)


FILES = {"deep/er/a.csv": b"1,2\n", "w/walk_1.csv": b"1", "walk_10.csv": b"10", "other": b"x"}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("set.zip", zipped(**FILES)),
        ("set.tar.gz", tarred("gz", **FILES)),
        ("set.tar.xz", tarred("xz", **FILES)),
    ],
)
def test_archives_give_the_files_that_match(name, data, tmp_path):
    (tmp_path / name).write_bytes(data)
    originals = [Original(tmp_path / name, "mirror", sha256(data))]
    walks = {"walk_1.csv": b"1", "walk_10.csv": b"10"}
    assert members(originals, ["a.csv", "walk_*.csv"]) == {"a.csv": b"1,2\n", **walks}
    assert members(originals, ["er/*.csv"]) == {"er/a.csv": b"1,2\n"}
    assert members(originals, ["deep/*.csv"]) == {}
    assert names(tmp_path) == [name]


# The mirror folder.


def mirrored(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@pytest.mark.parametrize(
    ("files", "right"),
    [
        ({"a.data": DATA}, "a.data"),
        ({"deep/down/a.data": DATA}, "deep/down/a.data"),
        ({"1/a.data": WRONG, "2/a.data": DATA}, "2/a.data"),
        ({"1/a.data": DATA, "2/a.data": WRONG}, "1/a.data"),
    ],
)
def test_a_mirror_comes_first_and_of_two_files_the_checksum_chooses(
    nowhere, tmp_path, files, right
):
    mirror = mirrored(tmp_path / "mirror", **files)
    expected = [Original(mirror / right, "mirror", sha256(DATA))]
    assert fetch(spec(f"{nowhere}/a.data"), tmp_path / "new", mirror) == expected
    assert not (tmp_path / "new").exists()


def test_a_mirror_may_have_the_same_content_packed_anew(nowhere, tmp_path):
    packed = tarred("xz", **{"labelled/a.data": DATA})
    data = parse(
        "tiny",
        entry(
            {"all.tar.gz": file(b"", f"{nowhere}/x", copies={sha256(packed): "some.tar.xz"})},
            members=["a.data"],
        ),
    )
    mirror = mirrored(tmp_path / "mirror", **{"some.tar.xz": packed})
    originals = fetch(data, tmp_path, mirror)
    assert members(originals, data.members) == {"a.data": DATA}
    assert originals[0].sha256 == sha256(packed)
    (mirror / "some.tar.xz").write_bytes(b"x")
    with pytest.raises(Mismatch, match=r"some\.tar\.xz has the sha256"):
        fetch(data, tmp_path, mirror)


def test_a_wrong_checksum_in_a_mirror_is_an_error_and_nothing_is_downloaded(server, tmp_path):
    mirror = mirrored(tmp_path / "mirror", **{"x/a.data": WRONG})
    with pytest.raises(Mismatch) as caught:
        fetch(spec(server.gives("/a.data", DATA)), tmp_path / "new", mirror)
    text = sentence(caught)
    assert text.startswith(f"{mirror}/x/a.data has the sha256 {sha256(WRONG)} where {sha256(DATA)}")
    assert text.endswith("replace it in data.mirror, or take it away to download it")
    assert (mirror / "x/a.data").read_bytes() == WRONG
    assert server.requests == []


def test_what_a_mirror_lacks_is_downloaded_or_an_error(server, nowhere, tmp_path):
    mirror = mirrored(tmp_path / "mirror", **{"b.data": DATA})
    (original,) = fetch(spec(server.gives("/a.data", DATA)), tmp_path / "new", mirror)
    assert original.source == f"{server.address}/a.data"
    with pytest.raises(InputError) as caught:
        fetch(spec(f"{nowhere}/a.data"), tmp_path / "other", mirror)
    assert not isinstance(caught.value, Unreachable)
    assert sentence(caught).startswith(
        f"data.mirror '{mirror}' lacks a file: a.data of data set tiny cannot be downloaded"
    )


def test_a_mirror_must_be_a_folder(server, tmp_path):
    with pytest.raises(InputError, match=r"data\.mirror is '.*none', which is no folder"):
        fetch(spec(server.gives("/a.data", DATA)), tmp_path, tmp_path / "none")
    assert server.requests == []


def test_links_in_a_mirror_are_followed_also_in_a_circle(nowhere, tmp_path):
    real = mirrored(tmp_path / "real", **{"sub/a.data": DATA})
    mirror = mirrored(tmp_path / "mirror")
    (mirror / "linked").symlink_to(real)
    (real / "sub" / "up").symlink_to(mirror)
    (original,) = fetch(spec(f"{nowhere}/a.data"), tmp_path / "new", mirror)
    assert original.path.read_bytes() == DATA


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_pipe_or_a_device_in_a_mirror_is_not_read(nowhere, tmp_path, make):
    mirror = mirrored(tmp_path / "mirror")
    make(mirror / "a.data")
    with pytest.raises(InputError, match="lacks a file"):
        fetch(spec(f"{nowhere}/a.data"), tmp_path / "new", mirror)


def test_an_unreadable_file_in_a_mirror_is_one_sentence(nowhere, tmp_path, monkeypatch):
    mirror = mirrored(tmp_path / "mirror", **{"a.data": DATA})

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pooch.file_hash", refuse)
    with pytest.raises(InputError, match=r"a\.data in data\.mirror cannot be read \(permission"):
        fetch(spec(f"{nowhere}/a.data"), Path("unused"), mirror)


def test_a_file_of_ones_own_is_taken_from_its_path(tmp_path):
    (tmp_path / "a.data").write_bytes(DATA)
    data = spec(path=str(tmp_path / "a.data"))
    (original,) = fetch(data, tmp_path / "unused")
    assert (original.source, original.sha256) == ("path", sha256(DATA))
    (tmp_path / "a.data").write_bytes(DATA + b"!")
    with pytest.raises(Mismatch, match="correct path or sha256 in datasets.yaml"):
        fetch(data, tmp_path)
    (tmp_path / "a.data").unlink()
    with pytest.raises(InputError, match="cannot be read .*; correct path"):
        fetch(data, tmp_path)
    with pytest.raises(InputError, match=r"a.data of data set tiny has no addresses; name its"):
        fetch(spec(), tmp_path)
