"""One stream to the server: a hello, then one reader and one writer until it ends."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import TypeAlias

import grpc
from google.protobuf.message import DecodeError

from meijin.bots.sdk.errors import ArenaError, InvalidBotError, StreamLostError, refusal
from meijin.bots.sdk.wire import Action, actions_to_proto
from meijin.v1.play_service_pb2 import Goodbye, PlayRequest, PlayResponse, Pong, Welcome
from meijin.wire.channel import handshake_failure
from meijin.wire.contract import MAX_MESSAGE_BYTES, Address

COLLECTING_TICKS = 5
"""Turns of the event loop that the first action waits for others: five make the batches of
256 games 20 times as large as none, and cost a lone game nothing measurable."""


class StreamOutbox:
    """Batches actions until the stream's one writer takes them."""

    def __init__(self) -> None:
        self._actions: list[Action] = []
        self._pongs: list[int] = []
        self._ready = 0
        self._leaving = False
        self.closed = False
        """The goodbye has been taken; nothing comes after it."""
        self._filled = asyncio.Event()

    def add_action(self, action: Action) -> None:
        """Send an action together with others."""
        self._actions.append(action)
        self._filled.set()

    def add_pong(self, sequence: int) -> None:
        """Answer a ping before anything else."""
        self._pongs.append(sequence)
        self._filled.set()

    def add_ready(self) -> None:
        """Say that the place of a game that ended may take another one."""
        self._ready += 1
        self._filled.set()

    def say_goodbye(self) -> None:
        self._leaving = True
        self._filled.set()

    async def take(self) -> list[PlayRequest]:
        """Wait for something to send; all of it, or the pongs alone if there are any."""
        await self._filled.wait()
        if not self._pongs:
            for _ in range(COLLECTING_TICKS):
                await asyncio.sleep(0)
        if self._pongs:
            pongs, self._pongs = self._pongs, []
            return [PlayRequest(pong=Pong(sequence=sequence)) for sequence in pongs]
        self._filled.clear()
        actions, self._actions = self._actions, []
        requests = actions_to_proto(actions, now=time.monotonic()) if actions else []
        if self._ready:
            requests = requests or [PlayRequest()]
            requests[-1].actions.ready, self._ready = self._ready, 0
        if self._leaving:
            self.closed = True
            requests.append(PlayRequest(goodbye=Goodbye()))
        return requests


WELCOME_TIMEOUT = timedelta(seconds=10)
"""What the server may take to answer the hello."""

Call: TypeAlias = "grpc.aio.StreamStreamCall[PlayRequest, PlayResponse]"

# What a write to a stream that has ended may raise.
_ENDED = (grpc.aio.AioRpcError, grpc.aio.InternalError, asyncio.InvalidStateError)


class Stream:
    """A call of `Play`; whatever ends it is an `ArenaError`."""

    def __init__(self, call: Call, address: Address) -> None:
        self._call = call
        self._address = address

    async def open(self, hello: PlayRequest) -> Welcome:
        """Say who the bot is.

        Raises:
            RefusedError: the server doesn't let the bot in, or no server would.
            StreamLostError: it may later.
        """
        size = hello.ByteSize()
        if size > MAX_MESSAGE_BYTES:
            raise InvalidBotError(f"the hello takes {size} bytes of at most {MAX_MESSAGE_BYTES}")
        try:
            async with asyncio.timeout(WELCOME_TIMEOUT.total_seconds()):
                await self.write(hello)
                message = await self.read()
        except TimeoutError:
            raise StreamLostError("the server doesn't answer") from None
        if not message.HasField("welcome"):
            raise StreamLostError("the server doesn't greet back")
        return message.welcome

    async def read(self) -> PlayResponse:
        """Wait for the next message.

        Raises:
            RefusedError: the stream has ended, and the bot need not return.
            StreamLostError: the stream has ended.
        """
        try:
            response = await self._call.read()
            if isinstance(response, PlayResponse):
                return response
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            raise StreamLostError("the stream was cancelled") from None
        except grpc.aio.AioRpcError as error:
            if _is_cancelled():  # while the call ended, which gRPC tells of instead
                raise asyncio.CancelledError from None
            raise _ending(error, self._address) from None
        except DecodeError as error:
            raise StreamLostError(f"the server sent something impossible: {error}") from error
        raise StreamLostError("the server closed the stream")

    async def write_from(self, outbox: StreamOutbox) -> None:
        """Send what comes into `outbox`, up to a goodbye or the end of the stream."""
        while not outbox.closed:
            for request in await outbox.take():
                await self.write(request)

    async def write(self, request: PlayRequest) -> None:
        """Send a message; on a stream that has ended do nothing, the reader learns why."""
        try:
            await self._call.write(request)
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
        except _ENDED:
            pass

    def cancel(self) -> None:
        """End the stream without a goodbye; a call that is dropped uncancelled stays open."""
        self._call.cancel()


def _ending(error: grpc.aio.AioRpcError, address: Address) -> ArenaError:
    details = error.details() or ""
    refused = refusal(error.code(), details)
    if refused is not None:
        return refused
    failure = handshake_failure(address, details)
    if failure is not None:
        return StreamLostError(failure)
    if details.startswith("failed to connect"):
        return StreamLostError(f"nothing answers at {address}")
    return StreamLostError(f"{details or 'no reason given'} ({error.code().name})")


def _is_cancelled() -> bool:
    """Whether somebody cancels this task; gRPC raises the same error for a call's end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
