"""The loopback connection: the server asks itself, and so learns when its own threads stand still.

The threads that accept, read and write for all streams are gRPC's. Thousands of connections that
are opened at once keep them from reading what bots have sent, and the event loop notices nothing.
A probe is a PING of HTTP/2 (RFC 9113, section 6.7), which those threads answer themselves: a
message on a stream of our own would take ten times as much of the processor.
"""

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from tempfile import TemporaryDirectory
from typing import NamedTuple, cast

import grpc
import structlog

from meijin.server.match.stalls import StallWatch

log = structlog.get_logger()

RETRY_INTERVAL = timedelta(seconds=1)
"""Before the connection is opened again that has broken."""

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_HEADER = struct.Struct(">BHBBI")
"""The length of what follows, by its high byte and the rest; type, flags, stream."""

_SETTINGS, _PING, _ACK = 4, 6, 1


class Frame(NamedTuple):
    """A frame of HTTP/2 that is about a connection, not about a stream of it."""

    type: int
    flags: int = 0
    payload: bytes = b""

    def encode(self) -> bytes:
        return _HEADER.pack(0, len(self.payload), self.type, self.flags, 0) + self.payload


class LoopbackConnection(asyncio.Protocol):
    """Sends probes, one at a time, and calls `received` when it is answered."""

    def __init__(self, received: Callable[[], None]) -> None:
        self._received = received
        self._buffer = bytearray()
        self._probes = 0
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done once the connection has ended."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)
        self._transport.write(_PREFACE + Frame(_SETTINGS).encode())

    def connection_lost(self, _: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def send_probe(self) -> None:
        self._probes += 1
        self._transport.write(Frame(_PING, payload=self._probes.to_bytes(8, "big")).encode())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= _HEADER.size:
            high, low, kind, flags, _ = _HEADER.unpack_from(self._buffer)
            end = _HEADER.size + (high << 16 | low)
            if len(self._buffer) < end:
                return
            frame = Frame(kind, flags, bytes(self._buffer[_HEADER.size : end]))
            del self._buffer[:end]
            self._receive(frame)

    def _receive(self, frame: Frame) -> None:
        if frame == Frame(_PING, _ACK, self._probes.to_bytes(8, "big")):
            self._received()
        elif frame.type in {_SETTINGS, _PING} and not frame.flags & _ACK:
            payload = frame.payload if frame.type == _PING else b""
            self._transport.write(Frame(frame.type, _ACK, payload).encode())

    def close(self) -> None:
        self._transport.close()


class Loopback:
    """Keeps a loopback connection, by which a `StallWatch` sends its probes."""

    def __init__(self, watch: StallWatch) -> None:
        self._watch = watch
        self._is_broken = False

    async def run(self) -> None:
        while True:
            try:
                async with _connection(self._receive) as connection:
                    self._watch.send = connection.send_probe
                    await connection.ended
                self._tell("it has ended")
            except (OSError, RuntimeError) as error:
                self._tell(str(error))
            finally:
                self._watch.give_up_probe()
            await asyncio.sleep(RETRY_INTERVAL.total_seconds())

    def _receive(self) -> None:
        self._watch.receive_probe()
        self._is_broken = False

    def _tell(self, error: str) -> None:
        if not self._is_broken:
            log.warning("the loopback connection is broken; it is tried again", error=error)
        self._is_broken = True


@asynccontextmanager
async def _connection(received: Callable[[], None]) -> AsyncIterator[LoopbackConnection]:
    """A connection to a server of gRPC's in this process, by a socket that nobody else can open."""
    server = grpc.aio.server(options=[("grpc.http2.max_ping_strikes", 0)])
    try:
        with TemporaryDirectory(prefix="meijin-") as folder:  # gone once it is connected
            path = f"{folder}/loopback"
            server.add_insecure_port(f"unix:{path}")
            await server.start()
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_unix_connection(
                lambda: LoopbackConnection(received), path
            )
        try:
            yield connection
        finally:
            connection.close()
    finally:
        await server.stop(None)
