"""The spans of calls and of bots' streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
import structlog
from structlog.testing import capture_logs

from meijin.server.tracing.spans import Parent, SpanKind, format_trace_id
from meijin.v1 import game_service_pb2, status_service_pb2
from meijin.v1.status_service_pb2_grpc import StatusServiceStub

if TYPE_CHECKING:
    from tests.server.conftest import RecordingTracer, StartServer

GET_GAME = "meijin.v1.GameService/GetGame"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


async def test_a_unary_call_is_a_span(start_server: StartServer, tracer: RecordingTracer) -> None:
    """With its method, its status and the request id that the audit log has."""
    async with start_server(tracer=tracer) as server:
        stub = StatusServiceStub(await server.channel())
        metadata = (("x-request-id", "deploy-7"),)
        await stub.GetStatus(status_service_pb2.GetStatusRequest(), metadata=metadata)
        await server.until(lambda: tracer.spans)
    (span,) = tracer.named("meijin.v1.StatusService/GetStatus")
    assert (span.kind, span.parent, span.error) == (SpanKind.SERVER, None, "")
    assert span.end_ns > span.start_ns
    assert span.attributes == {
        "rpc.system": "grpc",
        "rpc.service": "meijin.v1.StatusService",
        "rpc.method": "GetStatus",
        "rpc.grpc.status_code": 0,
        "meijin.reason": "",
        "meijin.request_id": "deploy-7",
    }


async def test_a_refused_call_says_why(start_server: StartServer, tracer: RecordingTracer) -> None:
    """By the reason that the caller has heard."""
    async with start_server(tracer=tracer) as server:
        with pytest.raises(grpc.aio.AioRpcError):
            await (await server.games()).GetGame(game_service_pb2.GetGameRequest(game_id="7"))
        await server.until(lambda: tracer.named(GET_GAME))
    (span,) = tracer.named(GET_GAME)
    assert span.error == "NOT_FOUND"
    assert span.attributes["rpc.grpc.status_code"] == grpc.StatusCode.NOT_FOUND.value[0]
    assert span.attributes["meijin.reason"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("header", "is_taken"), [(f"00-{TRACE}-{SPAN}-01", True), ("00-nonsense", False)]
)
async def test_a_callers_trace_goes_on(
    start_server: StartServer,
    tracer: RecordingTracer,
    header: str,
    is_taken: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """If its header is what it should be; else the call begins a trace."""
    async with start_server(tracer=tracer) as server:
        games, metadata = await server.games(), (("traceparent", header),)
        await games.ListGames(game_service_pb2.ListGamesRequest(), metadata=metadata)
        await server.until(lambda: tracer.spans)
    (span,) = tracer.spans
    parent = Parent(int(TRACE, 16), int(SPAN, 16), flags=1)
    assert span.parent == (parent if is_taken else None)
    assert (span.trace_id == parent.trace_id) is is_taken


async def test_a_stream_is_a_span(start_server: StartServer, tracer: RecordingTracer) -> None:
    """From its welcome to its end, and the log says in which trace."""
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        async with start_server(tracer=tracer) as server:
            peer = await server.bot("ada")
            session = server.player(next(iter(server.parts.lobby.players.values()))).session
            assert session is not None
            peer.call.cancel()
            await server.until(lambda: tracer.named("session"))
    (span,) = tracer.named("session")
    assert span.attributes["meijin.bot"] == "ada"
    assert span.attributes["meijin.session"] == session.id
    assert (span.attributes["meijin.reason"], span.error) == ("", "")
    (left,) = (line for line in logs if line["event"] == "bot left")
    assert left["trace_id"] == format_trace_id(span.trace_id)


async def test_a_stream_that_is_ended_says_why(
    start_server: StartServer, tracer: RecordingTracer
) -> None:
    """A second stream of the bot takes its place."""
    async with start_server(tracer=tracer) as server:
        await server.bot("ada")
        await server.bot("ada")
        await server.until(lambda: tracer.named("session"))
        (span,) = tracer.named("session")
        assert span.error == span.attributes["meijin.reason"] == "REPLACED"
