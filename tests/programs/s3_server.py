"""A server of one bucket as S3 has them, over HTTP on the loopback."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

BUCKET = "arena"


class S3Server(ThreadingHTTPServer):
    """Keeps objects in memory; what fails is told by `failure`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.time = datetime.now(UTC)
        """When every object came."""
        self.failure: int | None = None
        """The status that every request gets."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: S3Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_PUT(self) -> None:
        self._keep(self.rfile.read(int(self.headers["Content-Length"])))

    def do_HEAD(self) -> None:
        self._get()

    def do_GET(self) -> None:
        if self._key:
            self._get()
        else:
            self._list()

    def do_POST(self) -> None:
        """Delete the objects that the body names."""
        body = ET.fromstring(self.rfile.read(int(self.headers["Content-Length"])))
        keys = [str(key.text) for key in body.iterfind(".//{*}Key")]
        for key in keys:
            self.server.objects.pop(key, None)
        said = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
        self._answer(200, f"<DeleteResult>{said}</DeleteResult>".encode())

    @property
    def _key(self) -> str:
        return unquote(urlsplit(self.path).path.removeprefix(f"/{BUCKET}").lstrip("/"))

    def _keep(self, data: bytes) -> None:
        if self.server.failure is None:
            self.server.objects[self._key] = data
        self._answer(200, b"")

    def _get(self) -> None:
        data = self.server.objects.get(self._key)
        self._answer(404 if data is None else 200, data or b"")

    def _list(self) -> None:
        (prefix,) = parse_qs(urlsplit(self.path).query).get("prefix", [""])
        found = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(data)}</Size>"
            f"<LastModified>{self.server.time:%Y-%m-%dT%H:%M:%S.000Z}</LastModified></Contents>"
            for key, data in sorted(self.server.objects.items())
            if key.startswith(prefix)
        )
        self._answer(200, f"<ListBucketResult>{found}</ListBucketResult>".encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(self.server.failure or status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{hashlib.md5(body).hexdigest()}"')
        self.send_header("Last-Modified", format_datetime(self.server.time, usegmt=True))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
        """Say nothing."""


@contextmanager
def running_s3() -> Iterator[S3Server]:
    with S3Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
