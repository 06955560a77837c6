"""The port on which metrics are served."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from prometheus_client import CollectorRegistry, Counter
from structlog.testing import capture_logs

from meijin.server.metrics import exporter as module
from meijin.server.metrics.exporter import MAX_SCRAPES, Exporter, is_loopback


@pytest.fixture
def exporter() -> Iterator[Exporter]:
    """An exporter of one counter, at three, on a free port."""
    registry = CollectorRegistry()
    Counter("stones", "Stones that were placed.", registry=registry).inc(3)
    with Exporter("127.0.0.1:0", registry) as exporter:
        yield exporter


def connect(exporter: Exporter) -> socket.socket:
    host, _, port = exporter.address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def test_a_scrape_is_answered(exporter: Exporter) -> None:
    """In Prometheus's text format."""
    with closing(http.client.HTTPConnection(exporter.address, timeout=10)) as connection:
        connection.request("GET", "/metrics")
        response = connection.getresponse()
        assert response.status == 200
        assert response.headers["Content-Type"].startswith("text/plain")
        assert b"stones_total 3.0" in response.read()


def test_a_taken_port_is_told(exporter: Exporter) -> None:
    with pytest.raises(OSError, match=f"can't serve metrics on {exporter.address}: Address"):
        Exporter(exporter.address, CollectorRegistry()).__enter__()


def test_threads_are_bounded(exporter: Exporter) -> None:
    """A connection beyond the limit is closed; those before it are still waited for."""
    with ExitStack() as stack:
        held = [stack.enter_context(connect(exporter)) for _ in range(MAX_SCRAPES + 1)]
        assert held[-1].recv(1) == b""
        held[0].sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert held[0].recv(8) == b"HTTP/1.0"


def test_a_slow_request_is_hung_up_on(exporter: Exporter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then holds a thread for so long and no longer."""
    monkeypatch.setattr(module, "SCRAPE_TIMEOUT_S", 0.2)
    monkeypatch.setattr(module._Handler, "timeout", 60)
    with connect(exporter) as slow:
        slow.sendall(b"GET /met")
        assert slow.recv(1) == b""


@pytest.mark.parametrize(
    ("host", "is_here"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("db", False)],
)
def test_loopback(host: str, *, is_here: bool) -> None:
    """What only this machine reaches is known by its address or its name."""
    assert is_loopback(host) is is_here


@pytest.mark.parametrize(
    ("address", "levels"), [("0.0.0.0:0", ["warning", "info"]), ("[::1]:0", ["info"])]
)
def test_plain_text_beyond_loopback_is_warned_of(address: str, levels: list[str]) -> None:
    """The log says so at the start."""
    with capture_logs() as logs, Exporter(address, CollectorRegistry()):
        pass
    assert [entry["log_level"] for entry in logs] == levels
