"""A server that takes up what an earlier one left, on both kinds of database."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Connection, select

from meijin.game import Board, Result, Variant, decode_moves, encode_moves
from meijin.server import app
from meijin.store import Database, StoreInUseError
from meijin.store.database import database_file
from meijin.store.faults import list_faults
from meijin.store.games import decode_times
from meijin.store.journal import (
    JournalEntry,
    StoredMove,
    commit_entry,
    newest_entry,
    pack_move,
    unpack_moves,
)
from meijin.store.move_log.log import MoveLog
from meijin.store.move_log.mark import FORGET_LOG
from meijin.store.move_log.reader import LogReader, read_log
from meijin.store.move_log.segment import log_folder
from meijin.store.running_games import read_running_games
from meijin.store.schema import (
    EntryId,
    Epoch,
    FaultKind,
    Game,
    GameId,
    GameState,
    TournamentId,
    TournamentState,
)
from meijin.store.tournaments import TournamentEnd, finish_tournament, set_state
from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import game_pb2, game_service_pb2, tournament_service_pb2
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.conftest import StartServer

SOON = timedelta(milliseconds=200)
OPENINGS = [encode_moves((cell,)) for cell in (6, 7, 8, 12)]
FIVE = (0, 5, 1, 6, 2, 7, 3, 8, 4)


def games_of(connection: Connection) -> list[Any]:
    """Every game, oldest first."""
    return list(connection.execute(select(Game.__table__).order_by(Game.id)))


async def game(server: ServerInTest, game_id: str) -> game_pb2.Game:
    """One game with its moves."""
    request = game_service_pb2.GetGameRequest(game_id=game_id)
    return (await (await server.games()).GetGame(request)).game


async def answer_forever(peer: Peer) -> None:
    """Take the first free cell at every turn until the stream ends."""
    await peer.play_out(1_000_000)


def have_happened(events: list[object], count: int) -> bool:
    """Whether there are so many of them."""
    return len(events) >= count


# -- one game ---------------------------------------------------------------------


@pytest.mark.parametrize("played", [0, 3, 4])
async def test_a_game_goes_on_where_it_was(
    start_server: StartServer, line: Any, any_database_url: str, played: int
) -> None:
    """With its moves, its clocks and the pending turn; then to its end."""
    async with start_server(database_url=any_database_url) as server:
        players = list(await server.pair(control="600+1"))
        await line(players, FIVE[:played])
        await players[played % 2].turn()
        old = await game(server, players[0].start.game_id)
    async with start_server(database_url=any_database_url) as server:
        after = await game(server, old.game_id)
        assert after.state == game_pb2.GAME_STATE_RUNNING
        assert list(after.moves) == list(old.moves)
        assert after.start_time == old.start_time
        players = [await server.bot(peer.name) for peer in players]
        starts = [await peer.started() for peer in players]
        for start, color in zip(starts, (game_pb2.COLOR_BLACK, game_pb2.COLOR_WHITE), strict=True):
            assert (start.game_id, start.color) == (old.game_id, color)
            assert start.moves == encode_moves(FIVE[:played])
        turn = await players[played % 2].turn()
        assert (turn.ply, turn.moves) == (played, encode_moves(FIVE[:played]))
        for side, told in (
            (played % 2, turn.own_clock_ms),
            (1 - played % 2, turn.opponent_clock_ms),
        ):
            used = [move.charged_time.ToNanoseconds() for move in old.moves[side::2]]
            left = 600 * 10**9 + len(used) * 10**9 - sum(used)
            assert told == left // 1_000_000
        await players[played % 2].play(turn, FIVE[played])
        await line(players, FIVE[played + 1 :], first=played + 1)
        for peer in players:
            ended = await peer.ended()
            assert ended.outcome.ending == game_pb2.ENDING_FIVE
            assert ended.moves == encode_moves(FIVE)
    with Database(any_database_url) as database:
        (row,) = database.read(games_of)
    assert (row.state, row.moves) == (GameState.FINISHED, encode_moves(FIVE))
    raw, charged = decode_times(row.times)
    assert len(raw) == len(charged) == len(FIVE)
    assert [charged[n] for n in range(played)] == [
        move.charged_time.ToNanoseconds() for move in old.moves
    ]


async def test_a_game_of_a_release_that_kept_moves_in_the_database_goes_on(
    start_server: StartServer, line: Any
) -> None:
    """Its moves are in the log of moves from then on, before those that follow."""
    async with start_server() as server:
        players = list(await server.pair())
        await line(players, FIVE[:3])
        await players[1].turn()
        game_id = players[0].start.game_id
    keep_moves_in_database(server.settings.database)
    for played in (3, 5):
        async with start_server() as server:
            players = [await server.bot(peer.name) for peer in players]
            for peer in players:
                start = await peer.started()
                assert (start.game_id, start.moves) == (game_id, encode_moves(FIVE[:played]))
            await line(players, FIVE[played : played + 2], first=played)
            await players[(played + 2) % 2].turn()


def keep_moves_in_database(url: str) -> None:
    """Leave what a release without a log of moves leaves: an entry of the journal for each commit."""
    path = database_file(url)
    assert path is not None
    folder = log_folder(path.resolve())
    with LogReader(folder) as reader, Database(url) as database:
        logged_entries = database.read(lambda connection: list(read_log(connection, reader)))
        for number, logged in enumerate(logged_entries, 100):
            entry = JournalEntry(EntryId(number), epoch=Epoch(1), analysis=logged.analysis)
            for move in unpack_moves(logged.moves):
                if not move.is_anew:
                    entry.moves += pack_move(*move)
            database.write(partial(commit_entry, entry=entry))
        database.write(lambda connection: connection.exec_driver_sql(FORGET_LOG))
    shutil.rmtree(folder)


async def test_a_log_that_another_server_appends_to_is_not_read(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may still tell of moves: it is waited for, but not for ever."""
    async with start_server():
        pass
    with closing(MoveLog(log_folder(tmp_path / "meijin.db"), is_synced=False)) as other:
        with monkeypatch.context() as patched:
            patched.setattr(app, "HANDOVER_TIME", SOON)
            with pytest.raises(StoreInUseError, match=r"meijin\.db-moves; stop it first"):
                async with start_server():
                    pass
        asyncio.get_running_loop().call_later(SOON.total_seconds(), other.close)
        async with start_server():
            pass


async def test_what_bots_thought_survives(start_server: StartServer) -> None:
    """Analyses from before and after the restart are stored with the game."""
    async with start_server() as server:
        black, white = await server.pair()
        await black.play(await black.turn(), 0, analysis=pb.Analysis(score=-7, pv=bytes((1, 0))))
        await white.turn()
    async with start_server() as server:
        for name in ("ada", "bob"):
            peer = await server.bot(name)
            if (await peer.started()).color == game_pb2.COLOR_WHITE:
                white = peer
            else:
                black = peer
        await white.play(await white.turn(), 5, analysis=pb.Analysis(score=3, depth=4, nodes=5))
        await black.resign((await black.turn()).game)
        await black.ended()
    with Database(server.settings.database) as database:
        (row,) = database.read(games_of)
    assert row.analysis == {
        "0": {"score": -7, "depth": 0, "nodes": 0, "pv": [1]},
        "1": {"score": 3, "depth": 4, "nodes": 5, "pv": []},
    }


async def test_a_bot_that_does_not_return_forfeits_nothing(start_server: StartServer) -> None:
    """The game becomes void by the server, and is played again when the bot is back."""
    async with start_server() as server:
        await server.pair(("ada", "bob"), openings=[encode_moves((12,))], rounds=1)
    async with start_server(grace=SOON) as server:
        ada = await server.bot("ada")
        old = await ada.started()
        ended = await ada.ended()
        assert ended.outcome.ending == game_pb2.ENDING_VOID
        assert ended.outcome.at_fault == game_pb2.PARTY_SERVER
        assert "did not return after an outage" in ended.outcome.detail
        await server.bot("bob")
        again = await ada.started()
        assert again.game_id != old.game_id
        assert (again.color, again.moves) == (old.color, encode_moves((12,)))


async def test_another_version_does_not_go_on_with_the_old_ones_game(
    start_server: StartServer,
) -> None:
    """It waits for the old one, becomes void, and the pairing is the new one's to play."""
    async with start_server() as server:
        await server.pair(("ada", "bob"))
    async with start_server(grace=SOON) as server:
        ada = await server.bot("ada")
        await ada.started()
        await server.bot("bob", version="2")
        ended = await ada.ended()
        assert ended.outcome.at_fault == game_pb2.PARTY_SERVER
        again = await ada.started()
        assert (await game(server, again.game_id)).state == game_pb2.GAME_STATE_RUNNING


# -- tournaments ------------------------------------------------------------------


async def test_every_planned_game_is_finished_once(
    start_server: StartServer, any_database_url: str
) -> None:
    """However often the server stops in the middle of games, at whatever moment."""
    rounds, interruptions = 24, 3
    ids: list[str] = []
    for number in range(interruptions):
        async with start_server(database_url=any_database_url) as server:
            peers = [await server.bot(name, max_games=6) for name in ("ada", "bob")]
            if not ids:
                ids.append(await server.tournament("ada", "bob", rounds=rounds, openings=OPENINGS))
            playing = [asyncio.create_task(answer_forever(peer)) for peer in peers]
            moved: list[object] = []
            server.listen(moved=moved.append)
            await server.until(partial(have_happened, moved, 40 + 60 * number))
            for task in playing:
                task.cancel()
    async with start_server(database_url=any_database_url) as server:
        peers = [await server.bot(name, max_games=6) for name in ("ada", "bob")]
        playing = [asyncio.create_task(answer_forever(peer)) for peer in peers]
        await server.until_finished(ids[0])
        for task in playing:
            task.cancel()
        request = tournament_service_pb2.GetTournamentRequest(tournament_id=ids[0])
        row = (await (await server.tournaments()).GetTournament(request)).tournament
        assert (row.planned_games, row.finished_games, row.running_games) == (rounds, rounds, 0)
    with Database(any_database_url) as database:
        rows = database.read(games_of)
    finished = [row for row in rows if row.state is GameState.FINISHED]
    assert len(finished) == rounds
    assert Counter(row.pairing_id for row in finished).most_common(1)[0][1] == 1
    assert {row.state for row in rows} == {GameState.FINISHED}
    sequences = [row.end_sequence for row in finished]
    assert len(set(sequences)) == len(sequences)
    for row in finished:
        board = Board.from_moves(decode_moves(row.moves), Variant(width=5, height=5))
        assert board.is_over
        assert row.result is (Result.DRAW if board.winner is None else Result.won_by(board.winner))
        raw, charged = decode_times(row.times)
        assert len(raw) == len(charged) == len(board.moves) - row.opening_plies


async def test_numbers_go_on_after_a_restart(start_server: StartServer) -> None:
    """A game of the second server is no game of the first."""
    ids: list[str] = []
    for _ in range(3):
        async with start_server() as server:
            ada, bob = await server.bot("ada"), await server.bot("bob")
            await server.tournament("ada", "bob")
            start = await ada.started()
            ids.append(start.game_id)
            await ada.resign(start.game)
            await bob.ended()
    assert ids == ["1", "2", "3"]
    with Database(server.settings.database) as database:
        rows = database.read(games_of)
    assert [row.end_sequence for row in rows] == [1, 2, 3]


async def test_a_cancelled_tournaments_games_are_void(
    start_server: StartServer, any_database_url: str
) -> None:
    """A server that dies between the cancelling and the voiding leaves nothing undone."""
    async with start_server(database_url=any_database_url) as server:
        await server.pair(rounds=2)
    with Database(any_database_url) as database:
        state = TournamentState.CANCELLED
        database.write(partial(set_state, tournament_id=TournamentId(1), state=state))
    async with start_server(database_url=any_database_url) as server:
        peers = [await server.bot(name) for name in ("ada", "bob")]
        service = await server.tournaments()
        get = tournament_service_pb2.GetTournamentRequest(tournament_id="1")
        await server.parts.journal.drained()
        row = (await service.GetTournament(get)).tournament
        assert (row.state, row.running_games) == (
            tournament_service_pb2.TOURNAMENT_STATE_CANCELLED,
            0,
        )
        old = await game(server, "1")
        assert (old.state, old.outcome.at_fault) == (
            game_pb2.GAME_STATE_VOID,
            game_pb2.PARTY_OPERATOR,
        )
        await server.resume("1")
        await asyncio.gather(*(peer.play_out(2) for peer in peers))
        await server.until_finished("1")


@pytest.mark.parametrize(
    ("state", "detail"),
    [
        (TournamentState.CANCELLED, "the tournament was cancelled"),
        (TournamentState.FINISHED, "the tournament was decided"),
    ],
)
async def test_games_of_a_tournament_that_ended_by_itself_are_void(
    start_server: StartServer, state: TournamentState, detail: str
) -> None:
    """A server that dies between the end and the voiding blames nobody, no operator either."""
    async with start_server() as server:
        await server.pair(rounds=2)
    end = TournamentEnd(TournamentId(1), datetime.now(UTC), "ada has lost 2 games", state)
    with Database(server.settings.database) as database:
        database.write(partial(finish_tournament, end=end))
    async with start_server() as server:
        await server.parts.scheduler.settled()
        found = await game(server, "1")
    with Database(server.settings.database) as database:
        faults = database.read(partial(list_faults, limit=9))
    assert (found.state, found.outcome.at_fault, found.outcome.detail) == (
        game_pb2.GAME_STATE_VOID,
        game_pb2.PARTY_UNSPECIFIED,
        detail,
    )
    assert not [fault for fault in faults if fault.kind is FaultKind.VOIDED]


# -- the store --------------------------------------------------------------------


async def test_two_servers_do_not_share_a_store(
    start_server: StartServer, any_database_url: str
) -> None:
    """The second is told to wait, and the first goes on."""
    async with start_server(database_url=any_database_url) as server, server.innocents():
        with pytest.raises(StoreInUseError, match="another server is running"):
            async with start_server(database_url=any_database_url):
                pass


async def test_a_move_that_is_stored_twice_counts_once(start_server: StartServer) -> None:
    """An entry that was written again under another number does no harm."""
    async with start_server() as server:
        black, white = await server.pair()
        await black.play(await black.turn(), 0)
        await white.turn()
    keep_moves_in_database(server.settings.database)
    with Database(server.settings.database) as database:
        last = database.read(newest_entry).id
        again = JournalEntry(EntryId(last + 1), epoch=Epoch(1))
        again.moves += pack_move(*StoredMove(GameId(1), 0, 0, 5, 5))
        database.write(partial(commit_entry, entry=again))
        running = database.read(partial(read_running_games, log_folder=None))
    (moves,) = running.moves.values()
    assert [cell for cell, _, _ in moves] == [0]
    assert moves[0][1] != 5
