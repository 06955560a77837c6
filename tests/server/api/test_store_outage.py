"""A store that answers nothing: nobody loses a game by it, and whoever asks hears of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health_pb2 import HealthCheckResponse
from tests.conftest import locked
from tests.peer import play_moves
from tests.server_in_test import FIVE, ServerInTest, play_to_five

from meijin.game import Color
from meijin.server import app
from meijin.server.services import OTHER_SERVICES, SERVICES, STORING_SERVICES
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from tests.conftest import Outage
    from tests.peer import Peer
    from tests.server.conftest import StartServer

GRACE = timedelta(seconds=1)

Code = grpc.StatusCode


@pytest.fixture
async def server(start_server: StartServer, outage: Outage) -> AsyncIterator[ServerInTest]:
    """A server with a short grace, once on each kind of database."""
    async with start_server(grace=GRACE, database_url=outage.url) as server:
        yield server


async def beyond_the_grace(server: ServerInTest) -> None:
    """Wait until whoever was away before has been away for longer than it may."""
    gone = time.monotonic()
    await server.until(lambda: time.monotonic() > gone + 2 * GRACE.total_seconds())


async def at_the_door(server: ServerInTest, name: str, token: str | None = None) -> Peer:
    peer = await server.peer(token)
    capabilities = pb.Capabilities(min_board_size=3, max_board_size=22, any_line=True)
    await peer.hello(name, capabilities=capabilities)
    return peer


async def cut(server: ServerInTest, peer: Peer) -> None:
    peer.call.cancel()
    await server.away(peer.name)


@pytest.mark.parametrize("lost", [1, 2])
async def test_bots_that_are_cut_off_during_an_outage_lose_nothing(
    server: ServerInTest, outage: Outage, lost: int
) -> None:
    """Their hellos wait for the store, and so does their grace, though no commit has failed."""
    players = list(await server.pair())
    await play_moves(players, FIVE[:2])
    with outage.begin():
        for place in range(2 - lost, 2):
            await cut(server, players[place])
            players[place] = await at_the_door(server, players[place].name)
        await beyond_the_grace(server)
        assert len(server.running) == 1
    for peer in players[2 - lost :]:
        assert (await peer.welcome()).running_games == 1
    await play_to_five(players, first=2)


async def test_a_bot_whose_token_can_not_be_read_loses_nothing(
    start_server: StartServer, outage: Outage
) -> None:
    """Nobody knows whose stream it is, but that somebody waits."""
    async with start_server(grace=GRACE, database_url=outage.url, registration="closed") as server:
        tokens = {name: await server.register(name) for name in ("ada", "bob")}
        pair = [await server.bot(name, token=token) for name, token in tokens.items()]
        await server.tournament(*tokens)
        started = [await peer.started() for peer in pair]
        if started[0].color == game_pb2.COLOR_WHITE:
            pair.reverse()
        with outage.begin():
            await cut(server, pair[1])
            back = await at_the_door(server, pair[1].name, tokens[pair[1].name])
            await beyond_the_grace(server)
        assert (await back.welcome()).running_games == 1
        assert len(server.running) == 1


async def test_an_answer_in_time_is_in_time_whenever_it_is_stored(
    server: ServerInTest, outage: Outage
) -> None:
    """A move is judged when it is read; what it waits for the store is on nobody's clock."""
    black, white = await server.pair(control="1/move")
    turn = await black.turn()
    (game,) = server.running
    with outage.begin(), server.held():
        await black.play(turn, 0)
        await server.until(lambda: game.arbiter.board.ply == 1)
        await beyond_the_grace(server)
        assert game.arbiter.outcome is None
        assert white.unread("turns") == 0
    await white.play(await white.turn(), 5)
    assert (await black.turn()).ply == 2
    assert max(game.arbiter.charged_ns) < 1_000_000_000


async def test_a_bot_that_thinks_too_long_during_an_outage_loses_on_time(
    server: ServerInTest, outage: Outage
) -> None:
    """It was told of its turn before; once the store is back it has a second for a ping's answer."""
    black, _white = await server.pair(control="0.2/move")
    await black.turn()
    (game,) = server.running
    with outage.begin():
        await server.until(lambda: game.arbiter.is_flag_up)
    assert (await black.ended()).outcome.ending == game_pb2.ENDING_TIME


async def test_a_bot_at_the_door_is_not_away(server: ServerInTest) -> None:
    """Though the store takes less than what counts as an outage, and the grace ends meanwhile."""
    black, white = await server.pair()
    (game,) = server.running
    arbiter, color = game.arbiter, Color.WHITE
    with server.held():
        await cut(server, white)
        back = await at_the_door(server, white.name)
        arrivals = server.parts.store_watch._arrivals
        await server.until(lambda: arrivals)
        presence = arbiter._presence
        gone_ns = presence._away_since_ns[color]
        assert gone_ns is not None
        presence._grace_ns[color] = min(arrivals.values()) - gone_ns
        held_ns = gone_ns + 100_000_000
        await server.until(lambda: server.parts.watch.moment().served_ns > held_ns)
        assert not server.parts.store_watch.is_away
        assert arbiter.outcome is None
    assert (await back.welcome()).running_games == 1
    await play_to_five((black, back))


async def test_health_tells_of_an_outage(server: ServerInTest, outage: Outage) -> None:
    """Of a server without games too, and of the services that need the store."""
    other: Any = health_pb2_grpc.HealthStub(await server.channel())
    calls = {}
    for service in ("", *SERVICES):  # a connection holds eight streams
        stub: Any = health_pb2_grpc.HealthStub(await server.channel())
        calls[service] = stub.Watch(health_pb2.HealthCheckRequest(service=service))
    for call in calls.values():
        assert (await call.read()).status == HealthCheckResponse.SERVING
    with outage.begin():
        for service in ("", *STORING_SERVICES):
            assert (await calls[service].read()).status == HealthCheckResponse.NOT_SERVING
        for service in SERVICES:
            request = health_pb2.HealthCheckRequest(service=service)
            is_serving = (await other.Check(request)).status == HealthCheckResponse.SERVING
            assert is_serving == (service in OTHER_SERVICES)
    for service in ("", *STORING_SERVICES):
        assert (await calls[service].read()).status == HealthCheckResponse.SERVING
    for call in calls.values():
        call.cancel()


async def test_a_change_that_can_not_be_stored_is_refused_in_time(
    start_server: StartServer, tmp_path: Path
) -> None:
    """Whoever asks for one hears that the store is away, once a lock's timeout is over."""
    file = tmp_path / "meijin.db"
    async with start_server(database_url=f"sqlite:///{file}?timeout=0.2") as server:
        names = [f"bot-{number}" for number in range(8)]
        with locked(file):
            calls = [server.refusal("BotService/RegisterBot", name=name) for name in names]
            for end in await asyncio.gather(*calls):
                assert (end.code, "try again" in end.details) == (Code.UNAVAILABLE, True)
        await server.register(names[0])


async def test_a_stop_waits_for_no_outage(
    server: ServerInTest, outage: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move that is not stored was told to nobody: its bot is asked again at the next start."""
    monkeypatch.setattr(app, "LAST_COMMITS_TIME", timedelta(seconds=0.1))
    black, white = await server.pair()
    turn = await black.turn()
    (game,) = server.running
    with outage.begin():
        await black.play(turn, 0)
        await server.until(lambda: game.arbiter.board.ply == 1)
        await server.until(lambda: server.parts.store_watch.is_away)
        await server.app.drain()
        assert (await black.closed()).reason == "STOPPING"
    assert white.unread("turns") == 0
