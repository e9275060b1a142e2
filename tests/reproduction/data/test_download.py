"""Files of a data set: the right content, from a mirror or the first address that has it."""

from __future__ import annotations

import gzip
import io
import os
import socket
import subprocess
import zipfile

import pytest
from localserver import Server, entry, file, sha256, tarred, zipped

from matrixdp.checks import InputError
from reproduction.data import archives, download
from reproduction.data.datasets import parse
from reproduction.data.download import Mismatch, Original, Unreachable, fetch

DATA, WRONG = b"85,92,45,27,31,0.0,1\n", b"85,92,45,27,31,0.0,2\n"
OTHER_ENDS = DATA.replace(b"\n", b"\r\n")
WALKS = {f"dataset/walk_{i}.csv": b"%d" % i for i in (1, 2, 10)}
FEWER = dict(list(WALKS.items())[:2])


def listed(*urls):
    """Return a data set with the file a.data at these addresses."""
    return parse("tiny", entry({"a.data": file(DATA, *urls)}, sha256="0" * 64))


def walks(*urls):
    """Return a data set of the members of an archive at these addresses."""
    files = {"walks.zip": file(b"the publisher's", *urls)}
    return parse("walks", entry(files, members=["walk_*.csv"], sha256="0" * 64))


def read(members):
    """Return the records of a data set: numbers, whatever the ends of lines."""
    records = sorted(data.split() for data in members.values())
    if records not in ([DATA.split()], sorted(data.split() for data in WALKS.values())):
        raise Mismatch("other records")
    return records


def fill(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    folder.mkdir(exist_ok=True)
    return folder


def names(folder):
    return sorted(path.name for path in folder.rglob("*"))


def sentence(raised):
    text = str(raised.value)
    assert "\n" not in text
    return text


def huge(name):
    """Return an archive with a member that is far larger than any file of a data set."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, DATA)
        with archive.open(f"more/{name}", "w") as member:
            member.write(bytes(2**20))
    return stream.getvalue()


#: Files in a mirror, and the one whose content is taken.
ACCEPTED = {
    "its name": (listed, {"a.data": DATA}, "a.data"),
    "in a folder": (listed, {"deep/down/a.data": DATA}, "deep/down/a.data"),
    "one of two": (listed, {"1/a.data": WRONG, "2/a.data": DATA}, "2/a.data"),
    "the other of two": (listed, {"1/a.data": DATA, "2/a.data": WRONG}, "1/a.data"),
    "compressed": (listed, {"a.data.gz": gzip.compress(DATA)}, "a.data.gz"),
    "an archive": (listed, {"x.zip": zipped(**{"b": b"x", "a.data": DATA})}, "x.zip"),
    "in a folder of an archive": (listed, {"x.tgz": tarred("gz", **{"up/a.data": DATA})}, "x.tgz"),
    "other ends of lines": (listed, {"a.data": OTHER_ENDS}, "a.data"),
    "a huge member beside it": (listed, {"x.zip": huge("a.data")}, "x.zip"),
    "beside a broken archive": (listed, {"a.zip": b"PK\3\4", "a.data": DATA}, "a.data"),
    "members in a .zip": (walks, {"mine.zip": zipped(**WALKS)}, "mine.zip"),
    "members in a .tar.xz": (walks, {"mine.tar.xz": tarred("xz", **WALKS)}, "mine.tar.xz"),
    "unpacked": (walks, WALKS, "dataset"),
    "the whole one of two": (
        walks,
        {**{f"old/{name}": data for name, data in FEWER.items()}, "new.zip": zipped(**WALKS)},
        "new.zip",
    ),
    "hidden files of macOS": (
        walks,
        {"x.zip": zipped(**WALKS, **{"__MACOSX/dataset/._walk_1.csv": b"x"})},
        "x.zip",
    ),
}


def encrypted(**files):
    """Return an archive that says of its files that they are encrypted."""
    data = bytearray(zipped(**files))
    for start, place in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        at = data.find(start)
        while at >= 0:
            data[at + place] |= 1
            at = data.find(start, at + 1)
    return bytes(data)


#: Files in a mirror that are refused, and what the error says; each is near an accepted one.
REFUSED = {
    "a changed byte": (listed, {"x/a.data": WRONG}, f"x/a.data has the sha256 {sha256(WRONG)}"),
    "a changed byte, compressed": (listed, {"a.data.gz": gzip.compress(WRONG)}, "has the sha256"),
    "the right name in an archive": (listed, {"x.zip": zipped(**{"a.data": WRONG})}, "x.zip has"),
    "half a .zip": (listed, {"a.data.zip": zipped(**{"a.data": DATA})[:-9]}, "its end is missing"),
    "half a .zip of members": (walks, {"walks.zip": zipped(**WALKS)[:-9]}, "its end is missing"),
    "an encrypted one": (listed, {"x.zip": encrypted(**{"a.data": DATA})}, "x.zip .* encrypted"),
    "encrypted members": (walks, {"mine.zip": encrypted(**WALKS)}, "mine.zip .* encrypted"),
    "half an archive": (listed, {"a.data.gz": gzip.compress(DATA)[:-9]}, "cannot be unpacked"),
    "a member too few": (walks, {"mine.zip": zipped(**FEWER)}, "mine.zip has other records"),
    "a file too few": (walks, FEWER, "dataset has other records"),
    "a changed member": (
        walks,
        {"w.tar.gz": tarred("gz", **WALKS | {"dataset/walk_2.csv": b"3"})},
        "w.tar.gz has other records",
    ),
    "no member": (walks, {"walks.zip": zipped(**{"a.data": DATA})}, r"has no walk_\*\.csv"),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_right_content_in_a_mirror_is_taken(case, nowhere, tmp_path):
    data, files, place = ACCEPTED[case]
    mirror = fill(tmp_path / "mirror", files)
    got = fetch(data(f"{nowhere}/x"), tmp_path / "new", mirror, read)
    (original,) = got.originals
    assert (original.path, original.source) == (mirror / place, "mirror")
    assert got.records == read(got.members)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_content_in_a_mirror_is_refused_and_nothing_is_downloaded(case, server, tmp_path):
    data, files, reason = REFUSED[case]
    mirror = fill(tmp_path / "mirror", files)
    with pytest.raises(Mismatch, match=reason) as raised:
        fetch(data(server.gives("/x", DATA)), tmp_path / "new", mirror, read)
    assert sentence(raised).endswith("replace it in data.mirror, or take it away to download it")
    assert server.requests == []


def test_a_huge_member_is_not_read_and_is_named(nowhere, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST", 1000)
    mirror = fill(tmp_path / "mirror", {"x.zip": zipped(**{"a.data": bytes(1001)})})
    with pytest.raises(Mismatch, match=r"a\.data of .*x\.zip has 1001 bytes, more than the 1000"):
        fetch(listed(f"{nowhere}/x"), tmp_path, mirror, read)


def test_without_the_checksum_of_records_that_of_the_archive_decides(nowhere, tmp_path):
    data = walks(f"{nowhere}/x").model_copy(update={"sha256": None})
    mirror = fill(tmp_path / "mirror", {"w.zip": zipped(**WALKS)})
    with pytest.raises(Mismatch, match=r"w\.zip has the sha256"):
        fetch(data, tmp_path, mirror, read)
    data.files["walks.zip"].sha256 = sha256(zipped(**WALKS))
    assert len(fetch(data, tmp_path, mirror, read).members) == 3


# Addresses.


def test_a_download_is_stored_as_it_comes_and_not_repeated(server, tmp_path):
    packed = gzip.compress(DATA)
    url = server.gives("/x/a+b.gz", packed, headers={"Content-Type": "application/gzip"})
    for _ in range(2):
        result = fetch(listed(url), tmp_path / "new")
        assert result.originals == [Original(tmp_path / "new/a+b.gz", url, sha256(packed))]
        assert result.members == {"a.data": DATA}
    assert server.requests == ["/x/a+b.gz"]
    assert (tmp_path / "new/a+b.gz").read_bytes() == packed
    # A wrong file of an earlier run is replaced.
    (tmp_path / "new/a+b.gz").write_bytes(packed[:9])
    assert fetch(listed(url), tmp_path / "new").members == {"a.data": DATA}


@pytest.fixture
def certified(tmp_path, monkeypatch):
    """The address of a server whose certificate nobody trusts."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    key, certificate = (str(tmp_path / name) for name in ("key", "certificate"))
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    command = [*words, "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    running = Server((certificate, key))
    yield running.address
    running.close()


@pytest.fixture
def silent():
    """The address of a server that never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def failing(server, nowhere, certified, silent, monkeypatch):
    """Addresses that fail: the kind of the error, and its words."""
    monkeypatch.setattr(download, "TIMEOUT", (0.2, 0.2))
    cut = {"Content-Length": "99"}
    return {
        server.gives("/gone", status=404): (InputError, "answers 404"),
        server.gives("/circle", status=302, headers={"Location": "/circle"}): (InputError, "302"),
        server.gives("/cut", DATA[:5], headers=cut): (InputError, "breaks off"),
        server.gives("/page", b"<!DOCTYPE html><p>Moved"): (Mismatch, "has"),
        f"{certified}/a": (InputError, "a certificate that is not trusted here (name those"),
        f"{nowhere}/a": (Unreachable, "127.0.0.1 cannot be reached"),
        f"{silent}/a": (Unreachable, "127.0.0.1 cannot be reached"),
    }


@pytest.mark.parametrize("data", [listed, walks])
def test_what_an_address_fails_with_is_said_and_the_next_one_tried(data, failing, server, tmp_path):
    for url, (kind, words) in failing.items():
        with pytest.raises(InputError) as raised:
            fetch(data(url), tmp_path / "new", read=read)
        assert type(raised.value) is kind
        text = sentence(raised)
        assert words in text
        assert text.endswith("try again later, or name a folder that has the files as data.mirror")
        assert names(tmp_path / "new") == []
    good = server.gives("/a.zip", zipped(**{"a.data": DATA} if data is listed else WALKS))
    (original,) = fetch(data(*failing, good), tmp_path / "new", read=read).originals
    assert original.source == good
    with pytest.raises(Mismatch) as raised:
        fetch(data(*failing), tmp_path / "none", read=read)
    assert [words for _, words in failing.values() if words not in sentence(raised)] == []


def test_wrong_content_of_one_file_is_no_reason_to_simulate(server, nowhere, tmp_path):
    data = listed(server.gives("/a.data", WRONG))
    data.files["b.data"] = listed(f"{nowhere}/b.data").files["a.data"]
    with pytest.raises(Mismatch, match=r"b\.data .* cannot be reached"):
        fetch(data, tmp_path, read=read)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_wants_a_login_is_said_to_be_that(scheme, server, tmp_path, monkeypatch):
    server.gives(f"{scheme}://example.test/a.data", b"log in", status=407)
    server.refuses_tunnels = 407
    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in (f"{scheme}_proxy", f"{scheme.upper()}_PROXY"):
        monkeypatch.setenv(name, server.address)
    with pytest.raises(InputError, match="the proxy answers 407 .*_PROXY") as raised:
        fetch(listed(f"{scheme}://example.test/a.data"), tmp_path)
    assert not isinstance(raised.value, Unreachable)
    sentence(raised)


#: A variable of the host, its value, and what the error says.
VARIABLES = [
    ("REQUESTS_CA_BUNDLE", "/no/such.pem", "is '/no/such.pem', which is no file; correct or unset"),
    ("HTTPS_PROXY", "socks5h://me:secret@127.0.0.1:9", "the package PySocks is missing"),
    ("https_proxy", "http://me:secret@127.0.0.1:99999", "is no address of a proxy"),
    ("HTTPS_PROXY", "http://", "is no address of a proxy"),
]


@pytest.mark.parametrize(("name", "value", "words"), VARIABLES)
def test_a_variable_of_the_host_that_stops_a_download_is_named(
    name, value, words, nowhere, tmp_path, monkeypatch
):
    for other in ("http", "https", "all", "no"):
        for each in (f"{other}_proxy", f"{other}_proxy".upper()):
            monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=f"{name} .*{words}") as raised:
        fetch(listed(nowhere.replace("http:", "https:") + "/a.data"), tmp_path)
    assert not isinstance(raised.value, Unreachable)
    assert "secret" not in sentence(raised)


def test_a_client_without_its_certificates_is_no_full_disk(nowhere, tmp_path, monkeypatch):
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", "/no/such.pem")
    with pytest.raises(InputError, match=r"cannot be asked \(.*/no/such\.pem\)") as raised:
        fetch(listed(nowhere.replace("http:", "https:") + "/a.data"), tmp_path)
    assert not isinstance(raised.value, Unreachable)
    assert "space" not in sentence(raised)


def test_a_folder_that_cannot_be_written_is_one_sentence(server, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InputError, match=r"file/a\.data cannot be written \(.*choose a") as raised:
        fetch(listed(server.gives("/a.data", DATA)), tmp_path / "file")
    sentence(raised)


# The mirror as a folder, and paths.


def test_what_a_mirror_lacks_is_downloaded_or_an_error(server, nowhere, tmp_path):
    mirror = fill(tmp_path / "mirror", {"b.data": WRONG, "a (1).data": DATA})
    url = server.gives("/a.data", DATA)
    (original,) = fetch(listed(url), tmp_path / "new", mirror).originals
    assert original.source == url
    with pytest.raises(InputError) as raised:
        fetch(listed(f"{nowhere}/a.data"), tmp_path / "other", mirror)
    assert not isinstance(raised.value, Unreachable)
    assert sentence(raised).startswith(
        f"data.mirror '{mirror}' lacks a file: a.data of data set tiny cannot be downloaded"
    )
    with pytest.raises(InputError, match=r"data\.mirror is '.*none', which is no folder"):
        fetch(listed(url), tmp_path, tmp_path / "none")


def test_links_in_a_mirror_are_followed_each_folder_once(tmp_path):
    real = fill(tmp_path / "real", {"sub/a.data": DATA})
    mirror = fill(tmp_path / "mirror", {})
    for folder in (mirror, real, real / "sub"):
        for i in range(8):
            (folder / f"up{i}").symlink_to(mirror)
            (folder / f"linked{i}").symlink_to(real)
    assert [path.name for path in archives.walk(mirror)] == ["a.data"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (os.mkfifo, "lacks a file"),
        (lambda path: path.symlink_to("/dev/zero"), "lacks a file"),
        # A plain file by its type, which nobody can read from its start.
        (lambda path: path.symlink_to("/proc/self/mem"), r"a\.data cannot be read \("),
    ],
)
def test_what_cannot_be_read_in_a_mirror_is_one_sentence(nowhere, tmp_path, make, says):
    mirror = fill(tmp_path / "mirror", {})
    make(mirror / "a.data")
    with pytest.raises(InputError, match=says) as raised:
        fetch(listed(f"{nowhere}/a.data"), tmp_path / "new", mirror)
    sentence(raised)


def test_a_file_without_addresses_must_be_in_a_mirror(tmp_path):
    with pytest.raises(InputError, match=r"a\.data of data set tiny has no addresses; name a"):
        fetch(listed(), tmp_path)
