"""One stream to the server: a hello, then one reader and one writer until it ends."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import TypeAlias

import grpc
from google.protobuf.message import DecodeError

from meijin.bots.sdk.errors import ArenaError, InvalidBotError, StreamLostError, refusal
from meijin.bots.sdk.events import ServerMessage, Welcome
from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.wire import message_from_proto
from meijin.v1.play_service_pb2 import PlayRequest, PlayResponse
from meijin.wire.channel import handshake_failure
from meijin.wire.contract import MAX_MESSAGE_BYTES, Address

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
                await self._write(hello)
                message = await self.read()
        except TimeoutError:
            raise StreamLostError("the server doesn't answer") from None
        if not isinstance(message, Welcome):
            raise StreamLostError("the server doesn't greet back")
        return message

    async def read(self) -> ServerMessage | None:
        """Wait for the next message; nothing for one of an unknown kind.

        Raises:
            RefusedError: the stream has ended, and the bot need not return.
            StreamLostError: the stream has ended.
        """
        try:
            response = await self._call.read()
            if isinstance(response, PlayResponse):
                return message_from_proto(response, read_at=time.monotonic())
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            raise StreamLostError("the stream was cancelled") from None
        except grpc.aio.AioRpcError as error:
            raise _ending(error, self._address) from None
        except (DecodeError, ValueError) as error:
            raise StreamLostError(f"the server sent something impossible: {error}") from error
        raise StreamLostError("the server closed the stream")

    async def write_from(self, outbox: Outbox) -> None:
        """Send what comes into `outbox`, up to a goodbye or the end of the stream."""
        while not outbox.closed:
            for request in await outbox.take():
                await self._write(request)

    async def _write(self, request: PlayRequest) -> None:
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
