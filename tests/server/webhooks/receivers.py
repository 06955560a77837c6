"""Receivers of webhooks on loopback, obliging and hostile, and a verifier that shares no code."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import queue
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from meijin.store.schema import WebhookFormat, WebhookId
from meijin.store.webhooks.events import SOURCES
from meijin.store.webhooks.hooks import WebhookRow

PATIENCE = 30.0
"""Seconds in which whatever is to come has come, on the busiest machine."""

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
HOOK = WebhookRow(
    id=WebhookId(1),
    url="https://example.org/",
    format=WebhookFormat.STANDARD,
    events=[event.value for event in SOURCES],
    create_time=NOON,
    secret="",
    owner="",
    bot="",
    ladder="",
)
"""An operator's, of everything."""


@dataclass(frozen=True, slots=True)
class Received:
    """One request."""

    path: str
    headers: Mapping[str, str]
    """By their names in small letters."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def is_signed_by(self, secret: str) -> bool:
        """Whether one of its signatures is made with a secret, as the specification says."""
        key = base64.b64decode(secret.split("_", 1)[1])
        stamp = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}."
        digest = hmac.new(key, stamp.encode() + self.body, hashlib.sha256).digest()
        wanted = f"v1,{base64.b64encode(digest).decode()}"
        return wanted in self.headers["webhook-signature"].split()


class Receiver:
    """An HTTP server that keeps what it gets, and answers as it is told."""

    def __init__(self) -> None:
        self.received: queue.Queue[Received] = queue.Queue()
        self.status = 204
        self.headers: dict[str, str] = {}
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                names = {name.lower(): value for name, value in self.headers.items()}
                received = Received(self.path, names, self.rfile.read(length))
                self.send_response(receiver.status)
                for name, value in {"content-length": "0", **receiver.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                receiver.received.put(received)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/hook?key=1"

    def next(self) -> Received:
        return self.received.get(timeout=PATIENCE)

    @contextmanager
    def running(self) -> Iterator[Receiver]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


Talk = Callable[[socket.socket], None]


@contextmanager
def listening(talk: Talk, host: str = "http://127.0.0.1") -> Iterator[str]:
    """The URL of a receiver that talks over a bare connection, to the end of the block."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def run() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError):
                        talk(connection)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield f"{host}:{server.getsockname()[1]}/"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            server.close()
            thread.join(PATIENCE)
            assert not thread.is_alive(), "the connection of the receiver was left open"
