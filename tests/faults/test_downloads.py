"""Downloads that go wrong: a sentence, nothing that sticks, and the next address."""

from __future__ import annotations

import contextlib
import gzip
import io
import socket
import tarfile
import threading
import time
import zipfile

import pytest
from localserver import ONCE, tarred, zipped

from matrixdp.checks import InputError
from matrixdp.data import archives
from matrixdp.data.datasets import parse
from matrixdp.data.fetch import Network, Unreachable, fetch

DATA = b"85,92,45,27,31,0.0,1\n"


def spec(*addresses):
    """A data set of one member at these addresses, each as URL and kind."""
    return parse(
        "tiny",
        {
            "title": "t",
            "publisher": "p",
            "files": [{"url": url, "kind": kind} for url, kind in addresses],
            "members": [{"name": "a.data"}],
            "shape": [1, 7],
            "sha256": "0" * 64,
            "licence": "l",
            "citation": "c",
        },
    )


def with_link():
    """An archive whose member is a link to a file that it does not hold."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for kind, name in ((tarfile.SYMTYPE, "a.data"), (tarfile.LNKTYPE, "b/a.data")):
            item = tarfile.TarInfo(name)
            item.type, item.linkname = kind, "elsewhere"
            archive.addfile(item)
    return stream.getvalue()


def bomb(kind, size=3 * 2**20):
    """An archive of a few kB that unpacks to more than the tests' limit."""
    zeros = bytes(size)
    if kind == "zip":
        return zipped(**{"a.data": zeros})
    return (
        gzip.compress(zeros) if kind == "gz" else tarred("gz", **{"other": zeros, "a.data": DATA})
    )


def nested(depth):
    """Archives in archives, the innermost with the member."""
    inner = zipped(**{"a.data": DATA})
    for _ in range(depth):
        inner = zipped(**{"x.zip": inner})
    return inner


def locked():
    """A zip whose member is marked as encrypted."""
    data = bytearray(zipped(**{"a.data": DATA}))
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        data[data.index(mark) + (6 if mark[2] == 3 else 8)] |= 1
    return bytes(data)


FAULTS = {
    "link.tar.gz": (with_link(), "holds no file a.data"),
    "bomb.zip": (bomb("zip"), "unpacks to more than 1 MiB"),
    "bomb.tar.gz": (bomb("tar.gz"), "unpacks to more than 1 MiB"),
    "a.data.gz": (bomb("gz"), "unpacks to more than 1 MiB"),
    "long.zip": (bytes(2 * 2**20), "larger than 1 MiB"),
    "deep.zip": (nested(5), "holds no file a.data"),
    "locked.zip": (locked(), "truncated or damaged"),
    "out.zip": (zipped(**{"../b.data": DATA}), "holds no file a.data"),
    "page.zip": (b"<!DOCTYPE html><p>Log in", "is a web page instead of data"),
    "size.zip": (b"x" * len(zipped(**{"a.data": DATA})), "is no zip file"),
    "none.zip": (b"", "is empty"),
    "half.tar.gz": (tarred("gz", **{"a.data": DATA})[:40], "truncated or damaged"),
    "garbage.tar.gz": (gzip.compress(b"no archive" * 99), "truncated or damaged"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_file_is_set_aside_and_the_next_address_tried(server, tmp_path, monkeypatch, name):
    monkeypatch.setattr(archives, "LIMIT", 2**20)
    body, said = FAULTS[name]
    kind = "zip" if name.endswith("zip") else "tar.gz" if ".tar." in name else "gz"
    bad = server.gives(f"/{name}", body), kind
    good = server.gives("/good/a.data", DATA), "file"
    # Twice: what was set aside is not used again.
    for _ in range(2):
        with pytest.raises(InputError, match=said) as caught:
            fetch(spec(bad), tmp_path, network=ONCE)
        assert "\n" not in str(caught.value)
        assert {path.name for path in tmp_path.iterdir()} <= {f"{name}.rejected"}
    assert len(server.asked) == 2
    assert fetch(spec(bad, good), tmp_path, network=ONCE).members == {"a.data": DATA}


def test_names_that_lead_out_of_the_folder_write_nothing(server, tmp_path):
    body = zipped(**{"../../a.data": DATA, "/etc/a.data": DATA})
    url = server.gives("/out.zip", body)
    folder = tmp_path / "in" / "side"
    assert fetch(spec((url, "zip")), folder, network=ONCE).members == {"a.data": DATA}
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["out.zip"]


@pytest.mark.parametrize(
    "error", [MemoryError(), KeyError("x"), OverflowError("y"), RecursionError(), OSError(5, "z")]
)
def test_whatever_a_reader_of_archives_raises_is_damage(server, tmp_path, monkeypatch, error):
    bad = server.gives("/a.zip", zipped(**{"a.data": DATA})), "zip"
    good = server.gives("/a.data", DATA), "file"

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(zipfile, "ZipFile", fail)
    assert fetch(spec(bad, good), tmp_path, network=ONCE).members == {"a.data": DATA}
    assert (tmp_path / "a.zip.rejected").exists()


def test_a_redirect_in_a_circle_is_left_for_the_next_address(server, tmp_path):
    circle = server.gives("/a.data.gz", status=302, headers={"Location": "/a.data.gz"}), "gz"
    good = server.gives("/a.data", DATA), "file"
    with pytest.raises(InputError, match="TooManyRedirects"):
        fetch(spec(circle), tmp_path, network=ONCE)
    assert fetch(spec(circle, good), tmp_path, network=ONCE).members["a.data"] == DATA


def test_a_busy_server_is_asked_again_and_that_is_said(server, tmp_path, capsys):
    url = server.gives("/a.data", status=503)
    server.gives("/a.data", DATA)
    two = Network(attempts=2, connect=2, silence=2, pause=0)
    assert fetch(spec((url, "file")), tmp_path, network=two).members == {"a.data": DATA}
    assert capsys.readouterr().err == f"{url} answers 503: trying again\n"


@contextlib.contextmanager
def speaking(*parts, pause):
    """A server that says these parts, one after each pause, and then nothing; yield its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(5)

        def serve():
            with contextlib.suppress(OSError):
                caller, _ = listener.accept()
                with caller:
                    caller.recv(2**12)
                    for part in parts:
                        caller.sendall(part)
                        time.sleep(pause)
                    caller.recv(1)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/a.data"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"


def test_a_server_that_falls_silent_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with speaking(HEAD + b"85", pause=0) as url:
        start = time.monotonic()
        with pytest.raises(Unreachable, match="does not answer in time"):
            fetch(spec((url, "file")), tmp_path, network=Network(1, 2, 0.3, 0, 9))
    assert time.monotonic() - start < 4
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_drips_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with speaking(HEAD, *[b"8"] * 200, pause=0.05) as url:
        start = time.monotonic()
        with pytest.raises(Unreachable, match=r"too few bytes in 0\.5 seconds"):
            fetch(spec((url, "file")), tmp_path, network=Network(3, 2, 2, 0, 0.5))
    assert time.monotonic() - start < 3
    assert list(tmp_path.iterdir()) == []


def test_by_default_a_stalled_server_holds_a_run_for_about_a_minute():
    patient = Network()
    assert patient.attempts * (patient.silence + patient.pause) <= 75
