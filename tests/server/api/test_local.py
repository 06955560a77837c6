"""Calls of the services from within the server's process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from grpc.aio import AioRpcError

from meijin.server.settings import Registration
from meijin.v1 import bot_service_pb2, game_service_pb2, token_service_pb2
from meijin.v1 import play_service_pb2 as play
from meijin.v1 import tournament_service_pb2 as pb
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.v1.game_service_pb2_grpc import GameServiceStub
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.v1.token_service_pb2_grpc import TokenServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub

if TYPE_CHECKING:
    from tests.server_in_test import ServerInTest

HOST = "192.0.2.1"


def watch(server: ServerInTest, host: str = HOST) -> Any:
    request = pb.WatchTournamentRequest(tournament_id="1")
    return TournamentServiceStub(server.app.local_calls.channel(host)).WatchTournament(request)


async def refusal(call: Any) -> AioRpcError:
    with pytest.raises(AioRpcError) as caught:
        await call
    return caught.value


async def test_a_refusal_is_as_by_a_connection(server: ServerInTest) -> None:
    """Code, sentence and details are those that a client elsewhere gets."""
    request = game_service_pb2.GetGameRequest(game_id="17")
    channels = (server.app.local_calls.channel(HOST), await server.channel())
    here, there = [await refusal(GameServiceStub(each).GetGame(request)) for each in channels]
    assert here.code() is there.code() is grpc.StatusCode.NOT_FOUND
    assert here.details() == there.details()
    key = "grpc-status-details-bin"
    assert dict(here.trailing_metadata() or ())[key] == dict(there.trailing_metadata() or ())[key]
    unknown: Any = channels[0].unary_unary("/meijin.v1.GameService/Win")
    assert (await refusal(unknown(request))).code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.settings(registration=Registration.CLOSED)
async def test_a_call_has_the_permissions_of_its_token(server: ServerInTest) -> None:
    """Without a token, with a wrong one, and with an operator's; a response is the servicer's."""
    request = bot_service_pb2.RegisterBotRequest(name="ada")
    for token in ("", "mj_wrong"):
        bots = BotServiceStub(server.app.local_calls.channel(HOST, token))
        error = await refusal(bots.RegisterBot(request))
        assert error.code() is grpc.StatusCode.UNAUTHENTICATED
    channel = server.app.local_calls.channel(HOST, server.operator_token)
    assert (await BotServiceStub(channel).RegisterBot(request)).bot.name == "ada"
    own = await TokenServiceStub(channel).GetOwnToken(token_service_pb2.GetOwnTokenRequest())
    assert own.token.kind == token_service_pb2.TOKEN_KIND_OPERATOR


@pytest.mark.settings(max_watchers=1)
async def test_addresses_have_limits_of_their_own(server: ServerInTest) -> None:
    """One that watches as much as it may does not keep another from it."""
    await server.pair()
    first = watch(server)
    await first.read()
    error = await refusal(watch(server).read())
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    other = watch(server, "2001:db8::1")
    assert await other.read() is not grpc.aio.EOF
    for call in (first, other):
        call.cancel()


async def test_a_stream_tells_until_its_end(server: ServerInTest) -> None:
    """The last response is followed by gRPC's mark of the end."""
    await server.pair()
    call = watch(server)
    assert isinstance(await call.read(), pb.WatchTournamentResponse)
    await server.cancel("1")
    facts = [fact.WhichOneof("fact") async for fact in call]
    assert facts[-1] == "tournament"
    assert await call.read() is grpc.aio.EOF


@pytest.mark.settings(write_timeout=0.05)
async def test_who_does_not_read_is_dropped(server: ServerInTest) -> None:
    """A stream holds one response, and then no more until it is read."""
    await server.pair()
    call = watch(server)
    await call.read()
    for _ in range(3):
        await server.cancel("1")
        await server.resume("1")
    await server.until(call.done)
    assert await call.read() is not grpc.aio.EOF  # the one that waited
    assert (await refusal(call.read())).code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_bot_may_play_from_within(server: ServerInTest) -> None:
    """Requests and responses of its stream go both ways, and a cancelled call is a lost stream."""
    call = PlayServiceStub(server.app.local_calls.channel(HOST)).Play()
    hello = play.Hello(protocol_version=1, bot_name="ada")
    await call.write(play.PlayRequest(hello=hello))
    welcome = await call.read()
    assert isinstance(welcome, play.PlayResponse)
    assert welcome.welcome.bot_name == "ada"
    assert await server.connected() == {"ada"}
    call.cancel()
    await server.away("ada")
    with pytest.raises(asyncio.InvalidStateError):
        await call.write(play.PlayRequest(pong=play.Pong()))
