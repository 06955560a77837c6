"""Games that are voided while others are played, over the wire."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from sqlalchemy import Connection, select

from meijin.game import encode_moves
from meijin.server import storage
from meijin.server.errors import StoreAwayError
from meijin.server.tournaments.control import TournamentControl
from meijin.server.tournaments.formats.round_robin import RoundRobin
from meijin.server.tournaments.formats.sprt import SprtFormat
from meijin.store import Database
from meijin.store.schema import AuditRow, Game, GameState, Ladder, Pairing
from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.v1 import tournament_service_pb2 as tournament_pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

Code = grpc.StatusCode
VOID_GAME = "/meijin.v1.GameService/VoidGame"
RUNNING, FINISHED, CANCELLED = (
    tournament_pb.TOURNAMENT_STATE_RUNNING,
    tournament_pb.TOURNAMENT_STATE_FINISHED,
    tournament_pb.TOURNAMENT_STATE_CANCELLED,
)
OPENINGS = [encode_moves((cell,)) for cell in (6, 7, 8, 12)]


async def void(
    server: ServerInTest, game_id: str, reason: str = "a wrong opening"
) -> game_pb2.Game:
    """Void a game."""
    request = pb.VoidGameRequest(game_id=game_id, reason=reason)
    return (await (await server.games()).VoidGame(request)).game


async def tournament(server: ServerInTest, key: str = "1") -> tournament_pb.Tournament:
    """One tournament."""
    request = tournament_pb.GetTournamentRequest(tournament_id=key)
    return (await (await server.tournaments()).GetTournament(request)).tournament


async def give_up(peers: tuple[Peer, Peer]) -> str:
    """Have the first to hear of a new game resign it; return its id."""
    starts = [await peer.started() for peer in peers]
    await peers[0].resign(starts[0].game)
    for peer in peers:
        await peer.ended()
    return starts[0].game_id


async def two_bots(server: ServerInTest, **tournament: Any) -> tuple[Peer, Peer]:
    """Ada and Bob, and a tournament of theirs."""
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


def voids_of(connection: Connection) -> list[dict[str, object] | None]:
    """What the games that were voided had been, by the audit log."""
    query = select(AuditRow.before).where(AuditRow.action == "void")
    return list(connection.scalars(query))


def have_ended(games: list[str], more_than: int) -> bool:
    """Whether more than so many games wait to be voided."""
    return len(games) > more_than


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
        server.parts.refreshes.ladder_changed = told.append  # type: ignore[method-assign,assignment]
        peers = await two_bots(server, rounds=2)
        first = await give_up(peers)
        second, _ = [await peer.started() for peer in peers]
        await server.until(lambda: told)
        told.clear()
        voided = await void(server, first)
        assert (voided.state, voided.outcome.detail) == (
            game_pb2.GAME_STATE_VOID,
            "a wrong opening",
        )
        assert told == [1]
        was = {"state": "finished", "result": "0-1", "ending": "resign"}
        assert server.database.read(voids_of) == [was]
        assert server.database.read(ladder_of) == (1, 1)
        found = await tournament(server)
        assert (found.state, found.finished_games, found.running_games) == (RUNNING, 0, 1)
        await peers[0].resign(second.game)
        for peer in peers:
            await peer.ended()
        assert await give_up(peers) == "3"
        await server.until_finished("1")
        assert server.database.read(rows_of) == [
            (1, GameState.VOID),
            (2, GameState.FINISHED),
            (1, GameState.FINISHED),
        ]


async def test_watchers_are_told_that_a_game_was_voided(server: ServerInTest) -> None:
    """The tournament has a finished game less than they have counted."""
    ada, bob = await two_bots(server, rounds=2)
    first, _ = [await peer.started() for peer in (ada, bob)]
    request = tournament_pb.WatchTournamentRequest(tournament_id="1")
    watcher = aiter((await server.tournaments()).WatchTournament(request))
    assert (await anext(watcher)).tournament.finished_games == 0
    await ada.resign(first.game)
    kinds = [(await anext(watcher)).WhichOneof("fact") for _ in range(2)]
    assert kinds == ["game_ended", "game_started"]
    await void(server, first.game_id)
    told = (await anext(watcher)).tournament
    assert (told.state, told.finished_games, told.running_games) == (RUNNING, 0, 1)


async def test_a_finished_tournament_is_taken_up_again(
    start_server: StartServer, any_database_url: str
) -> None:
    """By whoever is there, and ends a second time."""
    async with start_server(database_url=any_database_url) as server:
        peers = await two_bots(server)
        await give_up(peers)
        await server.until_finished("1")
        await void(server, "1")
        found = await tournament(server)
        assert (found.state, found.HasField("end_time")) == (RUNNING, False)
        await give_up(peers)
        await server.until_finished("1")
        assert (await tournament(server)).finished_games == 1


async def test_a_cancelled_tournament_stays_so(server: ServerInTest) -> None:
    """Its game is played again once it is resumed."""
    peers = await two_bots(server, rounds=2)
    first = await give_up(peers)
    for peer in peers:
        await peer.started()
    await server.cancel("1")
    await void(server, first)
    found = await tournament(server)
    assert (found.state, found.finished_games) == (CANCELLED, 0)
    assert server.running == []
    await server.resume("1")
    for peer in peers:
        await peer.ended()
    await asyncio.gather(*(peer.play_out(2) for peer in peers))
    await server.until_finished("1")


async def test_a_cancellation_that_was_stored_unheard_is_made_good(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer was lost: who reads of it next stops the games, and a resumed tournament ends."""
    write = storage.Storage.write

    async def lose_the_answer(self: storage.Storage, *work: Any, **more: Any) -> Any:
        await write(self, *work, **more)
        monkeypatch.undo()
        raise StoreAwayError("the database does not answer; try again")

    peers = await two_bots(server, rounds=2)
    first = await give_up(peers)
    for peer in peers:
        await peer.started()
    monkeypatch.setattr(storage.Storage, "write", lose_the_answer)
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await server.cancel("1")
    assert failure.value.code() is Code.UNAVAILABLE
    assert server.running != []
    await void(server, first)
    for peer in peers:
        await peer.ended()
    assert (await tournament(server)).state == CANCELLED
    await server.resume("1")
    await asyncio.gather(*(peer.play_out(2) for peer in peers))
    await server.until_finished("1")


async def test_a_restarted_server_plays_it_again(start_server: StartServer) -> None:
    """Whatever the one before has made of it."""
    async with start_server() as server:
        peers = await two_bots(server)
        await give_up(peers)
        await server.until_finished("1")
        for peer in peers:
            peer.call.cancel()
            await server.away(peer.name)
        await void(server, "1")
    async with start_server() as server:
        peers = await server.bot("ada"), await server.bot("bob")
        assert await give_up(peers) == "2"
        await server.until_finished("1")


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
    for peer in peers:
        await peer.ended()
    assert await give_up(peers) == "3"
    await server.until_finished("1")
    assert server.database.read(rows_of) == [
        (1, GameState.VOID),
        (2, GameState.FINISHED),
        (1, GameState.FINISHED),
    ]


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


@pytest.mark.parametrize("seed", range(3))
async def test_games_that_end_meanwhile_are_counted(start_server: StartServer, seed: int) -> None:
    """Every pairing of a busy tournament has one game in the end, however many are voided."""
    rng, rounds = random.Random(seed), 40
    ended: list[str] = []

    async with start_server() as server:
        server.listen(ended=lambda game: ended.append(str(game.id)))
        peers = [await server.bot(name, max_games=8) for name in ("ada", "bob")]
        await server.tournament("ada", "bob", rounds=rounds, openings=OPENINGS)
        playing = [asyncio.create_task(peer.play_out(1_000_000)) for peer in peers]
        for number in range(6):
            await server.until(partial(have_ended, ended, 3 * number))
            await void(server, ended.pop(rng.randrange(len(ended))))
        await server.until_finished("1")
        for task in playing:
            task.cancel()
        found = await tournament(server)
        assert (found.planned_games, found.finished_games, found.running_games) == (rounds, 40, 0)
    with Database(server.settings.database) as database:
        rows = database.read(rows_of)
    states = Counter(state for _, state in rows)
    assert states == {GameState.FINISHED: rounds, GameState.VOID: 6}
    finished = Counter(number for number, state in rows if state is GameState.FINISHED)
    assert set(finished.values()) == {1}


async def test_a_test_forgets_a_game_that_is_voided(server: ServerInTest) -> None:
    """A match that a test ends goes on from what is left."""
    peers = await two_bots(
        server,
        rounds=0,
        format=tournament_pb.TOURNAMENT_FORMAT_SPRT,
        sprt=tournament_pb.Sprt(elo0=0, elo1=100),
        openings=OPENINGS,
    )
    games = [await give_up(peers) for _ in range(4)]
    assert list((await tournament(server)).sprt.pairs) == [2, 0, 0, 0, 0]
    await void(server, games[1])
    found = (await tournament(server)).sprt
    assert (found.losses, list(found.pairs)) == (3, [1, 0, 0, 0, 0])
    (run,) = server.parts.scheduler.runs.values()
    assert isinstance(run.format, SprtFormat)
    assert (run.format.detail.losses, run.format.detail.played) == (3, 3)
    while (await tournament(server)).state == RUNNING:
        await give_up(peers)
    found = (await tournament(server)).sprt
    assert (found.decision, list(found.pairs)) == (
        tournament_pb.SPRT_DECISION_ELO0,
        [7, 0, 0, 0, 0],
    )


async def test_a_ladder_plays_on_after_its_last_game_is_voided(server: ServerInTest) -> None:
    """It had used its games up, and has one more to play: the same pairing."""
    peers = await two_bots(
        server,
        rounds=0,
        format=tournament_pb.TOURNAMENT_FORMAT_LADDER,
        ladder=tournament_pb.LadderRun(most_games=4),
        openings=OPENINGS,
    )
    games = [await give_up(peers) for _ in range(4)]
    await server.until_finished("1")
    assert (await tournament(server)).verdict
    await void(server, games[3])
    assert (await tournament(server)).verdict == ""
    await give_up(peers)
    await server.until_finished("1")
    rows = server.database.read(rows_of)
    assert [number for number, state in rows if state is GameState.VOID] == [rows[-1][0]]
    assert (await tournament(server)).finished_games == 4


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
            raise StoreAwayError("the database does not answer; try again")
        return await load(self, tournament_id)

    peers = await two_bots(server)
    await give_up(peers)
    monkeypatch.setattr(TournamentControl, "_load", fail_twice)
    await void(server, "1")
    assert failures == [1, 1]
    await give_up(peers)
    await server.until_finished("1")


# -- what is refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "code", "words"),
    [
        ({"game_id": "99", "reason": "x"}, Code.NOT_FOUND, "no game 99"),
        ({"game_id": "x", "reason": "x"}, Code.INVALID_ARGUMENT, "game_id"),
        ({"game_id": "1", "reason": " \0"}, Code.INVALID_ARGUMENT, "reason: say in a sentence"),
        ({"game_id": "1", "reason": "x" * 201}, Code.INVALID_ARGUMENT, "longer than 200"),
        ({"game_id": "1", "reason": "again"}, Code.FAILED_PRECONDITION, "game 1 is void"),
    ],
)
async def test_what_can_not_be_voided(
    server: ServerInTest,
    ending: Callable[..., Any],
    request_: dict[str, Any],
    code: Code,
    words: str,
) -> None:
    """An unknown game, one without a reason, and one that is void already."""
    ada, _ = await two_bots(server)
    await void(server, (await ada.started()).game_id)
    request = pb.VoidGameRequest(**request_).SerializeToString()
    found = await ending(await server.channel(), VOID_GAME, request, None)
    assert found.code is code
    assert words in found.details
    assert server.database.read(rows_of)[0] == (1, GameState.VOID)


async def test_two_operators_take_one_game_back_once(
    server: ServerInTest, ending: Callable[..., Any]
) -> None:
    """One of them is told that it is void already."""
    peers = await two_bots(server)
    first = await give_up(peers)
    request = pb.VoidGameRequest(game_id=first, reason="x").SerializeToString()
    call = partial(ending, await server.channel(), VOID_GAME, request, None)
    codes = [found.code for found in await asyncio.gather(*(call() for _ in range(5)))]
    assert sorted(code.name for code in codes) == ["FAILED_PRECONDITION"] * 4 + ["OK"]
    assert server.database.read(ladder_of) == (1, 1)
