"""What happens in the games between the judging of an action and its commit."""

from __future__ import annotations

import asyncio
from collections import Counter
from threading import Event
from typing import TYPE_CHECKING

import pytest
from tests.peer import Peer, play_moves
from tests.server_in_test import FIVE, ServerInTest

from meijin.game import Ending, Party, Seat
from meijin.server.match import games
from meijin.server.match.live.segments import ENTRIES_PER_SEGMENT
from meijin.store import Database
from meijin.store.database import database_file
from meijin.store.journal import StoredMove, unpack_moves
from meijin.store.move_log import log as move_log
from meijin.store.move_log.reader import LogReader, read_log
from meijin.store.move_log.segment import log_folder
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

    from meijin.server.match.live.live_game import LiveGame
    from meijin.server.match.live.session import Session
    from meijin.server.match.lobby import Player
    from meijin.server.settings import Settings


def join_again(server: ServerInTest, player: Player) -> Session:
    """Another stream of a bot that has one, which nobody reads."""
    session = player.session
    assert session is not None
    return server.parts.lobby.join(player, session.version_id, session.capabilities)


async def next_game_held(
    server: ServerInTest, players: tuple[Peer, Peer]
) -> tuple[LiveGame, Event]:
    """End a first game; the second, whose start is not committed before the event is set."""
    gate, is_armed = Event(), [True]

    def hold(_game: LiveGame) -> None:
        if is_armed:
            is_armed.clear()
            server.hold(gate)

    server.listen(ended=hold)
    await players[0].resign((await players[0].turn()).game)
    for peer in players:
        await peer.ended()
    await server.until(lambda: server.running)
    (game,) = server.running
    assert not game.is_announced
    return game, gate


@pytest.mark.parametrize("plies", [2, 8], ids=["a move", "an end"])
async def test_nobody_hears_of_what_is_not_committed(server: ServerInTest, plies: int) -> None:
    """Neither the opponent nor whoever looks at the game."""
    players = await server.pair()
    await play_moves(players, FIVE[:plies])
    turn = await players[0].turn()
    (game,) = server.running
    with server.held():
        await players[0].play(turn, FIVE[plies])
        await server.until(lambda: game.arbiter.board.ply == plies + 1)
        for peer in players:
            await peer.catch_up()
            assert peer.unread("turns") == peer.unread("ended") == 0
        assert list(game.committed_moves) == list(FIVE[:plies])
    if plies == 2:
        assert (await players[1].turn()).ply == 3
    else:
        for peer in players:
            assert (await peer.ended()).outcome.ending == game_pb2.ENDING_FIVE
    assert list(game.committed_moves) == list(FIVE[: plies + 1])


@pytest.mark.parametrize("how", ["goodbye", "resign"])
async def test_a_game_that_ends_before_it_was_announced_is_never_told(
    server: ServerInTest, how: str
) -> None:
    """A bot hears of the end of no game whose start it did not hear of."""
    black, white = await server.pair(rounds=3)
    unannounced, gate = await next_game_held(server, (black, white))
    if how == "goodbye":
        await black.write(goodbye=pb.Goodbye())
    else:
        await black.resign(unannounced.number)
    await server.until(lambda: unannounced.arbiter.outcome is not None)
    gate.set()
    await server.parts.journal.drained()
    await white.catch_up()
    assert white.unread("ended") == 0
    if how == "resign":
        assert (await white.started()).game == unannounced.number + 1


async def test_a_bot_that_returns_before_a_start_is_committed_hears_of_it_once(
    server: ServerInTest,
) -> None:
    """The welcome counts the games that it knows of; the new one follows like any other."""
    black, white = await server.pair(rounds=2)
    game, gate = await next_game_held(server, (black, white))
    player = server.player(game.black if game.black.name == white.name else game.white)
    parts, back = server.parts, join_again(server, player)
    first = back.drain(parts.watch.moment())
    assert first.welcome is not None
    assert first.ping
    assert not first.has_events
    gate.set()
    await parts.journal.drained()
    second = back.drain(parts.watch.moment())
    assert list(second.started) == [game]
    assert len(second.turns) == (game.black is player)


async def test_a_turn_is_asked_once(server: ServerInTest) -> None:
    """A bot that returns while its opponent's move is being committed is asked after it."""
    black, white = await server.pair()
    turn = await black.turn()
    parts = server.parts
    (game,) = server.running
    with server.held():
        await black.play(turn, 0)
        await server.until(lambda: game.arbiter.board.ply == 1)
        back = join_again(server, server.player(game.white))
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


async def play_rounds(server: ServerInTest, rounds: int) -> None:
    peers = [await server.bot(name) for name in ("ada", "bob")]
    await server.tournament("ada", "bob", rounds=rounds)
    await asyncio.gather(*(peer.play_out(rounds) for peer in peers))


async def test_old_entries_are_deleted(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moves of ended games don't pile up; those of running ones are never deleted."""
    monkeypatch.setattr(move_log, "SEGMENT_BYTES", 2048)
    async with start_server() as server:
        black, white = await server.pair(("eva", "eve"))
        await black.play(await black.turn(), 12)
        await white.turn()
        await play_rounds(server, 30)
    moves = logged_moves(server.settings)
    assert (moves[0].game_id, moves[0].code) == (1, 12)
    async with start_server() as server:
        peers = [await server.bot(name) for name in ("eva", "eve")]
        await asyncio.gather(*(peer.play_out(1) for peer in peers))
        await play_rounds(server, 2 * ENTRIES_PER_SEGMENT // 9)
    left = logged_moves(server.settings)
    assert 1 not in {move.game_id for move in left}
    assert len(left) < len(moves)


async def many_games(server: ServerInTest, count: int = 10) -> list[LiveGame]:
    for name in ("ada", "bob"):
        await server.bot(name, max_games=count)
    await server.tournament("ada", "bob", rounds=count)
    await server.until(lambda: [each.is_announced for each in server.running] == [True] * count)
    return server.running


@pytest.mark.parametrize(
    ("stop", "endings"),
    [
        ("cancel", {Ending.VOID: 9, Ending.RESIGN: 1}),
        ("finish", {Ending.VOID: 10}),  # those that wait have no result any more
    ],
)
async def test_so_many_games_are_voided_in_one_commit(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch, stop: str, endings: dict[Ending, int]
) -> None:
    """The others go on until these are committed; one may end by itself meanwhile."""
    monkeypatch.setattr(games, "VOIDS_AT_ONCE", 3)
    running, match = await many_games(server), server.parts.games
    (run,) = server.parts.scheduler.runs.values()
    with server.held():
        getattr(server.parts.scheduler, stop)(run)
        assert server.running == running[3:]
        running[4].arbiter.resign(Seat.FIRST)
        match.end(running[4])
    await server.parts.scheduler.settled()
    outcomes = [game.arbiter.outcome for game in running]
    assert Counter(outcome and outcome.ending for outcome in outcomes) == endings
    assert not server.running


async def test_a_game_that_cannot_be_voided_keeps_no_other(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert server.running[:4] == broken
    assert not set(running[4:]) & set(server.running)
