"""A server that takes up what an earlier one left, on both kinds of database."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Connection, select
from tests.peer import play_moves
from tests.server_in_test import FIVE

from meijin.game import encode_moves
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
from meijin.store.tournaments import TournamentEnd, finish_tournament
from meijin.v1 import game_pb2

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.conftest import StartServer

SOON = timedelta(milliseconds=200)
VOID, NOBODY = game_pb2.ENDING_VOID, game_pb2.PARTY_UNSPECIFIED


def games_of(connection: Connection) -> list[Any]:
    return list(connection.execute(select(Game.__table__).order_by(Game.id)))


# -- one game ---------------------------------------------------------------------


@pytest.mark.parametrize("played", [0, 3, 4])
async def test_a_game_goes_on_where_it_was(
    start_server: StartServer, any_database_url: str, played: int
) -> None:
    """With its moves, its clocks and the pending turn; then to its end."""
    async with start_server(database_url=any_database_url) as server:
        players = list(await server.pair(control="600+1"))
        await play_moves(players, FIVE[:played])
        await players[played % 2].turn()
        old = await server.game(players[0].start.game_id)
    async with start_server(database_url=any_database_url) as server:
        after = await server.game(old.game_id)
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
        clocks = {played % 2: turn.own_clock_ms, 1 - played % 2: turn.opponent_clock_ms}
        for side, told in clocks.items():
            used = [move.charged_time.ToNanoseconds() for move in old.moves[side::2]]
            left = 600 * 10**9 + len(used) * 10**9 - sum(used)
            assert told == left // 1_000_000
        await players[played % 2].play(turn, FIVE[played])
        await play_moves(players, FIVE[played + 1 :], first=played + 1)
        for peer in players:
            ended = await peer.ended()
            assert ended.outcome.ending == game_pb2.ENDING_FIVE
            assert ended.moves == encode_moves(FIVE)
    with Database(any_database_url) as database:
        (row,) = database.read(games_of)
    assert (row.state, row.moves) == (GameState.FINISHED, encode_moves(FIVE))
    raw, charged = decode_times(row.times)
    assert len(raw) == len(charged) == len(FIVE)
    assert list(charged[:played]) == [move.charged_time.ToNanoseconds() for move in old.moves]


async def test_a_game_of_a_release_that_kept_moves_in_the_database_goes_on(
    start_server: StartServer,
) -> None:
    """Its moves are in the log of moves from then on, before those that follow."""
    async with start_server() as server:
        players = list(await server.pair())
        await play_moves(players, FIVE[:3])
        await players[1].turn()
        game_id = players[0].start.game_id
    keep_moves_in_database(server.settings.database)
    for played in (3, 5):
        async with start_server() as server:
            players = [await server.bot(peer.name) for peer in players]
            for peer in players:
                start = await peer.started()
                assert (start.game_id, start.moves) == (game_id, encode_moves(FIVE[:played]))
            await play_moves(players, FIVE[played : played + 2], first=played)
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
    """It may still tell of moves: it is waited for, but not forever."""
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
        found = await server.game(again.game_id)
        assert found.state == game_pb2.GAME_STATE_RUNNING


# -- tournaments ------------------------------------------------------------------


OVER = "ada has lost 2 games"


@pytest.mark.parametrize(
    ("state", "verdict", "told"),
    [
        (TournamentState.CANCELLED, "", (game_pb2.PARTY_OPERATOR, "the tournament was cancelled")),
        (TournamentState.CANCELLED, OVER, (NOBODY, "the tournament was cancelled")),
        (TournamentState.FINISHED, OVER, (NOBODY, "the tournament was decided")),
    ],
)
async def test_games_of_a_tournament_that_is_over_are_void(
    start_server: StartServer,
    any_database_url: str,
    state: TournamentState,
    verdict: str,
    told: tuple[game_pb2.Party.ValueType, str],
) -> None:
    """A server that dies between the end and the voiding leaves nothing undone.

    It blames nobody, unless an operator has cancelled the tournament.
    """
    async with start_server(database_url=any_database_url) as server:
        await server.pair(rounds=2)
    end = TournamentEnd(TournamentId(1), datetime.now(UTC), verdict, state)
    with Database(any_database_url) as database:
        database.write(partial(finish_tournament, end=end))
    async with start_server(database_url=any_database_url) as server:
        await server.parts.scheduler.settled()
        outcome = (await server.game()).outcome
        faults = server.database.read(partial(list_faults, limit=9, kind=FaultKind.VOIDED))
        found = await server.report()
        assert found.tournament.running_games == 0
    assert (outcome.ending, outcome.at_fault, outcome.detail) == (VOID, *told)
    assert len(faults) == (NOBODY not in told)


# -- the store --------------------------------------------------------------------


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
