"""One stream to the server, and the ways it ends."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from unittest.mock import AsyncMock, Mock

import grpc
import pytest
from google.protobuf.message import DecodeError

from meijin.bots import ReplacedError
from meijin.bots.sdk import stream as stream_module
from meijin.bots.sdk.errors import InvalidBotError, StreamLostError
from meijin.bots.sdk.stream import COLLECTING_TICKS, Stream, StreamOutbox
from meijin.bots.sdk.wire import Action
from meijin.v1 import play_service_pb2
from meijin.v1.play_service_pb2 import PlayRequest, PlayResponse
from meijin.wire.contract import MAX_MESSAGE_BYTES, Address

WELCOME = PlayResponse(welcome=play_service_pb2.Welcome(session_id="s", bot_name="mine"))
HERE = Address("127.0.0.1:7464")
PING = PlayResponse(ping=play_service_pb2.Ping(sequence=4))


def stream_of(*reads: object, write_error: BaseException | None = None) -> tuple[Stream, AsyncMock]:
    """A stream whose call answers, or raises, what the test says, and then never again."""
    waiting = list(reads)

    async def read() -> object:
        if not waiting:
            await asyncio.Event().wait()
        response = waiting.pop(0)
        if isinstance(response, BaseException):
            raise response
        return response

    call = AsyncMock(cancel=Mock())
    call.read.side_effect, call.write.side_effect = read, write_error
    return Stream(call, HERE), call


def rpc_error(code: grpc.StatusCode, details: str = "") -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details)


async def test_open() -> None:
    """A hello is answered with a welcome; one that no server takes isn't sent."""
    stream, call = stream_of(WELCOME)
    hello = PlayRequest(hello=play_service_pb2.Hello(bot_name="mine"))
    assert await stream.open(hello) == WELCOME.welcome
    call.write.assert_awaited_once_with(hello)
    hello.hello.engine.configuration.append("book=" + "x" * MAX_MESSAGE_BYTES)
    with pytest.raises(InvalidBotError, match=r"^the hello takes \d+ bytes .* configuration"):
        await stream.open(hello)
    call.write.assert_awaited_once()
    stream.cancel()  # or gRPC would keep it open
    call.cancel.assert_called_once_with()


@pytest.mark.parametrize("reads", [[], [PING], [PlayResponse()]])
async def test_no_welcome(reads: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that says nothing, or something else, is left."""
    monkeypatch.setattr(stream_module, "WELCOME_TIMEOUT", timedelta(seconds=0.01))
    with pytest.raises(StreamLostError, match="the server doesn't"):
        await stream_of(*reads)[0].open(PlayRequest())


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
        await stream_of(end)[0].read()


async def test_refusal() -> None:
    """A refusal is an error of its own."""
    with pytest.raises(ReplacedError):
        await stream_of(rpc_error(grpc.StatusCode.ABORTED))[0].read()


async def test_cancelling_the_reader() -> None:
    """Cancelling the task that reads is a cancellation, not the end of a stream."""
    reader = asyncio.create_task(stream_of()[0].read())
    await asyncio.sleep(0)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader


async def test_cancelling_the_reader_while_the_stream_ends() -> None:
    """It is a cancellation, also where gRPC tells how the stream has ended."""

    async def end() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        raise rpc_error(grpc.StatusCode.UNAVAILABLE)

    stream, call = stream_of()
    call.read.side_effect = end
    reader = asyncio.create_task(stream.read())
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
    outbox = StreamOutbox()
    outbox.add_action(Action(1, 0, 7))
    outbox.say_goodbye()
    await stream_of(write_error=error)[0].write_from(outbox)


async def stuck(_: PlayRequest) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("actions", [0, 1])
async def test_cancelling_the_writer(actions: int) -> None:
    """Cancelling the task that writes is a cancellation, even in the middle of a write."""
    outbox = StreamOutbox()
    for number in range(actions):
        outbox.add_action(Action(number, 0, 7))
    stream, call = stream_of()
    call.write.side_effect = stuck
    writer = asyncio.create_task(stream.write_from(outbox))
    for _ in range(COLLECTING_TICKS + 2):
        await asyncio.sleep(0)
    assert call.write.called == bool(actions)
    writer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writer


async def test_actions_of_a_few_ticks_make_one_batch() -> None:
    """Actions that come while the first one waits travel with it."""
    outbox = StreamOutbox()
    taking = asyncio.create_task(outbox.take())
    for number in range(3):
        outbox.add_action(Action(number, 0, 7))
        await asyncio.sleep(0)
    (request,) = await taking
    plays = request.actions.plays
    assert [play.game for play in plays] == [0, 1, 2]


async def test_pong_goes_first() -> None:
    """A pong doesn't wait for moves to join it, and a goodbye waits for everything."""
    outbox = StreamOutbox()
    outbox.say_goodbye()
    outbox.add_action(Action(1, 0, 7))
    outbox.add_pong(5)
    assert not outbox.closed
    pongs, others = [await outbox.take(), await outbox.take()]
    assert [request.pong.sequence for request in pongs] == [5]
    assert [request.WhichOneof("command") for request in others] == ["actions", "goodbye"]
    assert outbox.closed


async def test_pong_waits_for_nobody() -> None:
    """A pong that is ready is taken in one tick of the event loop."""
    outbox = StreamOutbox()
    outbox.add_pong(5)
    taking = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    assert taking.done()


async def test_pong_while_collecting() -> None:
    """A ping that comes in the middle of a batch is answered before it."""
    outbox = StreamOutbox()
    outbox.add_action(Action(1, 0, 7))
    taking = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    outbox.add_pong(5)
    first, second = [await taking, await outbox.take()]
    assert [request.WhichOneof("command") for request in first] == ["pong"]
    assert [request.WhichOneof("command") for request in second] == ["actions"]
