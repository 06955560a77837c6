"""A TCP proxy: what goes through it can be cut, delayed and held."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeAlias

Chunks: TypeAlias = "asyncio.Queue[tuple[float, bytes]]"
"""Bytes on their way, each with the instant at which they are due; none at the end."""

CHUNK = 65_536
BACKLOG = 64
"""Chunks of one direction that may be on their way."""


class Link:
    """The way of one bot: a port of its own, and all connections through it."""

    def __init__(self, target: int) -> None:
        self.port = 0
        """Where the bot connects to, on loopback."""
        self.delay = 0.0
        """Seconds that each byte takes in each direction."""
        self.cuts = 0
        """How many connections were cut."""
        self._target = target
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Cut everything and listen no more."""
        assert self._server is not None
        self._server.close()
        await self.cut()

    async def cut(self) -> None:
        """Reset every connection; a new one may come at once."""
        for writer in self._writers:
            writer.transport.abort()
            self.cuts += 1
        self._writers.clear()

    async def hold(self) -> None:
        """Let no byte through, and lose none."""
        self._is_open.clear()

    async def release(self) -> None:
        """Let through what was held."""
        self._is_open.set()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, back}
        self._writers |= ends
        with suppress(asyncio.CancelledError):
            await self._pass_on((reader, back), (there, writer))
        self._writers -= ends
        for end in ends:
            end.transport.abort()

    async def _pass_on(self, *ways: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
        """Pass bytes on both ways, until one of them has ended and all of it has arrived."""
        senders, receivers = [], []
        for reader, writer in ways:
            chunks: Chunks = asyncio.Queue(BACKLOG)
            receivers.append(asyncio.create_task(self._receive(reader, chunks)))
            senders.append(asyncio.create_task(self._send(chunks, writer)))
        try:
            await asyncio.wait(senders, return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks = (*senders, *receivers)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _receive(self, reader: asyncio.StreamReader, chunks: Chunks) -> None:
        clock = asyncio.get_running_loop().time
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                await chunks.put((clock() + self.delay, data))
        await chunks.put((clock() + self.delay, b""))

    async def _send(self, chunks: Chunks, writer: asyncio.StreamWriter) -> None:
        clock = asyncio.get_running_loop().time
        data = b" "
        while data:
            due, data = await chunks.get()
            await asyncio.sleep(max(0.0, due - clock()))
            await self._is_open.wait()
            writer.write(data)
            await writer.drain()


class Proxy:
    """The links of all bots, in a thread of their own."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy")
        self._thread.start()
        self._links: list[Link] = []

    def link(self) -> Link:
        """Open a way for one more bot."""
        link = Link(self._target)
        self.do(link.open)
        self._links.append(link)
        return link

    def do(self, action: Callable[[], Any]) -> None:
        """Have something done to a link."""
        done: Future[Any] = asyncio.run_coroutine_threadsafe(action(), self._loop)
        done.result()

    def close(self) -> None:
        """Close all links, and end the thread."""
        for link in self._links:
            self.do(link.close)
        self.do(_settle)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _settle() -> None:
    """Cancel what still runs, and wait for it."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
