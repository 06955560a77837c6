"""Games that are voided while others are played, over the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from sqlalchemy import Connection, select
from tests.peer import Peer
from tests.server_in_test import ServerInTest

from meijin.server import storage
from meijin.server.errors import StoreAwayError
from meijin.server.tournaments.control import TournamentControl
from meijin.server.tournaments.formats.schedule import RoundRobin
from meijin.store.schema import (
    AuditRow,
    Game,
    GameState,
    Ladder,
    Pairing,
    TournamentId,
    TournamentState,
)
from meijin.store.tournaments import set_state
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as tournament_pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

Code = grpc.StatusCode
VOID_GAME = "GameService/VoidGame"
RUNNING = tournament_pb.TOURNAMENT_STATE_RUNNING
CANCELLED = tournament_pb.TOURNAMENT_STATE_CANCELLED
AWAY = StoreAwayError("the database does not answer; try again")
PLAYED_AGAIN = [(1, GameState.VOID), (2, GameState.FINISHED), (1, GameState.FINISHED)]


async def void(server: ServerInTest, game_id: str, reason: str = "a wrong opening") -> Any:
    return (await server.ask(VOID_GAME, game_id=game_id, reason=reason)).game


async def give_up(peers: tuple[Peer, Peer]) -> str:
    """Have the first to hear of a new game resign it; return its id."""
    starts = [await peer.started() for peer in peers]
    await peers[0].resign(starts[0].game)
    for peer in peers:
        await peer.ended()
    return starts[0].game_id


async def finish(server: ServerInTest, peers: Sequence[Peer]) -> None:
    playing = [asyncio.create_task(peer.play_out(1_000_000)) for peer in peers]
    await server.until_finished("1")
    for task in playing:
        task.cancel()


async def two_bots(server: ServerInTest, **tournament: Any) -> tuple[Peer, Peer]:
    peers = await server.bot("ada"), await server.bot("bob")
    await server.tournament("ada", "bob", **tournament)
    return peers


def rows_of(connection: Connection) -> list[tuple[int, GameState]]:
    """The pairing and the state of every game, oldest first."""
    query = select(Pairing.number, Game.state).join(Game, Game.pairing_id == Pairing.id)
    return [(row.number, row.state) for row in connection.execute(query.order_by(Game.id))]


def ladder_of(connection: Connection) -> tuple[int, int]:
    """The ladder's revision, and how many of its games were voided."""
    revision, voided = connection.execute(select(Ladder.revision, Ladder.voided)).one()
    return revision, voided


# -- games that are played ------------------------------------------------------------


async def test_a_running_game_is_voided(start_server: StartServer, any_database_url: str) -> None:
    """Its players are told, and play the pairing again."""
    async with start_server(database_url=any_database_url) as server:
        ada, bob = await two_bots(server)
        first = await ada.started()
        voided = await void(server, first.game_id, "  the referee\0 slept ")
        assert voided.state == game_pb2.GAME_STATE_VOID
        assert voided.outcome == game_pb2.Outcome(
            ending=game_pb2.ENDING_VOID,
            at_fault=game_pb2.PARTY_OPERATOR,
            detail="the referee slept",
        )
        for peer in (ada, bob):
            assert (await peer.ended()).outcome.at_fault == game_pb2.PARTY_OPERATOR
        again = await ada.started()
        assert (again.game_id, again.color) == ("2", first.color)
        assert server.database.read(rows_of) == [(1, GameState.VOID), (1, GameState.RUNNING)]


async def test_a_finished_game_is_voided(start_server: StartServer, any_database_url: str) -> None:
    """While its tournament goes on, which plays it again and ends as it should."""
    async with start_server(database_url=any_database_url) as server:
        told: list[int] = []
        server.parts.refreshes.send = told.append  # type: ignore[method-assign,assignment]
        peers = await two_bots(server, rounds=2)
        first = await give_up(peers)
        second, _ = [await peer.started() for peer in peers]
        await server.until(lambda: told)
        told.clear()
        voided = await void(server, first)
        assert voided.state == game_pb2.GAME_STATE_VOID
        assert voided.outcome.detail == "a wrong opening"
        assert told == [1]
        acts = select(AuditRow.before).where(AuditRow.action == "void")
        was = {"state": "finished", "result": "0-1", "ending": "resign"}
        assert server.database.read(lambda at: at.scalars(acts).all()) == [was]
        assert server.database.read(ladder_of) == (1, 1)
        found = (await server.report()).tournament
        assert (found.state, found.finished_games, found.running_games) == (RUNNING, 0, 1)
        await peers[0].resign(second.game)
        await finish(server, peers)
        assert server.database.read(rows_of) == PLAYED_AGAIN


async def test_watchers_are_told_that_a_game_was_voided(server: ServerInTest) -> None:
    """The tournament has a finished game less than they have counted."""
    ada, bob = await two_bots(server, rounds=2)
    first, _ = [await peer.started() for peer in (ada, bob)]
    watcher = aiter(server.watch("TournamentService/WatchTournament", tournament_id="1"))
    assert (await anext(watcher)).tournament.finished_games == 0
    await ada.resign(first.game)
    kinds = [(await anext(watcher)).WhichOneof("fact") for _ in range(2)]
    assert kinds == ["game_ended", "game_started"]
    await void(server, first.game_id)
    told = (await anext(watcher)).tournament
    assert (told.state, told.finished_games, told.running_games) == (RUNNING, 0, 1)


async def test_a_cancellation_that_was_stored_unheard_is_made_good(server: ServerInTest) -> None:
    """Its answer was lost: who reads of it next stops the games, and a resumed tournament ends."""
    peers = await two_bots(server, rounds=2)
    first = await give_up(peers)
    for peer in peers:
        await peer.started()
    server.database.write(set_state, TournamentId(1), TournamentState.CANCELLED)
    await void(server, first)
    assert ((await server.report()).tournament).state == CANCELLED
    for change in (server.resume, server.cancel, server.resume):
        await change("1")
    actions = [action for _, action, _ in await server.acts()]
    assert actions == ["create", "void", "resume", "cancel", "resume"]
    await finish(server, peers)


# -- at the wrong moment --------------------------------------------------------------


async def test_the_last_game_ends_while_another_is_voided(server: ServerInTest) -> None:
    """The end of the tournament is on its way to the store: it goes on all the same."""
    peers = await two_bots(server, rounds=2)
    first = await give_up(peers)
    starts = [await peer.started() for peer in peers]
    with server.held():
        await peers[0].resign(starts[0].game)
        await server.until(lambda: not server.running)
        voiding = asyncio.create_task(void(server, first))
        await server.until(lambda: server.tasks("VoidGame"))
    await voiding
    await finish(server, peers)
    assert server.database.read(rows_of) == PLAYED_AGAIN


async def test_a_game_that_ends_while_the_tournament_is_loaded_counts(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before its end is read once more, with the games that still run."""
    load = TournamentControl._load
    loads: list[int] = []

    ada, bob = [await server.bot(name, max_games=3) for name in ("ada", "bob")]
    await server.tournament("ada", "bob", rounds=3)
    numbers = [(await ada.started()).game for _ in range(3)]
    await ada.resign(numbers[0])
    await ada.ended()

    async def load_while_a_game_ends(self: TournamentControl, tournament_id: Any) -> Any:
        run = await load(self, tournament_id)
        loads.append(len(server.running))
        if len(loads) == 1:
            await ada.resign(numbers[1])
            await server.until(lambda: len(server.running) == 1)
        return run

    monkeypatch.setattr(TournamentControl, "_load", load_while_a_game_ends)
    await void(server, "1")
    assert loads == [2, 1]
    (run,) = server.parts.scheduler.runs.values()
    assert isinstance(run.format, RoundRobin)
    assert (run.format.remaining, run.running + len(run.pending)) == (2, 2)
    for number in (numbers[2], (await ada.started()).game):
        await ada.resign(number)
    await server.until_finished("1")
    await bob.ended()


async def test_a_database_that_is_away_delays_the_tournament(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is loaded when the database is back, and the caller waits for it."""
    monkeypatch.setattr(storage, "FIRST_RETRY", timedelta(0))
    failures: list[Any] = []
    load = TournamentControl._load

    async def fail_twice(self: TournamentControl, tournament_id: Any) -> Any:
        if len(failures) < 2:
            failures.append(tournament_id)
            raise AWAY
        return await load(self, tournament_id)

    peers = await two_bots(server)
    await give_up(peers)
    await server.until_finished("1")
    monkeypatch.setattr(TournamentControl, "_load", fail_twice)
    await void(server, "1")
    assert failures == [1, 1]
    found = (await server.report()).tournament
    assert (found.state, found.HasField("end_time")) == (RUNNING, False)
    await finish(server, peers)
    assert ((await server.report()).tournament).finished_games == 1


async def test_two_operators_take_one_game_back_once(server: ServerInTest) -> None:
    """The others are told that it is void."""
    peers = await two_bots(server)
    await give_up(peers)
    calls = [server.refusal(VOID_GAME, game_id="1", reason="x") for _ in range(5)]
    ends = sorted((end.reason, end.details) for end in await asyncio.gather(*calls))
    assert ends == [("", ""), *[("WRONG_STATE", "game 1 is void")] * 4]
    assert server.database.read(ladder_of) == (1, 1)
