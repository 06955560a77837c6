"""The link: a TCP proxy between a bot and the server, which cuts the bot's stream."""

import asyncio
from contextlib import suppress

CHUNK = 65_536
"""Bytes that are read at once."""


class Link:
    """Passes bytes between a bot's connections and a server."""

    def __init__(self, target: str) -> None:
        self.accepted = 0
        """Connections so far."""
        self._target = _host_and_port(target)
        self._server: asyncio.Server | None = None
        self._transports: set[asyncio.WriteTransport] = set()
        self._is_armed = False

    async def open(self, listen: str) -> str:
        """Listen, and return the address; port 0 takes a free one.

        Raises:
            OSError: it can't be listened on.
        """
        host, port = _host_and_port(listen)
        self._server = await asyncio.start_server(self._connect, host, port)
        return f"{host}:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Cut everything, and listen no more."""
        if self._server is not None:
            self._server.close()
        await self.cut()

    async def cut(self) -> None:
        """Reset every connection; a new one may come at once."""
        for transport in self._transports:
            transport.abort()

    async def arm(self) -> None:
        """Lose the next bytes for the bot, and cut the stream there."""
        self._is_armed = True

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        try:
            there, back = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        transports = {writer.transport, back.transport}
        self._transports |= transports
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._pass_on(reader, back, transports))
                tasks.create_task(self._pass_on(there, writer, transports, is_for_bot=True))
        finally:
            self._transports -= transports

    async def _pass_on(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        transports: set[asyncio.WriteTransport],
        *,
        is_for_bot: bool = False,
    ) -> None:
        """Pass bytes on in one direction; the connection ends when either direction does."""
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                if is_for_bot and self._is_armed:
                    self._is_armed = False
                    break
                writer.write(data)
                await writer.drain()
        for transport in transports:
            transport.abort()


def _host_and_port(address: str) -> tuple[str, int]:
    """Read ``host:port``.

    Raises:
        ValueError: it is something else.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f'"{address}" is no address; write it as HOST:PORT')
    return host.strip("[]"), int(port)
