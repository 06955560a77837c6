"""The HTTP server of a site: real sockets, slow peers, its certificate, and how it stops."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.authority import AuthorityFiles
from tests.web.conftest import SiteInTest, hosted

from meijin.web import host as module
from meijin.web.host import Certificate, Host

REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Served:
    """A site on a port."""

    def __init__(self, host: Host, port: int) -> None:
        self.host = host
        self._port = port
        self.writers: list[asyncio.StreamWriter] = []

    async def connect(self) -> Streams:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        self.writers.append(writer)
        return reader, writer


@pytest.fixture
async def served(site: SiteInTest) -> AsyncIterator[Served]:
    async with hosted(site) as (host, listener):
        served = Served(host, listener.getsockname()[1])
        yield served
    for writer in served.writers:
        writer.close()


async def head(reader: asyncio.StreamReader) -> bytes:
    """The first line of an answer; empty where the connection was closed."""
    async with asyncio.timeout(20):
        try:
            return await reader.readline()
        except ConnectionError:
            return b""


async def test_page_over_a_socket(served: Served) -> None:
    """Two requests on one connection are answered."""
    reader, writer = await served.connect()
    for _ in range(2):
        writer.write(REQUEST)
        assert await head(reader) == b"HTTP/1.1 200 OK\r\n"
        while await reader.readline() != b"\r\n":
            pass
        await reader.read(100_000)


async def test_who_asks_for_nothing_is_cut_off(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection without a request, or with one that never ends, is closed."""
    monkeypatch.setattr(module, "REQUEST_TIMEOUT", timedelta(seconds=0.1))
    silent, _ = await served.connect()
    assert await head(silent) == b""
    slow, writer = await served.connect()
    writer.write(REQUEST[:-2] + b"X-Slow: ")
    assert await head(slow) == b""


async def test_endless_head_is_cut_off(served: Served) -> None:
    """Headers cost no memory without end."""
    reader, writer = await served.connect()
    writer.write(REQUEST[:-2])
    for number in range(200):
        writer.write(f"X-{number}: {'a' * 1000}\r\n".encode())
    assert await head(reader) == b""


async def test_one_address_has_so_many_connections(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more is closed at once, and when one is closed there is room again."""
    monkeypatch.setattr(module, "MAX_CONNECTIONS_OF_HOST", 3)
    for _ in range(3):
        await served.connect()
    refused, writer = await served.connect()
    writer.write(REQUEST)
    assert await head(refused) == b""
    served.writers[0].close()
    await served.writers[0].wait_closed()
    async with asyncio.timeout(20):
        while True:
            reader, writer = await served.connect()
            writer.write(REQUEST)
            if await head(reader):
                return


async def test_rubbish_is_refused(served: Served) -> None:
    """What is no HTTP gets a line, and nothing is logged of it."""
    reader, writer = await served.connect()
    writer.write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
    assert (await head(reader)).startswith(b"HTTP/1.1 400")


async def test_stop_waits_for_nobody(served: Served) -> None:
    """Connections that are open and silent are closed with the site."""
    reader, _ = await served.connect()
    await served.host.stop()
    assert await head(reader) == b""


async def serial(port: int, ca: Path) -> str:
    """The serial number of the certificate that is served."""
    context = ssl.create_default_context(cafile=str(ca))
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    shown = writer.get_extra_info("peercert")
    writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 200")
    writer.close()
    return str(shown["serialNumber"])


async def test_renewed_certificate_is_served(site: SiteInTest, tmp_path: Path) -> None:
    """Without a restart; a file that is none leaves the old one in force."""
    files = AuthorityFiles(tmp_path)
    certificate = Certificate(**files.server())
    async with hosted(site, certificate) as (host, listener):
        port = listener.getsockname()[1]
        assert host.url == f"https://127.0.0.1:{port}"
        first = await serial(port, files.ca)
        certificate.look()
        assert await serial(port, files.ca) == first
        (tmp_path / "server.pem").write_text("nothing of the kind")
        certificate.look()
        assert await serial(port, files.ca) == first
        files.server()
        certificate.look()
        assert await serial(port, files.ca) != first
