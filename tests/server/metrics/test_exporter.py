"""The port on which metrics are served."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from prometheus_client import CollectorRegistry, Counter
from structlog.testing import capture_logs

from meijin.server.metrics import exporter as module
from meijin.server.metrics.exporter import MAX_SCRAPES, Exporter, is_loopback


@pytest.fixture
def registry() -> CollectorRegistry:
    """One counter, at three."""
    registry = CollectorRegistry()
    Counter("stones", "Stones that were placed.", registry=registry).inc(3)
    return registry


@pytest.fixture
def exporter(registry: CollectorRegistry) -> Iterator[Exporter]:
    """An exporter on a free port."""
    with Exporter("127.0.0.1:0", registry) as exporter:
        yield exporter


def test_a_scrape_is_answered(exporter: Exporter) -> None:
    """In Prometheus's text format."""
    connection = http.client.HTTPConnection(exporter.address, timeout=10)
    connection.request("GET", "/metrics")
    response = connection.getresponse()
    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/plain")
    assert b"stones_total 3.0" in response.read()
    connection.close()


def test_a_taken_port_is_told(exporter: Exporter, registry: CollectorRegistry) -> None:
    """The error names it."""
    with pytest.raises(OSError, match=f"can't serve metrics on {exporter.address}: Address"):
        Exporter(exporter.address, registry).__enter__()


def test_threads_are_bounded(exporter: Exporter) -> None:
    """A connection beyond the limit is closed; those before it are still waited for."""
    host, _, port = exporter.address.rpartition(":")
    with ExitStack() as stack:
        held = [
            stack.enter_context(socket.create_connection((host, int(port)), timeout=10))
            for _ in range(MAX_SCRAPES + 1)
        ]
        assert held[-1].recv(1) == b""
        held[0].sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert held[0].recv(8) == b"HTTP/1.0"


def test_a_slow_request_is_hung_up_on(exporter: Exporter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then holds a thread for so long and no longer."""
    monkeypatch.setattr(module, "SCRAPE_TIMEOUT_S", 0.2)
    monkeypatch.setattr(module._Handler, "timeout", 60)
    host, _, port = exporter.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as slow:
        slow.sendall(b"GET /met")
        assert slow.recv(1) == b""


@pytest.mark.parametrize(
    ("host", "is_here"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("db", False)],
)
def test_loopback(host: str, *, is_here: bool) -> None:
    """What only this machine reaches is known by its address or its name."""
    assert is_loopback(host) is is_here


def test_plain_text_beyond_loopback_is_warned_of(registry: CollectorRegistry) -> None:
    """The log says so at the start."""
    with capture_logs() as logs, Exporter("0.0.0.0:0", registry):
        pass
    assert [entry["log_level"] for entry in logs] == ["warning", "info"]
