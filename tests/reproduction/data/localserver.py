"""A web server on this computer, archives made in memory, and entries of data sets."""

from __future__ import annotations

import hashlib
import http.server
import io
import ssl
import tarfile
import threading
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any


class Server:
    """A web server on this computer whose answers a test sets: path -> (status, body, headers)."""

    def __init__(self, certificate: tuple[str, str] | None = None) -> None:
        self.answers: dict[str, tuple[int, bytes, dict[str, str]]] = {}
        self.requests: list[str] = []
        self.refuses_tunnels = 501
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests.append(self.path)
                status, body, headers = server.answers.get(self.path, (404, b"not here", {}))
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def do_CONNECT(self) -> None:
                """Answer as a proxy that tunnels for nobody."""
                self.send_error(server.refuses_tunnels)

            def log_message(self, *args: object) -> None:
                pass

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        scheme = "https" if certificate else "http"
        self.address = f"{scheme}://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def gives(
        self, path: str, body: bytes = b"", status: int = 200, headers: dict | None = None
    ) -> str:
        self.answers[path] = (status, body, headers or {})
        return self.address + path

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def file(data: bytes, *urls: str, **more: Any) -> dict[str, Any]:
    """Return the entry of a file with this content."""
    return {"sha256": sha256(data), **({"urls": list(urls)} if urls else {}), **more}


def entry(files: Mapping[str, Any], shape: Iterable[int] = (1, 1), **more: Any) -> dict[str, Any]:
    """Return the entry of a data set with these files."""
    words = {
        "public": True,
        "title": "Tiny",
        "publisher": "Nobody",
        "licence": "free",
        "citation": "Somebody",
    }
    return {"files": dict(files), "shape": list(shape), **words, **more}


def zipped(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def tarred(compression: str, **files: bytes) -> bytes:
    """Return an archive of these files, with a link to the first one last."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=f"w:{compression}") as archive:
        for name, data in files.items():
            item = tarfile.TarInfo(name)
            item.size = len(data)
            archive.addfile(item, io.BytesIO(data))
        link = tarfile.TarInfo(f"links/{next(iter(files))}")
        link.type, link.linkname = tarfile.SYMTYPE, next(iter(files))
        archive.addfile(link)
    return stream.getvalue()
