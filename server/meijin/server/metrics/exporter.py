"""The exporter: an HTTP server of metrics in Prometheus's text format, in threads of its own."""

import ipaddress
import socket
import threading
from contextlib import suppress
from http.server import ThreadingHTTPServer
from typing import Self

import structlog
from prometheus_client import CollectorRegistry, MetricsHandler

log = structlog.get_logger()

MAX_SCRAPES = 4
"""At once; a further connection is closed unanswered."""

REQUEST_TIMEOUT_S = 5
"""A connection that says nothing for so long is closed."""

SCRAPE_TIMEOUT_S = 10
"""A connection is closed after so long, whatever it says, such as a byte now and then."""

SHUTDOWN_POLL_S = 0.05
"""Between two looks of the accepting thread whether it is to end."""


class Exporter:
    """Serves a registry from entry to exit.

    The event loop has no part in it: a scrape answers even while the loop stands still.

    Args:
        address: Host and port, such as ``127.0.0.1:9464``; port 0 takes a free one.

    Raises:
        OSError: on entry, the address can't be listened on.
    """

    def __init__(self, address: str, registry: CollectorRegistry) -> None:
        host, _, port = address.rpartition(":")
        self._host = host.strip("[]")
        self._port = int(port)
        self._handler = type("Handler", (_Handler,), {"registry": registry})

    def __enter__(self) -> Self:
        try:
            self._server = _Server((self._host, self._port), self._handler)
        except OSError as error:
            message = f"can't serve metrics on {self._host}:{self._port}: {error.strerror}"
            raise OSError(message) from error
        thread = threading.Thread(
            target=self._server.serve_forever, args=(SHUTDOWN_POLL_S,), name="metrics", daemon=True
        )
        thread.start()
        if not is_loopback(self._host):
            log.warning("metrics leave this machine in plain text", address=self.address)
        log.info("metrics are served", address=self.address)
        return self

    @property
    def address(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{host}:{self._server.server_address[1]}"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine reaches a host's ports."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


class _Handler(MetricsHandler):
    """Answers a scrape; a peer that sends nothing is not waited for."""

    timeout = REQUEST_TIMEOUT_S


class _Server(ThreadingHTTPServer):
    """An HTTP server with a bounded number of threads."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], handler: type[MetricsHandler]) -> None:
        self._free = threading.BoundedSemaphore(MAX_SCRAPES)
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, handler)

    def verify_request(self, request: object, client_address: object) -> bool:  # noqa: ARG002 - the base's signature
        """Whether there is room for one more."""
        return self._free.acquire(blocking=False)

    def process_request_thread(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]  # as it is called
        deadline = threading.Timer(SCRAPE_TIMEOUT_S, _hang_up, (request,))
        deadline.daemon = True
        deadline.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            deadline.cancel()
            self._free.release()

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - the base's signature
        """A scrape that breaks off is no event of the server's."""
        log.debug("a scrape broke off", peer=str(client_address))


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        connection.shutdown(socket.SHUT_RDWR)
