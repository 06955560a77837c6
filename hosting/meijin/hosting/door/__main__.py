"""Runs a door: python -m meijin.hosting.door, with the lines of its host on its pipes.

It is started ahead of time: what it imports takes longer than all else. The first line says whose
door it is to be.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from random import SystemRandom
from typing import Any, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from meijin.bots.sdk.client import Backoff, channel_options
from meijin.bots.sdk.errors import ArenaError, InvalidBotError, RefusedError
from meijin.bots.sdk.stream import Stream
from meijin.hosting.door.lines import (
    DoorLine,
    Ended,
    Failed,
    Granted,
    Line,
    Listening,
    Plan,
    Started,
    Used,
    read_line,
    write_line,
)
from meijin.hosting.door.relay import Relay
from meijin.v1.play_service_pb2 import Hello, PlayRequest, PlayResponse
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire.channel import Security, open_async_channel
from meijin.wire.contract import MAX_MESSAGE_BYTES, parse_address

MOST_UNEXPECTED = 200
"""Messages and further streams of a program that nobody has asked for; with one more it is ended."""

TIDY_S = 10.0
"""For a program to be ready for another game after one, on a core of its own."""

MOST_FILES = 64
"""Open ones of a door: a program may open as many connections as it likes."""

LAST_WORDS_S = 2.0
"""For the server to hear that the program has failed."""

LAST_WRITE_S = 1.0
"""For a program to read what is on its way when its stream ends."""

ProgramQueue: TypeAlias = asyncio.Queue[PlayResponse | None]
"""What a program is to hear; ``None`` at the end of its stream."""

PLAY = "Play"
SERVICE = "meijin.v1.PlayService"

_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_concurrent_streams", 2),
    ("grpc.so_reuseport", 0),
)


class Door:
    """The streams of one program, and their relay."""

    def __init__(
        self, plan: Plan, channel: grpc.aio.Channel, tell: Callable[[DoorLine], None]
    ) -> None:
        self._plan = plan
        self._channel = channel
        self._tell = tell
        self._relay = Relay(plan)
        self._to_server: asyncio.Queue[PlayRequest] = asyncio.Queue()
        self._to_program: ProgramQueue = asyncio.Queue()
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._hello: asyncio.Future[Hello] = asyncio.get_running_loop().create_future()
        self._stream: object = None
        """The newest of the program."""
        self._game_over = asyncio.Event()
        self.ended: asyncio.Future[Failed] = asyncio.get_running_loop().create_future()
        """Why it is of no use any more."""

    async def run(self, lines: AsyncIterator[Line]) -> Failed | None:
        """Pass on what is said until the host or the program has ended."""
        server = grpc.aio.server(options=_OPTIONS)
        handler: grpc.RpcMethodHandler[bytes, PlayResponse] = grpc.stream_stream_rpc_method_handler(
            self._play, response_serializer=PlayResponse.SerializeToString
        )
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(SERVICE, {PLAY: handler}),)
        )
        server.add_insecure_port(f"unix:{self._plan.socket}")
        await server.start()
        os.chmod(self._plan.socket, 0o666)  # noqa: PTH101, S103 - who can reach it is its folder's to say
        self._tell(Listening())
        tasks = [asyncio.create_task(self._hear(lines)), asyncio.create_task(self._connect())]
        ends: list[asyncio.Future[Any]] = [*tasks, self.ended]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
            if not self.ended.done():
                return None
            failed = self.ended.result()
            if failed.is_fault:
                await self._say_failure(failed.cause)
            return failed
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await server.stop(0)

    def _flush(self) -> None:
        """Send what the relay has for each side."""
        relay = self._relay
        for line in relay.to_host:
            self._tell(line)
        for request in relay.to_server:
            self._to_server.put_nowait(request)
        for response in relay.to_program:
            self._to_program.put_nowait(response)
        relay.to_host, relay.to_server, relay.to_program = [], [], []
        if not relay.is_playing:
            self._game_over.set()

    def _end(self, cause: str, *, is_fault: bool) -> None:
        if not self.ended.done():
            self.ended.set_result(Failed(cause, is_fault))

    # -- the host -------------------------------------------------------------------------

    async def _hear(self, lines: AsyncIterator[Line]) -> None:
        async for line in lines:
            if isinstance(line, Started):
                self._started.set_result(None)
            elif isinstance(line, Granted):
                self._relay.granted(line.number, time.monotonic_ns())
                if self._relay.tidies(line.number):
                    asyncio.get_running_loop().call_later(TIDY_S, self._end_tidying, line.number)
            elif isinstance(line, Used):
                self._relay.used(line, time.monotonic_ns())
            elif isinstance(line, Ended):
                if line.is_fault:
                    await self._say_failure(line.cause)
                return
            self._flush()

    def _end_tidying(self, number: int) -> None:
        if self._relay.tidies(number):
            self._end(f"it is not ready for another game {TIDY_S:g} s after one", is_fault=True)

    async def _say_failure(self, cause: str) -> None:
        """Have the server hear that the program has failed, if it is in a game."""
        if self._relay.failure(cause):
            self._game_over.clear()
            self._flush()
            with suppress(TimeoutError):  # the server has gone
                async with asyncio.timeout(LAST_WORDS_S):
                    await self._game_over.wait()

    # -- the program ----------------------------------------------------------------------

    async def _play(
        self, _: object, context: grpc.aio.ServicerContext[bytes, PlayResponse]
    ) -> None:
        """Serve a stream of the program; a newer one takes its place."""
        request = await self._read(context)
        if request is None or request.WhichOneof("command") != "hello":
            self._end("it says no hello", is_fault=True)
            return
        queue: ProgramQueue = asyncio.Queue()
        self._stream, self._to_program = context, queue
        if self._hello.done():
            self._relay.unexpected += 1
            self._relay.program_came()
            self._flush()
            self._check_flood()
        else:
            self._hello.set_result(request.hello)
        writer = asyncio.create_task(self._write(context, queue))
        try:
            while self._stream is context:
                request = await self._read(context)
                if request is None:
                    return
                self._relay.program_said(request, time.monotonic_ns())
                self._flush()
                self._check_flood()
        finally:
            queue.put_nowait(None)  # a write that is cancelled has the stream never end
            await asyncio.wait([writer], timeout=LAST_WRITE_S)
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    def _check_flood(self) -> None:
        if self._relay.unexpected > MOST_UNEXPECTED:
            self._end("it floods its door with what nobody asked for", is_fault=True)

    async def _read(
        self, context: grpc.aio.ServicerContext[bytes, PlayResponse]
    ) -> PlayRequest | None:
        """The next message of the program; ``None`` at the end of its stream."""
        data = await context.read()
        if not isinstance(data, bytes):
            return None
        try:
            return PlayRequest.FromString(data)
        except DecodeError:
            self._end("it sends what is no message of the contract", is_fault=True)
            return None

    async def _write(
        self,
        context: grpc.aio.ServicerContext[bytes, PlayResponse],
        queue: ProgramQueue,
    ) -> None:
        while (response := await queue.get()) is not None:
            await context.write(response)

    # -- the server -----------------------------------------------------------------------

    async def _connect(self) -> None:
        """Keep a stream to the server open from the program's hello on."""
        begun: list[asyncio.Future[Any]] = [self._started, self._hello]
        await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)
        try:
            async with asyncio.timeout(self._plan.start_ms / 1000):
                said = await self._hello
        except TimeoutError:
            self._end(f"it has not connected in {self._plan.start_ms / 1000:g} s", is_fault=True)
            return
        address, backoff = parse_address(self._plan.server), Backoff(SystemRandom())
        metadata = (("authorization", f"Bearer {self._plan.ticket}"),)
        while True:
            call = PlayServiceStub(self._channel).Play(metadata=metadata)
            try:
                await self._serve(Stream(call, address), said)
            except RefusedError as error:
                self._end(str(error), is_fault=isinstance(error, InvalidBotError))
                return
            except ArenaError:
                await asyncio.sleep(backoff.next().total_seconds())

    async def _serve(self, stream: Stream, said: Hello) -> None:
        """Pass on what the server says, over one stream."""
        self._to_server = asyncio.Queue()  # what was lost with another is asked for again
        hello = PlayRequest(hello=self._relay.hello(said))
        writer = None
        try:
            welcome = await stream.open(hello)
            self._relay.server_said(PlayResponse(welcome=welcome))
            self._flush()
            writer = asyncio.create_task(self._send(stream))
            while True:
                self._relay.server_said(await stream.read())
                self._flush()
        finally:
            stream.cancel()
            if writer is not None:
                writer.cancel()
                await asyncio.gather(writer, return_exceptions=True)

    async def _send(self, stream: Stream) -> None:
        queue = self._to_server
        while True:
            await stream.write(await queue.get())


async def read_lines(descriptor: int) -> AsyncIterator[Line]:
    """What the host says, until it ends."""
    reader = asyncio.StreamReader()
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        while data := await reader.readline():
            yield read_line(data)


def tell(line: DoorLine) -> None:
    os.write(sys.stdout.fileno(), write_line(line))


async def main() -> None:
    """Serve one program."""
    lines = read_lines(sys.stdin.fileno())
    plan = await anext(lines, None)
    if not isinstance(plan, Plan):
        return  # the host has ended before it needed this door
    address = parse_address(plan.server)
    security = Security.from_environment()  # its files are the host's to read
    async with open_async_channel(address, security, channel_options(address)) as channel:
        if plan.user:
            _become(plan.user)
        failed = await Door(plan, channel, tell).run(lines)
    if failed is not None:
        tell(failed)


def _become(user: int) -> None:
    """Give up what root may do, before anything of the program is read."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES))
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


if __name__ == "__main__":
    asyncio.run(main())
