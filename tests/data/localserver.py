"""A web server on this computer, and archives made in memory."""

from __future__ import annotations

import http.server
import io
import tarfile
import threading
import zipfile

from matrixdp.data.fetch import Network

#: One quick attempt, so that failures do not slow the tests down.
ONCE = Network(attempts=1, connect=2, silence=2, pause=0)


class Server:
    """A web server on this computer whose answers a test sets: path -> (status, body, headers)."""

    def __init__(self) -> None:
        self.answers: dict[str, list[tuple[int, bytes, dict[str, str]]]] = {}
        self.asked: list[str] = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                queue = server.answers.get(self.path, [(404, b"not here", {})])
                status, body, headers = queue.pop(0) if len(queue) > 1 else queue[0]
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def gives(
        self, path: str, body: bytes = b"", status: int = 200, headers: dict | None = None
    ) -> str:
        self.answers.setdefault(path, []).append((status, body, headers or {}))
        return self.address + path

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def zipped(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def tarred(compression: str, **files: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=f"w:{compression}") as archive:
        for name, data in files.items():
            item = tarfile.TarInfo(name)
            item.size = len(data)
            archive.addfile(item, io.BytesIO(data))
    return stream.getvalue()
