"""The HTTP server that a site runs in, and the certificate that it shows."""

import asyncio
import contextlib
import logging
import socket
import ssl
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from meijin.web.site import application
from meijin.web.state import SiteState
from meijin.web.streaming import TRANSPORT

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 4000
"""Of all browsers together; one more is closed at once."""

MAX_CONNECTIONS_OF_HOST = 1500
"""Of one address, behind which there may be a proxy."""

REQUEST_TIMEOUT = timedelta(seconds=15)
"""How long a request may take to come, without its body."""

MAX_HEAD_BYTES = 64 * 1024
"""Of a request, without its body."""

CLOSING_TIME = timedelta(seconds=2)
"""How long answers that are under way may take when the site stops."""

BACKLOG = 512

LOOK_INTERVAL = timedelta(minutes=1)
"""Between two looks whether the files have changed."""


class Certificate:
    """A certificate and its key, for handshakes from now on."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Read the files.

        Raises:
            OSError: one can't be read, or isn't what it should be (`ssl.SSLError`).
        """
        self._files = certificate, key
        self._read = self._changes()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)

    async def follow(self) -> None:
        """Read the files again whenever they have changed."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL.total_seconds())
            await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Read the files again if they have changed; what can't be read leaves all as it was."""
        try:
            changes = self._changes()
            if changes != self._read:
                self.context.load_cert_chain(*self._files)
                self._read = changes
        except OSError as error:
            log.warning("the pages keep their certificate: %s", error)

    def _changes(self) -> tuple[int, ...]:
        return tuple(path.stat().st_mtime_ns for path in self._files)


class Host:
    """A site on a port.

    Never by `uvicorn.Server.serve`: it would take the process's signals for itself.
    """

    def __init__(
        self, site: SiteState, listener: socket.socket, certificate: Certificate | None = None
    ) -> None:
        self._site = site
        self._listener = listener
        self._certificate = certificate
        scheme = "http" if certificate is None else "https"
        self.url = f"{scheme}://{_shown_address(listener)}"
        """Where a browser on this machine finds the pages."""
        config = uvicorn.Config(
            application(site),
            loop="none",
            http=_Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=int(CLOSING_TIME.total_seconds()),
            ssl_context_factory=None if certificate is None else lambda *_: certificate.context,
        )
        self._server = _Server(config)
        self._ended = asyncio.Event()
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)

    async def run(self) -> None:
        following = None
        if self._certificate is not None:
            following = asyncio.create_task(self._certificate.follow())
        try:
            await self._server.serve([self._listener])
        finally:
            if following is not None:
                following.cancel()
            self._site.cache.close()
            self._ended.set()

    async def stop(self) -> None:
        """End every stream to a browser, and stop."""
        self._site.closing.set()
        self._server.should_exit = True
        await self._ended.wait()


def open_listener(host: str, port: int) -> socket.socket:
    """A socket that listens for browsers.

    Raises:
        OSError: it can't listen there.
    """
    family, kind, protocol, _, where = socket.getaddrinfo(
        host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(BACKLOG)
        listener.setblocking(False)  # noqa: FBT003 - the socket's signature
    except OSError:
        listener.close()
        raise
    return listener


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none: whoever opened the site hears them."""
        yield


class _Connection(HttpToolsProtocol):
    """A browser's connection: there are only this many, and each soon asks for something short."""

    _of_hosts: ClassVar[Counter[str]] = Counter()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        self._host = self.client[0] if self.client else ""
        self._of_hosts[self._host] += 1
        self._deadline: asyncio.TimerHandle | None = None
        is_crowd = len(self.connections) > MAX_CONNECTIONS
        if is_crowd or self._of_hosts[self._host] > MAX_CONNECTIONS_OF_HOST:
            transport.abort()
        else:
            self._expect_request()

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._deadline is not None and self._head_bytes > MAX_HEAD_BYTES:
            self.transport.abort()

    def on_message_begin(self) -> None:
        """A request begins, and has to be there soon."""
        super().on_message_begin()
        self.scope["extensions"] = {TRANSPORT: {"transport": self.transport}}
        self._expect_request()

    def on_headers_complete(self) -> None:
        """A request is there, but for its body."""
        self._drop_deadline()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._of_hosts[self._host] -= 1
        if not self._of_hosts[self._host]:
            del self._of_hosts[self._host]
        self._drop_deadline()
        super().connection_lost(exc)

    def _expect_request(self) -> None:
        self._drop_deadline()
        self._head_bytes = 0
        limit = REQUEST_TIMEOUT.total_seconds()
        self._deadline = self.loop.call_later(limit, self.transport.abort)

    def _drop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _shown_address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - a comparison
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
