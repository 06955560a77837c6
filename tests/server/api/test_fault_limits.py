"""Tournaments that are cancelled when a bot fails too often, over the wire."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import grpc
import pytest

from meijin.testing.server import ServerInTest
from meijin.v1 import tournament_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

    from meijin.testing.peer import Peer


async def found(server: ServerInTest) -> pb.Tournament:
    """The first tournament as it stands."""
    request = pb.GetTournamentRequest(tournament_id="1")
    return (await (await server.tournaments()).GetTournament(request)).tournament


async def fail(ada: Peer, bob: Peer) -> None:
    """Have one bot fail in the game that has begun."""
    game = (await ada.started()).game
    await bob.started()
    await ada.fail(game, "ValueError: odd (bot.py, line 12)")
    await ada.ended()
    await bob.ended()


async def test_it_is_cancelled_and_may_be_resumed(start_server: StartServer) -> None:
    """Faults before a restart count; its watchers hear why; the next fault cancels it again."""
    async with start_server() as server:
        ada, bob = [await server.bot(name) for name in ("ada", "bob")]
        await server.tournament("ada", "bob", rounds=4, unrated=True, max_faults=2)
        assert (await found(server)).settings.max_faults == 2
        await fail(ada, bob)
    async with start_server() as server:
        request = pb.WatchTournamentRequest(tournament_id="1")
        watching = aiter((await server.tournaments()).WatchTournament(request))
        await anext(watching)
        ada, bob = [await server.bot(name) for name in ("ada", "bob")]
        await fail(ada, bob)
        async with asyncio.timeout(20):
            facts = [fact async for fact in watching]
        assert facts[-1].tournament.state == pb.TOURNAMENT_STATE_CANCELLED
        verdict = "ada has lost 2 games by its own faults; the last: crash: ValueError: odd"
        assert facts[-1].tournament.verdict == f"{verdict} (bot.py, line 12)"
        resumed = await server.resume("1")
        assert resumed.verdict == ""
        await fail(ada, bob)
        await server.parts.scheduler.settled()
        tournament = await found(server)
        assert tournament.state == pb.TOURNAMENT_STATE_CANCELLED
        assert tournament.verdict.startswith("ada has lost 3 games")
        assert tournament.finished_games == 3


async def test_more_faults_than_games_are_refused(server: ServerInTest) -> None:
    """The error names the number and the most."""
    for name in ("ada", "bob"):
        await server.bot(name)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await server.tournament("ada", "bob", max_faults=1_000_001)
    assert caught.value.details() == "max_faults 1000001 is above 1000000"
