"""The HTTP server of a site: real sockets, peers that are slow or many, and how it stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta

import pytest
from tests.web.conftest import OpenSite

from meijin.web import host as module
from meijin.web.host import Host, open_listener

REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Served:
    """A site on a port."""

    def __init__(self, host: Host, port: int) -> None:
        self.host = host
        self._port = port
        self.writers: list[asyncio.StreamWriter] = []

    async def connect(self) -> Streams:
        """Connect as a browser."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        self.writers.append(writer)
        return reader, writer


OpenHost = Callable[[], AbstractAsyncContextManager[Served]]


@pytest.fixture
def open_host(open_site: OpenSite) -> OpenHost:
    """Serves a site on a free port."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Served]:
        async with open_site() as site:
            listener = open_listener("127.0.0.1", 0)
            served = Served(Host(site.shell, listener), listener.getsockname()[1])
            running = asyncio.create_task(served.host.run())
            try:
                yield served
            finally:
                await served.host.stop()
                await running
                for writer in served.writers:
                    writer.close()

    return opened


async def head(reader: asyncio.StreamReader) -> bytes:
    """The first line of an answer; empty where the connection was closed."""
    async with asyncio.timeout(20):
        try:
            return await reader.readline()
        except ConnectionError:
            return b""


async def test_page_over_a_socket(open_host: OpenHost) -> None:
    """Two requests on one connection are answered."""
    async with open_host() as served:
        reader, writer = await served.connect()
        for _ in range(2):
            writer.write(REQUEST)
            assert await head(reader) == b"HTTP/1.1 200 OK\r\n"
            while await reader.readline() != b"\r\n":
                pass
            await reader.read(100_000)


async def test_who_asks_for_nothing_is_cut_off(
    open_host: OpenHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection without a request, or with one that never ends, is closed."""
    monkeypatch.setattr(module, "REQUEST_TIMEOUT", timedelta(seconds=0.1))
    async with open_host() as served:
        silent, _ = await served.connect()
        assert await head(silent) == b""
        slow, writer = await served.connect()
        writer.write(REQUEST[:-2] + b"X-Slow: ")
        assert await head(slow) == b""


async def test_endless_head_is_cut_off(open_host: OpenHost) -> None:
    """Headers cost no memory without end."""
    async with open_host() as served:
        reader, writer = await served.connect()
        writer.write(REQUEST[:-2])
        for number in range(200):
            writer.write(f"X-{number}: {'a' * 1000}\r\n".encode())
        assert await head(reader) == b""


async def test_one_address_has_so_many_connections(
    open_host: OpenHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more is closed at once, and when one is closed there is room again."""
    monkeypatch.setattr(module, "MAX_CONNECTIONS_OF_HOST", 3)
    async with open_host() as served:
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


async def test_rubbish_is_refused(open_host: OpenHost) -> None:
    """What is no HTTP gets a line, and nothing is logged of it."""
    async with open_host() as served:
        reader, writer = await served.connect()
        writer.write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
        assert (await head(reader)).startswith(b"HTTP/1.1 400")


async def test_stop_waits_for_nobody(open_host: OpenHost) -> None:
    """Connections that are open and silent are closed with the site."""
    async with open_host() as served:
        reader, _ = await served.connect()
        await served.host.stop()
        assert await head(reader) == b""
