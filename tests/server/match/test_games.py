"""What happens in the games between the judging of an action and its commit."""

from __future__ import annotations

import asyncio
from collections import Counter
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from meijin.game import Ending, Party, Seat
from meijin.server.match import games
from meijin.server.match.live.segments import ENTRIES_PER_SEGMENT
from meijin.store import Database
from meijin.store.database import database_file
from meijin.store.journal import StoredMove, unpack_moves
from meijin.store.move_log import log as move_log
from meijin.store.move_log.reader import LogReader, read_log
from meijin.store.move_log.segment import log_folder
from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

    from meijin.server.match.live.live_game import LiveGame
    from meijin.server.settings import Settings

FIVE = (0, 5, 1, 6, 2, 7, 3, 8, 4)


async def caught_up(peer: Peer) -> None:
    """Read everything that was sent to a bot before now: its own nonsense is refused last."""
    await peer.write(actions=pb.Actions(resigns=[pb.Resign(game=12345)]))
    assert (await peer.notice()).game == 12345


def hold_after_an_end(server: ServerInTest) -> Event:
    """Hold the writer from the next end of a game on, so that no start after it is committed."""
    gate = Event()
    is_armed = [True]

    def hold(_game: LiveGame) -> None:
        if is_armed:
            is_armed.clear()
            server.hold(gate)

    server.listen(ended=hold)
    return gate


async def test_nobody_hears_of_a_move_that_is_not_committed(
    server: ServerInTest, line: Any
) -> None:
    """Neither the opponent nor whoever looks at the game."""
    players = await server.pair()
    await line(players, FIVE[:2])
    turn = await players[0].turn()
    (game,) = server.running
    with server.held():
        await players[0].play(turn, FIVE[2])
        await server.until(lambda: game.arbiter.board.ply == 3)
        await caught_up(players[1])
        assert players[1].unread("turns") == 0
        assert list(game.committed_moves) == list(FIVE[:2])
    assert (await players[1].turn()).ply == 3
    assert list(game.committed_moves) == list(FIVE[:3])


async def test_nobody_hears_of_an_end_that_is_not_committed(
    server: ServerInTest, line: Any
) -> None:
    """A winning move is no different."""
    players = await server.pair()
    await line(players, FIVE[:8])
    turn = await players[0].turn()
    (game,) = server.running
    with server.held():
        await players[0].play(turn, FIVE[8])
        await server.until(lambda: game.arbiter.outcome is not None)
        for peer in players:
            await caught_up(peer)
            assert peer.unread("ended") == 0
        assert list(game.committed_moves) == list(FIVE[:8])
    for peer in players:
        assert (await peer.ended()).outcome.ending == game_pb2.ENDING_FIVE
    assert list(game.committed_moves) == list(FIVE)


@pytest.mark.parametrize("how", ["goodbye", "resign"])
async def test_a_game_that_ends_before_it_was_announced_is_never_told(
    server: ServerInTest, how: str
) -> None:
    """A bot hears of the end of no game whose start it did not hear of."""
    black, white = await server.pair(rounds=3)
    gate = hold_after_an_end(server)
    await black.resign((await black.turn()).game)
    for peer in (black, white):
        await peer.ended()
    await server.until(lambda: server.running)
    (unannounced,) = server.running
    assert not unannounced.is_announced
    if how == "goodbye":
        await black.write(goodbye=pb.Goodbye())
    else:
        await black.resign(unannounced.number)
    await server.until(lambda: unannounced.arbiter.outcome is not None)
    gate.set()
    await server.parts.journal.drained()
    await caught_up(white)
    assert white.unread("ended") == 0
    if how == "resign":
        assert (await white.started()).game == unannounced.number + 1


async def test_a_bot_that_returns_before_a_start_is_committed_hears_of_it_once(
    server: ServerInTest,
) -> None:
    """The welcome counts the games that it knows of; the new one follows like any other."""
    black, white = await server.pair(rounds=2)
    gate = hold_after_an_end(server)
    await black.resign((await black.turn()).game)
    for peer in (black, white):
        await peer.ended()
    await server.until(lambda: server.running)
    (game,) = server.running
    assert not game.is_announced
    player = server.player(game.black if game.black.name == white.name else game.white)
    session = player.session
    assert session is not None
    parts = server.parts
    back = parts.lobby.join(player, session.version_id, session.capabilities)
    first = back.drain(parts.watch.moment())
    assert first.welcome is not None
    assert first.ping
    assert not first.has_events
    gate.set()
    await parts.journal.drained()
    second = back.drain(parts.watch.moment())
    assert list(second.started) == [game]
    assert len(second.turns) == (game.black is player)


async def test_a_game_that_ends_before_its_return_was_told_is_not_counted(
    server: ServerInTest,
) -> None:
    """The welcome counts exactly the games that follow it."""
    ada = await server.bot("ada", max_games=2)
    await server.bot("bob", max_games=2)
    await server.tournament("ada", "bob", rounds=2)
    for _ in range(2):
        await ada.started()
    parts = server.parts
    one, other = server.running
    player = server.player(one.black if one.black.name == "ada" else one.white)
    assert player.session is not None
    back = parts.lobby.join(player, player.session.version_id, player.session.capabilities)
    back.add_end(one)
    first = back.drain(parts.watch.moment())
    assert first.welcome is not None
    assert first.welcome.running_games == 1
    assert list(first.started) == [other]
    assert not first.ended


async def test_a_turn_is_asked_once(server: ServerInTest) -> None:
    """A bot that returns while its opponent's move is being committed is asked after it."""
    black, white = await server.pair()
    turn = await black.turn()
    parts = server.parts
    (game,) = server.running
    player = server.player(game.white)
    session = player.session
    assert session is not None
    with server.held():
        await black.play(turn, 0)
        await server.until(lambda: game.arbiter.board.ply == 1)
        back = parts.lobby.join(player, session.version_id, session.capabilities)
        first = back.drain(parts.watch.moment())
        assert list(first.started) == [game]
        assert not first.turns
    await parts.journal.drained()
    assert [turn for turn, _ in back.drain(parts.watch.moment()).turns] == [game]
    assert white.unread("turns") == 0


def logged_moves(settings: Settings) -> list[StoredMove]:
    """The moves in the log of a server that has ended."""
    path = database_file(settings.database)
    assert path is not None
    with (
        Database(settings.database) as database,
        database.reader.connect() as connection,
        LogReader(log_folder(path)) as log,
    ):
        entries = read_log(connection, log)
        return [move for entry in entries for move in unpack_moves(entry.moves)]


async def test_old_entries_are_deleted(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moves of ended games don't pile up; those of running ones are never deleted."""
    monkeypatch.setattr(move_log, "SEGMENT_BYTES", 2048)
    async with start_server() as server:
        black, white = await server.pair(("eva", "eve"))
        await black.play(await black.turn(), 12)
        await white.turn()
        ada, bob = await server.bot("ada"), await server.bot("bob")
        await server.tournament("ada", "bob", rounds=30)
        await asyncio.gather(ada.play_out(30), bob.play_out(30))
    moves = logged_moves(server.settings)
    assert moves[0].game_id == 1
    assert moves[0].code == 12
    async with start_server() as server:
        black, white = [await server.bot(name) for name in ("eva", "eve")]
        await asyncio.gather(black.play_out(1), white.play_out(1))
        ada, bob = await server.bot("ada"), await server.bot("bob")
        await server.tournament("ada", "bob", rounds=2 * ENTRIES_PER_SEGMENT // 9)
        await asyncio.gather(*(peer.play_out(2 * ENTRIES_PER_SEGMENT // 9) for peer in (ada, bob)))
    left = logged_moves(server.settings)
    assert 1 not in {move.game_id for move in left}
    assert len(left) < len(moves)


async def many_games(server: ServerInTest) -> list[LiveGame]:
    """Ten games of two bots."""
    for name in ("ada", "bob"):
        await server.bot(name, max_games=10)
    await server.tournament("ada", "bob", rounds=10)
    await server.until(lambda: len(server.running) == 10)
    return server.running


async def test_so_many_games_are_voided_in_one_commit(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others go on until these are committed; one that ends by itself is left as it is."""
    monkeypatch.setattr(games, "VOIDS_AT_ONCE", 3)
    running, match = await many_games(server), server.parts.games
    endings: list[Ending] = []
    server.listen(ended=lambda game: endings.append(ending_of(game)))
    (run,) = server.parts.scheduler.runs.values()
    with server.held():
        server.parts.scheduler.cancel(run)
        assert server.running == running[3:]
        running[4].arbiter.resign(Seat.FIRST)
        match.end(running[4])
    await server.parts.scheduler.settled()
    assert Counter(endings) == {Ending.VOID: 9, Ending.RESIGN: 1}
    assert not server.running


async def test_games_of_a_decided_tournament_are_voided_bit_by_bit(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that wait for it have no result any more."""
    monkeypatch.setattr(games, "VOIDS_AT_ONCE", 3)
    running, match = await many_games(server), server.parts.games
    (run,) = server.parts.scheduler.runs.values()
    with server.held():
        server.parts.scheduler.finish(run)
        assert server.running == running[3:]
        running[4].arbiter.resign(Seat.FIRST)
        match.end(running[4])
    await server.parts.scheduler.settled()
    assert {ending_of(game) for game in running} == {Ending.VOID}
    assert not server.running


async def test_a_game_that_cannot_be_voided_keeps_no_other(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor whoever waits until all are void."""
    monkeypatch.setattr(games, "VOIDS_AT_ONCE", 3)
    running, match = await many_games(server), server.parts.games
    broken, void = running[:4], match.void

    def fail(game: LiveGame, party: Party, detail: str) -> None:
        if game in broken:
            raise ValueError(detail)
        void(game, party, detail)

    monkeypatch.setattr(match, "void", fail)
    match.void_all(running, Party.OPERATOR, "a test")
    await server.parts.scheduler.settled()
    assert server.running[: len(broken)] == broken
    assert not set(running[len(broken) :]) & set(server.running)


def ending_of(game: LiveGame) -> Ending:
    """How a game has ended."""
    assert game.arbiter.outcome is not None
    return game.arbiter.outcome.ending
