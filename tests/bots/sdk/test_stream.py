"""One stream to the server, and the ways it ends."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.message import DecodeError

from meijin.bots import ReplacedError
from meijin.bots.sdk import stream as stream_module
from meijin.bots.sdk.errors import InvalidBotError, StreamLostError
from meijin.bots.sdk.events import Ping, Welcome
from meijin.bots.sdk.outbox import COLLECTING_TICKS, Outbox
from meijin.bots.sdk.stream import Stream
from meijin.bots.sdk.wire import Action
from meijin.v1 import play_service_pb2
from meijin.v1.play_service_pb2 import PlayRequest, PlayResponse
from meijin.wire.contract import MAX_MESSAGE_BYTES, Address

WELCOME = PlayResponse(welcome=play_service_pb2.Welcome(session_id="s", bot_name="mine"))
HERE = Address("127.0.0.1:7464")
PING = PlayResponse(ping=play_service_pb2.Ping(sequence=4))


class FakeCall:
    """A call that answers, or raises, what the test says, and then never again."""

    def __init__(
        self,
        *reads: object,
        write_error: BaseException | None = None,
        stuck: bool = False,
    ) -> None:
        self.reads = list(reads)
        self.stuck = stuck
        self.writing = False
        self.write_error = write_error
        self.written: list[PlayRequest] = []
        self.cancelled = False

    async def read(self) -> object:
        """Return or raise the next thing to read."""
        if not self.reads:
            await asyncio.Event().wait()
        response = self.reads.pop(0)
        if isinstance(response, BaseException):
            raise response
        return response

    async def write(self, request: PlayRequest) -> None:
        """Note what is written, or raise."""
        self.writing = True
        if self.stuck:
            await asyncio.Event().wait()
        if self.write_error is not None:
            raise self.write_error
        self.written.append(request)

    def cancel(self) -> None:
        """Note it."""
        self.cancelled = True


def stream_of(*reads: object, write_error: BaseException | None = None) -> Stream:
    """A stream over a fake call."""
    call: Any = FakeCall(*reads, write_error=write_error)
    return Stream(call, HERE)


def rpc_error(code: grpc.StatusCode, details: str = "") -> grpc.aio.AioRpcError:
    """What gRPC raises at the end of a call."""
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details)


async def test_open() -> None:
    """A hello is answered with a welcome."""
    call: Any = FakeCall(WELCOME)
    hello = PlayRequest(hello=play_service_pb2.Hello(bot_name="mine"))
    welcome = await Stream(call, HERE).open(hello)
    assert isinstance(welcome, Welcome)
    assert call.written == [hello]


async def test_a_hello_that_no_server_takes() -> None:
    """It isn't sent, and the bot's author is told what to look at."""
    call: Any = FakeCall(WELCOME)
    engine = play_service_pb2.Engine(configuration=["book=" + "x" * MAX_MESSAGE_BYTES])
    hello = PlayRequest(hello=play_service_pb2.Hello(bot_name="mine", engine=engine))
    with pytest.raises(InvalidBotError, match=r"^the hello takes \d+ bytes .* configuration"):
        await Stream(call, HERE).open(hello)
    assert call.written == []


@pytest.mark.parametrize("reads", [[], [PING], [PlayResponse()]])
async def test_no_welcome(reads: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that says nothing, or something else, is left."""
    monkeypatch.setattr(stream_module, "WELCOME_TIMEOUT", timedelta(seconds=0.01))
    with pytest.raises(StreamLostError, match="the server doesn't"):
        await stream_of(*reads).open(PlayRequest())


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (grpc.aio.EOF, "the server closed the stream"),
        (rpc_error(grpc.StatusCode.UNAVAILABLE, "Socket closed"), r"Socket closed \(UNAVAILABLE\)"),
        (
            rpc_error(grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses; and so on"),
            "^nothing answers at 127.0.0.1:7464$",
        ),
        (
            rpc_error(grpc.StatusCode.UNAVAILABLE, "failed to connect to all: Socket closed"),
            "if it wants TLS, write grpcs://127.0.0.1:7464$",
        ),
        (rpc_error(grpc.StatusCode.INTERNAL), r"no reason given \(INTERNAL\)"),
        (asyncio.CancelledError(), "the stream was cancelled"),
        (DecodeError("what?"), "something impossible: what?"),
    ],
)
async def test_end(end: object, reason: str) -> None:
    """Whatever ends a stream has a reason for the log."""
    with pytest.raises(StreamLostError, match=reason):
        await stream_of(end).read()


async def test_refusal() -> None:
    """A refusal is an error of its own."""
    with pytest.raises(ReplacedError):
        await stream_of(rpc_error(grpc.StatusCode.ABORTED)).read()


async def test_cancelling_the_reader() -> None:
    """Cancelling the task that reads is a cancellation, not the end of a stream."""
    reader = asyncio.create_task(stream_of().read())
    await asyncio.sleep(0)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader


@pytest.mark.parametrize(
    "error",
    [
        asyncio.InvalidStateError(),
        asyncio.CancelledError(),
        rpc_error(grpc.StatusCode.UNAVAILABLE),
        grpc.aio.InternalError(),
    ],
)
async def test_writing_to_an_ended_stream(error: BaseException) -> None:
    """What can't be written is dropped: the reader learns why the stream has ended."""
    outbox = Outbox()
    outbox.add_action(Action(1, 0, 7))
    outbox.say_goodbye()
    await stream_of(write_error=error).write_from(outbox)


@pytest.mark.parametrize("actions", [0, 1])
async def test_cancelling_the_writer(actions: int) -> None:
    """Cancelling the task that writes is a cancellation, even in the middle of a write."""
    outbox = Outbox()
    for number in range(actions):
        outbox.add_action(Action(number, 0, 7))
    call: Any = FakeCall(stuck=True)
    writer = asyncio.create_task(Stream(call, HERE).write_from(outbox))
    for _ in range(COLLECTING_TICKS + 2):
        await asyncio.sleep(0)
    assert call.writing == bool(actions)
    writer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writer


async def test_unknown_fact() -> None:
    """A message that a later protocol may add is no error."""
    stream = stream_of(PlayResponse(), PING)
    assert await stream.read() is None
    assert await stream.read() == Ping(4)


def test_cancel() -> None:
    """A stream that is left is cancelled, or gRPC would keep it open."""
    call: Any = FakeCall()
    Stream(call, HERE).cancel()
    assert call.cancelled
