"""The spans of calls and of bots' streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import structlog
from structlog.testing import capture_logs

from meijin.server.tracing.spans import Parent, format_trace_id
from meijin.v1 import game_service_pb2 as pb
from meijin.v1.game_service_pb2_grpc import GameServiceStub

if TYPE_CHECKING:
    from tests.server.conftest import RecordingTracer, StartServer

GET_GAME = "meijin.v1.GameService/GetGame"
LIST_GAMES = "meijin.v1.GameService/ListGames"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


async def test_a_unary_call_is_a_span(start_server: StartServer, tracer: RecordingTracer) -> None:
    """With its method, its status, and the request id that the audit log has.

    A refused one says why, and a caller's trace goes on, if its header is what it should be.
    """
    async with start_server(tracer=tracer) as server:
        games = GameServiceStub(server.calls)
        for header in (
            ("x-request-id", "deploy-7"),
            ("traceparent", f"00-{TRACE}-{SPAN}-01"),
            ("traceparent", "00-nonsense"),
        ):
            await games.ListGames(pb.ListGamesRequest(), metadata=(header,))
        await server.until(lambda: len(tracer.named(LIST_GAMES)) == 3)
        assert await games.GetGame(pb.GetGameRequest(game_id="7")).code() is not grpc.StatusCode.OK
        await server.until(lambda: tracer.named(GET_GAME))
    plain, taken, left = tracer.named(LIST_GAMES)
    assert (plain.is_call, plain.parent, plain.error) == (True, None, "")
    assert plain.end_ns > plain.start_ns
    assert plain.attributes == {
        "rpc.system": "grpc",
        "rpc.service": "meijin.v1.GameService",
        "rpc.method": "ListGames",
        "rpc.grpc.status_code": 0,
        "meijin.reason": "",
        "meijin.request_id": "deploy-7",
    }
    parent = Parent(int(TRACE, 16), int(SPAN, 16), flags=1)
    assert (taken.parent, taken.trace_id) == (parent, parent.trace_id)
    assert left.parent is None
    assert left.trace_id != parent.trace_id
    (refused,) = tracer.named(GET_GAME)
    assert refused.error == refused.attributes["meijin.reason"] == "NOT_FOUND"
    assert refused.attributes["rpc.grpc.status_code"] == grpc.StatusCode.NOT_FOUND.value[0]


async def test_a_stream_is_a_span(start_server: StartServer, tracer: RecordingTracer) -> None:
    """From its welcome to its end, and the log says in which trace; one that is ended says why."""
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        async with start_server(tracer=tracer) as server:
            await server.bot("ada")
            peer = await server.bot("ada")
            await server.until(lambda: tracer.named("session"))
            peer.call.cancel()
            await server.until(lambda: len(tracer.named("session")) == 2)
    replaced, span = tracer.named("session")
    assert replaced.error == replaced.attributes["meijin.reason"] == "REPLACED"
    assert (span.attributes["meijin.bot"], span.attributes["meijin.session"]) == (
        "ada",
        peer.session_id,
    )
    assert (span.attributes["meijin.reason"], span.error) == ("", "")
    left = [line["trace_id"] for line in logs if line["event"] == "bot left"]
    assert left == [format_trace_id(each.trace_id) for each in (replaced, span)]
