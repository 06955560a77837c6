"""What stands before every method."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from structlog.testing import capture_logs

from meijin.bots.sdk.poller import ignore_idle_wakeups
from meijin.server.access.last_uses import LastUses
from meijin.server.access.open_calls import OpenCalls
from meijin.server.access.permissions import PERMISSIONS, STREAMS, Permission, Policy
from meijin.server.api.interceptor import Context, Interceptor
from meijin.server.api.limits import Limits
from meijin.server.errors import MeijinError
from meijin.server.services import SERVICES
from meijin.server.settings import Registration, Settings
from meijin.store.access.tokens import Identity
from meijin.testing.peer import CallEnding
from meijin.testing.server import ServerInTest
from meijin.v1 import (
    admin_service_pb2,
    analysis_service_pb2,
    bot_service_pb2,
    challenge_service_pb2,
    game_service_pb2,
    ladder_service_pb2,
    play_service_pb2,
    tournament_service_pb2,
)
from meijin.v1.game_service_pb2_grpc import (
    GameServiceServicer,
    GameServiceStub,
    add_GameServiceServicer_to_server,
)

CONTRACT = (
    bot_service_pb2,
    admin_service_pb2,
    analysis_service_pb2,
    challenge_service_pb2,
    game_service_pb2,
    ladder_service_pb2,
    play_service_pb2,
    tournament_service_pb2,
)
SECRET = "secret path /etc/x"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
LEFT_OUT = {
    "/grpc.health.v1.Health/List",  # not in gRPC's library
    "/grpc.health.v1.Health/Watch",  # endless
    REFLECTION,
    "/meijin.v1.GameService/WatchArena",
}
GET_GAME = "/meijin.v1.GameService/GetGame"
WATCH_GAME = "/meijin.v1.GameService/WatchGame"
PLAY = "/meijin.v1.PlayService/Play"


def methods_of(service: str) -> Iterator[str]:
    """The full names of a service's methods."""
    pool = descriptor_pool.Default()
    for method in pool.FindServiceByName(service).methods:
        yield f"/{service}/{method.name}"


class Failing(GameServiceServicer):
    """Fails in every way."""

    async def GetGame(self, request: Any, context: Context) -> Any:  # noqa: ARG002, N802 - gRPC's
        """Fail as a bug does."""
        raise RuntimeError(SECRET)

    async def ListGames(self, request: Any, context: Context) -> Any:  # noqa: ARG002, N802 - gRPC's
        """Fail as it is foreseen, with words of any length and language."""
        raise MeijinError("«" + "long " * 10_000)

    async def WatchGame(  # noqa: N802 - the contract's name
        self,
        request: Any,  # noqa: ARG002 - gRPC's
        context: Context,  # noqa: ARG002 - gRPC's
    ) -> AsyncIterator[game_service_pb2.WatchGameResponse]:
        """Fail after a message."""
        yield game_service_pb2.WatchGameResponse()
        raise RuntimeError(SECRET)

    def WatchArena(self, request: Any, context: Context) -> Any:  # noqa: N802 - gRPC's
        """Is not called."""
        raise NotImplementedError

    async def ExportGame(self, request: Any, context: Context) -> Any:  # noqa: N802 - gRPC's
        """Fail as what was never written does."""
        raise NotImplementedError

    async def VoidGame(self, request: Any, context: Context) -> Any:  # noqa: N802 - gRPC's
        """Is not called."""
        raise NotImplementedError


class Endless(Failing):
    """Writes without end, and knows how much it has written."""

    def __init__(self) -> None:
        self.written = 0
        self.is_over = asyncio.Event()

    async def WatchGame(  # noqa: N802 - the contract's name
        self,
        request: Any,  # noqa: ARG002 - gRPC's
        context: Context,  # noqa: ARG002 - gRPC's
    ) -> AsyncIterator[game_service_pb2.WatchGameResponse]:
        """Tell of a long game again and again."""
        response = game_service_pb2.WatchGameResponse()
        response.game.game_id = "1" * 64_000
        try:
            while True:
                yield response
                self.written += 1
        finally:
            self.is_over.set()


@asynccontextmanager
async def failing_server(
    authenticate: Callable[[str], Awaitable[Identity | None]], servicer: Failing | None = None
) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to a server whose servicer fails behind the interceptor."""
    ignore_idle_wakeups()
    limits = Limits(Settings.model_construct())
    calls = OpenCalls()
    uses = LastUses(None, calls)  # type: ignore[arg-type]  # nothing is stored
    policy = Policy(registration=Registration.OPEN)
    interceptor = Interceptor(authenticate, limits, policy=policy, calls=calls, uses=uses)
    server = grpc.aio.server(interceptors=[interceptor])
    add_GameServiceServicer_to_server(servicer or Failing(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(None)


async def nobody(_token: str) -> Identity | None:
    """No token is known."""
    return None


async def broken(_token: str) -> Identity | None:
    """The store can't be asked."""
    raise RuntimeError(SECRET)


def incidents(logs: list[Any]) -> list[str]:
    """The numbers of the incidents that were logged."""
    return [entry["incident"] for entry in logs if entry["event"] == "incident"]


# -- who may call what ------------------------------------------------------------


def test_every_method_has_a_scope() -> None:
    """Whoever adds a method decides who may call it; nothing is called by omission."""
    served = {method for service in SERVICES for method in methods_of(service)}
    assert served == PERMISSIONS.keys()


def test_every_service_of_the_contract_is_served() -> None:
    """The reflection service tells of all of them."""
    services = {s.full_name for file in CONTRACT for s in file.DESCRIPTOR.services_by_name.values()}
    assert services < set(SERVICES)


@pytest.mark.settings(registration="closed")
async def test_every_method_answers(server: ServerInTest, ending: Callable[..., Any]) -> None:
    """All of the services are mounted: none is unimplemented, none is closed to an operator."""
    channel = await server.channel()
    for method, permission in PERMISSIONS.items():
        if permission in STREAMS or method in LEFT_OUT:
            continue
        end = await ending(channel, method, b"", server.operator_token)
        assert end.code not in {
            grpc.StatusCode.UNIMPLEMENTED,
            grpc.StatusCode.UNAUTHENTICATED,
            grpc.StatusCode.PERMISSION_DENIED,
            grpc.StatusCode.INTERNAL,
        }, (method, end)


@pytest.mark.settings(registration="closed")
@pytest.mark.parametrize(
    "method", [m for m, permission in PERMISSIONS.items() if permission is Permission.OPERATOR]
)
async def test_an_operators_methods_need_an_operators_token(
    server: ServerInTest, ending: Callable[..., Any], method: str
) -> None:
    """No token and a bot's token are told apart, and neither will do."""
    channel = await server.channel()
    bots = await server.bots()
    registered = await bots.RegisterBot(
        bot_service_pb2.RegisterBotRequest(name="ada"),
        metadata=(("authorization", f"Bearer {server.operator_token}"),),
    )
    none = await ending(channel, method, b"", None)
    assert (none.code, none.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNKNOWN_TOKEN")
    wrong = await ending(channel, method, b"", registered.token)
    assert (wrong.code, wrong.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_ALLOWED")
    assert "operator" in wrong.details


@pytest.mark.parametrize(
    "header", ["Bearer nothing", "Bearer ", "nothing", "Basic {token}", "bearer", "{token}"]
)
async def test_a_wrong_token_is_never_overlooked(server: ServerInTest, header: str) -> None:
    """Even where nobody needs a token, one that is wrong is an error, in the same words."""
    games = await server.games()
    metadata = (("authorization", header.format(token=server.operator_token)),)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await games.ListGames(game_service_pb2.ListGamesRequest(), metadata=metadata)
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert caught.value.details() == "missing or unknown token"


async def test_anyone_may_manage_an_open_server(
    server: ServerInTest, ending: Callable[..., Any]
) -> None:
    """Where registration is open an operator needs no token, and a bot's does no harm."""
    channel = await server.channel()
    bots = await server.bots()
    made = await bots.RegisterBot(bot_service_pb2.RegisterBotRequest(name="ada"))
    for name, token in (("bob", None), ("eve", made.token)):
        request = bot_service_pb2.RegisterBotRequest(name=name).SerializeToString()
        end = await ending(channel, "/meijin.v1.BotService/RegisterBot", request, token)
        assert end.code is grpc.StatusCode.OK


@pytest.mark.settings(max_message_bytes=100)
@pytest.mark.parametrize("method", [GET_GAME, WATCH_GAME, REFLECTION])
async def test_a_request_that_is_too_large_is_refused_in_words(
    server: ServerInTest, ending: Callable[..., Any], method: str
) -> None:
    """Those of calls and of streams, up to where gRPC refuses them itself."""
    channel = await server.channel()
    too_large = (grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE")
    for size in (101, 200):
        end = await ending(channel, method, b"x" * size, None)
        assert (end.code, end.reason) == too_large
        assert f"takes {size} bytes, and at most 100 are taken" in end.details
    at_most = await ending(channel, method, b"x" * 100, None)
    assert at_most.reason != "MESSAGE_TOO_LARGE"
    unread = await ending(channel, method, b"x" * 201, None)
    assert (unread.code, unread.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "")


async def test_an_unknown_method_is_unimplemented(
    server: ServerInTest, ending: Callable[..., Any]
) -> None:
    """The interceptor doesn't stand in the way of gRPC's own answer."""
    end = await ending(await server.channel(), "/meijin.v1.GameService/Cheat", b"", None)
    assert end.code is grpc.StatusCode.UNIMPLEMENTED


async def test_what_grpcs_library_leaves_out_is_unimplemented(
    server: ServerInTest, ending: Callable[..., Any]
) -> None:
    """A method that its servicer does not have is no incident."""
    end = await ending(await server.channel(), "/grpc.health.v1.Health/List", b"", None)
    assert end.code is grpc.StatusCode.UNIMPLEMENTED


# -- messages that are none -------------------------------------------------------


@pytest.mark.parametrize("method", [GET_GAME, "/meijin.v1.TournamentService/CreateTournament"])
@pytest.mark.parametrize("data", [b"\xff\xff\xff", b"\x0a\x05ab", b"\x0a\x02\xff\xfe"])
async def test_malformed_bytes_are_an_invalid_argument(
    server: ServerInTest, ending: Callable[..., Any], method: str, data: bytes
) -> None:
    """An undecodable unary request is the caller's error, with a reason; others are unharmed."""
    async with server.innocents():
        end = await ending(await server.channel(), method, data, None)
    assert (end.code, end.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert "can't be decoded" in end.details


@pytest.mark.parametrize("after_hello", [False, True])
async def test_malformed_bytes_end_a_bots_stream(
    server: ServerInTest, ending_of_call: Callable[..., Any], *, after_hello: bool
) -> None:
    """An undecodable message on the stream is an invalid argument; others are unharmed."""
    async with server.innocents():
        channel = await server.channel()
        play: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(PLAY)
        call = play()
        if after_hello:
            hello = play_service_pb2.Hello(protocol_version=1, bot_name="ada")
            request = play_service_pb2.PlayRequest(hello=hello)
            await call.write(request.SerializeToString())
            await call.read()
        await call.write(b"\xff\xff\xff")
        end: CallEnding = await ending_of_call(call)
    assert (end.code, end.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")


# -- failures ---------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GetGame", "WatchGame"])
async def test_a_bug_tells_the_caller_an_incidents_number_alone(
    ending: Callable[..., Any], method: str
) -> None:
    """The log has the rest under the same number, for unary and streaming methods."""
    with capture_logs() as logs:
        async with failing_server(nobody) as channel:
            end = await ending(channel, f"/meijin.v1.GameService/{method}", b"", None)
    assert (end.code, end.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    told = re.fullmatch("internal error, incident ([0-9a-f]{8})", end.details)
    assert told is not None
    assert incidents(logs) == [told[1]]
    assert SECRET in str(logs[0]["exc_info"])


async def test_a_bug_before_the_method_leaks_nothing_either(ending: Callable[..., Any]) -> None:
    """A token that can't be looked up is an incident like any other."""
    with capture_logs() as logs:
        async with failing_server(broken) as channel:
            end = await ending(channel, GET_GAME, b"", "token")
    assert (end.code, end.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert SECRET not in end.details
    assert len(incidents(logs)) == 1


async def test_a_long_message_is_cut(ending: Callable[..., Any]) -> None:
    """The words of an error fit into the call's trailer, whatever the caller sent."""
    async with failing_server(nobody) as channel:
        end = await ending(channel, "/meijin.v1.GameService/ListGames", b"", None)
    assert (end.code, end.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert end.details.startswith("«long long")
    assert len(end.details) < 1_000


async def test_a_caller_who_leaves_is_no_incident() -> None:
    """A watcher that goes away in the middle is not logged as a failure."""
    with capture_logs() as logs:
        async with failing_server(nobody) as channel:
            call = GameServiceStub(channel).WatchGame(game_service_pb2.WatchGameRequest())
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call.read()
    assert incidents(logs) == []


async def test_a_caller_who_leaves_while_it_is_written_to_is_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One that never read can't fill the log by going away."""
    endless = Endless()
    async with failing_server(nobody, endless) as channel:
        call = GameServiceStub(channel).WatchGame(game_service_pb2.WatchGameRequest())
        await call.read()
        before = -1
        while before < endless.written:  # until a write has to wait for the window
            before = endless.written
            await asyncio.sleep(0.2)
        call.cancel()
        await asyncio.wait_for(endless.is_over.wait(), 20)
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


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


async def test_what_a_stream_asks_has_its_turns(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message of it counts as a request of its address: an answer takes the loop as long."""
    turns: list[bool] = []

    async def turn(_address: object, *, is_change: bool) -> None:
        turns.append(is_change)

    monkeypatch.setattr(server.app.limits, "turn", turn)
    channel: Any = await server.channel()
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    reflection = stub.ServerReflectionInfo()
    for _ in range(3):
        await reflection.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        await reflection.read()
    assert turns == [False] * 4  # to open the stream is one itself
    reflection.cancel()


async def test_to_watch_is_a_request_too(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads a whole game; bots' streams have turns of their own, and health checks none."""
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
        GameServiceStub(channel).WatchGame(game_service_pb2.WatchGameRequest(game_id="1")),
        health.Watch(health_pb2.HealthCheckRequest()),
    ):
        assert await call.read()
        call.cancel()
    assert turns == [False] * 2


async def test_what_a_stream_asks_may_be_undecodable(server: ServerInTest) -> None:
    """That is the caller's mistake, and no incident."""
    channel: Any = await server.channel()
    call = channel.stream_stream(REFLECTION)()
    await call.write(b"\xff\xff")
    assert await call.code() is grpc.StatusCode.INVALID_ARGUMENT
