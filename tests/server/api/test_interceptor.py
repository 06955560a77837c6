"""What stands before every method."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf import descriptor_pool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from structlog.testing import capture_logs
from tests.peer import CallEnding, ending_of_call, ending_of_request
from tests.server_in_test import ServerInTest

from meijin.server.access.permissions import PERMISSIONS
from meijin.server.api.services.games import GameServicer
from meijin.server.errors import MeijinError
from meijin.server.services import SERVICES
from meijin.server.storage import Storage
from meijin.v1 import game_service_pb2 as pb
from meijin.v1 import play_service_pb2
from meijin.v1.game_service_pb2_grpc import GameServiceStub
from meijin.wire.contract import MAX_RECORDS_BYTES

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

SECRET = "secret path /etc/x"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
GET_GAME = "/meijin.v1.GameService/GetGame"
WATCH_GAME = "/meijin.v1.GameService/WatchGame"
PLAY = "/meijin.v1.PlayService/Play"


def methods_of(service: str) -> Iterator[str]:
    pool = descriptor_pool.Default()
    for method in pool.FindServiceByName(service).methods:
        yield f"/{service}/{method.name}"


async def fail(*_: object) -> Any:
    raise RuntimeError(SECRET)


async def fail_later(*_: object) -> AsyncIterator[pb.WatchGameResponse]:
    yield pb.WatchGameResponse()
    raise RuntimeError(SECRET)


async def refuse(*_: object) -> Any:
    """Fail as it is foreseen, with words of any length and language."""
    raise MeijinError("«" + "long " * 10_000)


# -- who may call what ------------------------------------------------------------


def test_every_method_has_a_scope() -> None:
    """Whoever adds a method decides who may call it; nothing is called by omission."""
    served = {method for service in SERVICES for method in methods_of(service)}
    assert served == PERMISSIONS.keys()


@pytest.mark.settings(max_failed_sign_ins=100)
async def test_a_wrong_token_is_never_overlooked(server: ServerInTest) -> None:
    """Even where nobody needs a token, one that is wrong is an error, in the same words."""
    games, token = GameServiceStub(server.calls), server.operator_token
    for header in ("Bearer nothing", "Bearer ", "nothing", f"Basic {token}", "bearer", token):
        metadata = (("authorization", header),)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await games.ListGames(pb.ListGamesRequest(), metadata=metadata)
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert caught.value.details() == "unknown token"


@pytest.mark.settings(max_message_bytes=100)
@pytest.mark.parametrize("method", [GET_GAME, WATCH_GAME, REFLECTION])
async def test_a_request_that_is_too_large_is_refused_in_words(
    server: ServerInTest, method: str
) -> None:
    """Those of calls and of streams, up to where gRPC refuses them itself."""
    channel = await server.channel()
    too_large = (grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE")
    for size in (101, MAX_RECORDS_BYTES):
        end = await ending_of_request(channel, method, b"x" * size, None)
        assert (end.code, end.reason) == too_large
        assert f"takes {size} bytes, and at most 100 are taken" in end.details
    at_most = await ending_of_request(channel, method, b"x" * 100, None)
    assert at_most.reason != "MESSAGE_TOO_LARGE"
    unread = await ending_of_request(channel, method, b"x" * (MAX_RECORDS_BYTES + 1), None)
    assert (unread.code, unread.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "")


async def test_an_unknown_method_is_unimplemented(server: ServerInTest) -> None:
    """The interceptor doesn't stand in the way of gRPC's own answer."""
    channel = await server.channel()
    # Neither one that is none, nor one that gRPC's library leaves out, is an incident.
    for method in ("/meijin.v1.GameService/Cheat", "/grpc.health.v1.Health/List"):
        assert (
            await ending_of_request(channel, method, b"", None)
        ).code is grpc.StatusCode.UNIMPLEMENTED


# -- messages that are none -------------------------------------------------------


async def test_malformed_bytes_are_an_invalid_argument(server: ServerInTest) -> None:
    """Of a call, and on a bot's stream as its first message or later; others are unharmed."""
    channel = await server.channel()
    play: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(PLAY)
    invalid = (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    async with server.innocents():
        for method in (GET_GAME, "/meijin.v1.TournamentService/CreateTournament"):
            for data in (b"\xff\xff\xff", b"\x0a\x05ab", b"\x0a\x02\xff\xfe"):
                end: CallEnding = await ending_of_request(channel, method, data, None)
                assert (end.code, end.reason) == invalid
                assert "can't be decoded" in end.details
        for hello in (None, play_service_pb2.Hello(protocol_version=1, bot_name="ada")):
            call = play()
            if hello is not None:
                request = play_service_pb2.PlayRequest(hello=hello)
                await call.write(request.SerializeToString())
                await call.read()
            await call.write(b"\xff\xff\xff")
            end = await ending_of_call(call)
            assert (end.code, end.reason) == invalid


# -- failures ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("defect", "method", "token"),
    [
        ((GameServicer, "GetGame", fail), "GetGame", None),
        ((GameServicer, "WatchGame", fail_later), "WatchGame", None),
        ((Storage, "read_for_sign_in", fail), "GetGame", "of whom?"),
    ],
)
async def test_a_bug_tells_the_caller_an_incidents_number_alone(
    start_shared_server: StartServer,
    monkeypatch: pytest.MonkeyPatch,
    defect: tuple[type, str, Callable[..., Any]],
    method: str,
    token: str | None,
) -> None:
    """The log has the rest under the same number, also where a token can't be looked up."""
    monkeypatch.setattr(*defect)
    async with start_shared_server() as server:
        with capture_logs() as logs:
            end = await server.refusal(f"GameService/{method}", token)
    assert (end.code, end.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    told = re.fullmatch("internal error, incident ([0-9a-f]{8})", end.details)
    (incident,) = [entry for entry in logs if entry["event"] == "incident"]
    assert told is not None
    assert incident["incident"] == told[1]
    assert SECRET in str(incident["exc_info"])


async def test_a_long_message_is_cut(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words of an error fit into the call's trailer, whatever the caller sent."""
    monkeypatch.setattr(GameServicer, "GetGame", refuse)
    async with start_server() as server:
        end = await server.refusal("GameService/GetGame")
    assert (end.code, end.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert end.details.startswith("«long long")
    assert len(end.details) < 1_000


async def test_a_caller_who_leaves_is_no_failure(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, or while it is written to: one that never read can't fill the log by going away."""
    written, is_over = [0], asyncio.Event()

    async def write_on(*_: object) -> AsyncIterator[pb.WatchGameResponse]:
        response = pb.WatchGameResponse()
        response.game.game_id = "1" * 64_000
        try:
            while True:
                yield response
                written[0] += 1
        finally:
            is_over.set()

    monkeypatch.setattr(GameServicer, "WatchGame", write_on)
    async with start_server() as server:
        call = GameServiceStub(server.calls).WatchGame(pb.WatchGameRequest())
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call.read()
        is_over.clear()
        call = GameServiceStub(server.calls).WatchGame(pb.WatchGameRequest())
        await call.read()
        before = -1
        while before < written[0]:  # until a write has to wait for the window
            before = written[0]
            await asyncio.sleep(0.2)
        call.cancel()
        await asyncio.wait_for(is_over.wait(), 20)


# -- gRPC's own services ----------------------------------------------------------


@pytest.mark.settings(registration="closed")
async def test_health_and_reflection_answer(server: ServerInTest) -> None:
    """Both pass the interceptor without a token, and know every service."""
    channel: Any = await server.channel()
    health: Any = health_pb2_grpc.HealthStub(channel)
    for service in ("", *SERVICES):
        request = health_pb2.HealthCheckRequest(service=service)
        assert (await health.Check(request)).status == health_pb2.HealthCheckResponse.SERVING
    watch = health.Watch(health_pb2.HealthCheckRequest())
    assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
    watch.cancel()
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    reflection = stub.ServerReflectionInfo()
    await reflection.write(reflection_pb2.ServerReflectionRequest(list_services=""))
    response = await reflection.read()
    names = {service.name for service in response.list_services_response.service}
    assert names == set(SERVICES)
    await reflection.done_writing()
    assert await reflection.code() is grpc.StatusCode.OK


async def test_to_watch_and_to_ask_on_a_stream_are_requests(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message of a stream has its turn; bots' streams have their own, health checks none."""
    turns: list[bool] = []

    async def turn(_address: object, *, is_change: bool) -> None:
        turns.append(is_change)

    await server.pair()
    monkeypatch.setattr(server.app.limits, "turn", turn)
    channel: Any = await server.channel()
    health: Any = health_pb2_grpc.HealthStub(channel)
    await server.bot("eve")
    await health.Check(health_pb2.HealthCheckRequest())
    assert turns == []
    for call in (
        GameServiceStub(channel).WatchGame(pb.WatchGameRequest(game_id="1")),
        health.Watch(health_pb2.HealthCheckRequest()),
    ):
        assert await call.read()
        call.cancel()
    assert turns == [False] * 2
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    reflection = stub.ServerReflectionInfo()
    for _ in range(3):
        await reflection.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        await reflection.read()
    assert turns == [False] * 6  # to open the stream is one itself
    reflection.cancel()


async def test_what_a_stream_asks_may_be_undecodable(server: ServerInTest) -> None:
    """That is the caller's mistake, and no incident."""
    channel: Any = await server.channel()
    call = channel.stream_stream(REFLECTION)()
    await call.write(b"\xff\xff")
    assert await call.code() is grpc.StatusCode.INVALID_ARGUMENT
