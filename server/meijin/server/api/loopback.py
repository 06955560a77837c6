"""The loopback stream: the server asks itself, and so learns when its own threads stand still.

The threads that accept, read and write for all streams are gRPC's. Thousands of connections that
are opened at once keep them from reading what bots have sent, and the event loop notices nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from tempfile import TemporaryDirectory
from typing import Any

import grpc
import structlog

from meijin.server.api.interceptor import Context
from meijin.server.match.stalls import StallWatch

log = structlog.get_logger()

SERVICE, METHOD = "meijin.Loopback", "Echo"
"""Of no contract: nobody else reaches it."""

PROBE_INTERVAL = timedelta(milliseconds=20)
"""Between the return of a probe and the next one, which takes half a millisecond of the processor.
A standstill is seen but for the part of it before the next probe."""

RETRY_INTERVAL = timedelta(seconds=1)
"""Before the stream is opened again that has broken."""


class Loopback:
    """Sends probes while somebody's clock may run, and has a `StallWatch` hear of each."""

    def __init__(self, watch: StallWatch, is_needed: Callable[[], bool]) -> None:
        self._watch = watch
        self._is_needed = is_needed
        self._is_broken = False

    async def run(self) -> None:
        """Probe for ever."""
        while True:
            try:
                async with _stream() as call:
                    await self._probe(call)
            except (grpc.aio.AioRpcError, OSError, RuntimeError) as error:
                if not self._is_broken:
                    log.warning(
                        "the loopback stream is broken; it is tried again", error=str(error)
                    )
                self._is_broken = True
            finally:
                self._watch.give_up_probe()
            await asyncio.sleep(RETRY_INTERVAL.total_seconds())

    async def _probe(self, call: Any) -> None:  # noqa: ANN401 - gRPC's calls have no type of bytes
        answer: object = b""
        while answer is not grpc.aio.EOF:
            await asyncio.sleep(PROBE_INTERVAL.total_seconds())
            if self._is_needed():
                self._watch.send_probe()
                await call.write(b"")
                answer = await call.read()
                self._watch.receive_probe()
                self._is_broken = False


@asynccontextmanager
async def _stream() -> AsyncIterator[Any]:
    """A stream to an echo in this process, by a socket that nobody else can open."""
    server = grpc.aio.server()
    method: Any = grpc.stream_stream_rpc_method_handler(_echo)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(SERVICE, {METHOD: method}),)
    )
    with TemporaryDirectory(prefix="meijin-") as folder:
        where = f"unix:{folder}/loopback"
        server.add_insecure_port(where)
        await server.start()
        try:
            async with grpc.aio.insecure_channel(where) as channel:
                yield channel.stream_stream(f"/{SERVICE}/{METHOD}")()
        finally:
            await server.stop(None)


async def _echo(_: object, context: Context) -> None:
    while (message := await context.read()) is not grpc.aio.EOF:
        await context.write(message)
