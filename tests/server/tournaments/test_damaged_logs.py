"""A server that finds a log of moves which is not what was acknowledged."""

from __future__ import annotations

import base64
import shutil
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Connection, select
from structlog.testing import capture_logs

from meijin.server.match.lost_moves import LOST
from meijin.store import Database
from meijin.store.errors import MoveLogError
from meijin.store.faults import list_faults
from meijin.store.journal import pack_move, unpack_moves
from meijin.store.move_log.entry import LogEntry
from meijin.store.move_log.head import heads_in, read_heads
from meijin.store.move_log.log import FIRST_ENTRY, open_log
from meijin.store.move_log.mark import write_mark
from meijin.store.move_log.segment import SEGMENT_HEADER_BYTES, segments_in
from meijin.store.running_games import read_running_games
from meijin.store.schema import FaultKind, Game, GameState
from meijin.store.verification import verify
from meijin.v1 import game_pb2, game_service_pb2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tests.server.conftest import StartServer

    from meijin.server.settings import Settings

MOVES = (0, 5, 1, 6, 2)


def flip(folder: Path) -> None:
    """Change a bit of an entry behind which others follow."""
    (path,) = segments_in(folder)
    data = bytearray(path.read_bytes())
    data[data.index(b"\x89mv\n", SEGMENT_HEADER_BYTES + 4) + 60] ^= 1
    path.write_bytes(data)


def cut(folder: Path) -> None:
    """Cut the newest segment off behind its first entry."""
    (path,) = segments_in(folder)
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"\x89mv\n", SEGMENT_HEADER_BYTES + 4)])


def lose_the_end(folder: Path) -> None:
    """Zero the last entry, as a lost page would, which leaves what a crash leaves."""
    (path,) = segments_in(folder)
    data = path.read_bytes()
    at = data.rindex(b"\x89mv\n")
    path.write_bytes(data[:at] + bytes(len(data) - at))


def remove(folder: Path) -> None:
    """Remove the folder."""
    shutil.rmtree(folder)


DAMAGE: dict[Callable[[Path], None], str] = {
    flip: "is damaged at byte",
    cut: "is damaged at byte",
    lose_the_end: "is damaged at byte",
    remove: "does not hold the log of this database; entries from 1 on can't be read",
}


@asynccontextmanager
async def left_games(start_server: StartServer, line: Any) -> AsyncIterator[Settings]:
    """The settings of a server that has ended with a game at ply 5 of a tournament of two."""
    async with start_server() as server:
        players = list(await server.pair(rounds=2, max_games=1))
        await line(players, MOVES)
        await players[len(MOVES) % 2].turn()
        settings = server.settings
    yield settings


def log_of(settings: Settings) -> Path:
    """The folder of its log of moves."""
    return settings.data / "meijin.db-moves"


def games_of(connection: Connection) -> list[Any]:
    """Every game, oldest first."""
    return list(connection.execute(select(Game.__table__).order_by(Game.id)))


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda each: each.__name__)
async def test_a_log_that_is_not_whole_is_not_taken_for_one(
    start_server: StartServer, line: Any, damage: Callable[[Path], None]
) -> None:
    """The start is refused, as often as it is tried, until it is told to accept the loss.

    Then the game is void, by the server and with what was found of it, and is played again.
    """
    async with left_games(start_server, line) as settings:
        damage(log_of(settings))
    with Database(settings.database) as database:
        found = verify(database)
        assert len(found.failures) == 1
        assert DAMAGE[damage] in found.failures[0]
    for _ in range(2):
        with pytest.raises(MoveLogError) as refused:
            async with start_server():
                pass
        words = str(refused.value)
        assert DAMAGE[damage] in words
        assert "1 running games may have lost moves" in words
        assert "Put the right log back, or start with --accept-lost-moves: then" in words
    backups = settings.data / "backups"
    backups.mkdir()
    newest = backups / "meijin-20260304T120000Z.db"
    newest.touch()
    with pytest.raises(MoveLogError, match=f"log back, or run meijin restore {newest}, or start"):
        async with start_server():
            pass
    async with start_server(accept_lost_moves=True) as server:
        await server.parts.journal.drained()
        get = game_service_pb2.GetGameRequest(game_id="1")
        old = (await (await server.games()).GetGame(get)).game
        assert (old.state, old.outcome.at_fault) == (
            game_pb2.GAME_STATE_VOID,
            game_pb2.PARTY_SERVER,
        )
        ada, _bob = await server.bot("ada"), await server.bot("bob")
        assert (await ada.started()).game_id == "2"
    with Database(settings.database) as database:
        (fault,) = database.read(partial(list_faults, limit=10, kind=FaultKind.OUTAGE))
        assert (fault.game_id, fault.detail) == (1, LOST)
        kept = base64.b64decode(fault.evidence["stored_moves"])
        assert DAMAGE[damage] in fault.evidence["reason"]
        codes = [move.code for move in unpack_moves(kept) if not move.is_anew]
        assert tuple(codes) == MOVES[: len(codes)]
    is_kept = bool(list(log_of(settings).glob("kept-*/*.moves")))
    assert is_kept is (damage is not remove)
    async with start_server():
        pass


async def test_a_log_of_another_database_is_left_alone(
    start_server: StartServer, line: Any, tmp_path: Path
) -> None:
    """It is somebody's only copy; also where no game runs that needs one."""
    async with left_games(start_server, line) as settings:
        pass
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    async with start_server(data=other):
        pass
    shutil.rmtree(other / "meijin.db-moves")
    shutil.copytree(log_of(settings), other / "meijin.db-moves")
    before = {path: path.read_bytes() for path in segments_in(other / "meijin.db-moves")}
    for _ in range(2):
        with pytest.raises(MoveLogError, match="is of the log of another database"):
            async with start_server(data=other):
                pass
    assert {path: path.read_bytes() for path in segments_in(other / "meijin.db-moves")} == before


async def test_a_database_that_is_older_than_its_log_is_not_served(
    start_server: StartServer, line: Any, tmp_path: Path
) -> None:
    """Somebody has put a copy of it in its place by hand."""
    async with start_server() as server:
        await server.pair(rounds=2)
        settings = server.settings
    copy = tmp_path / "copy.db"
    shutil.copy(settings.data / "meijin.db", copy)
    async with start_server() as server:
        players = [await server.bot(name) for name in ("ada", "bob")]
        for player in players:
            await player.started()
        await line(players, MOVES)
        await players[len(MOVES) % 2].turn()
    shutil.copy(copy, settings.data / "meijin.db")
    with pytest.raises(MoveLogError, match="an older database was put in its place"):
        async with start_server():
            pass


async def test_a_damaged_log_that_no_game_needs_is_no_hindrance(
    start_server: StartServer, line: Any
) -> None:
    """All games that it was for have ended; it is kept all the same."""
    async with start_server() as server:
        ada, bob = await server.pair()
        await line([ada, bob], MOVES)
        await ada.resign(ada.start.game)
        await bob.ended()
        settings = server.settings
    flip(log_of(settings))
    async with start_server():
        pass
    assert list(log_of(settings).glob("kept-*/*.moves"))


@pytest.mark.parametrize("moves", [[(0, 3, 3)], [(0, 0, 7), (0, 0, 9), (1, 1, 7)]])
async def test_a_game_that_can_not_be_replayed_is_void(
    start_server: StartServer, line: Any, moves: list[tuple[int, int, int]]
) -> None:
    """A valid log with moves that do not follow each other is not the end of the server."""
    async with left_games(start_server, line) as settings:
        pass
    with Database(settings.database) as database:
        log = open_log(database)
        assert log is not None
        running = database.read(partial(read_running_games, log_folder=log.folder))
        packed = b"".join(pack_move(1, ply, code, 5, 5) for _, ply, code in moves)
        first = running.pack()[:28] + packed
        mark = log.begin(
            LogEntry(FIRST_ENTRY, first, {}),
            database_id=running.mark.database_id,
            epoch=running.mark.epoch,
        )
        database.write(partial(write_mark, mark=mark))
        log.drop_old()
        log.close()
        assert verify(database).failures
    async with start_server() as server:
        await server.parts.journal.drained()
        assert not server.running
    with Database(settings.database) as database:
        (row,) = database.read(games_of)
        (fault,) = database.read(partial(list_faults, limit=10, kind=FaultKind.OUTAGE))
    assert row.state is GameState.VOID
    assert fault.detail == LOST
    assert base64.b64decode(fault.evidence["stored_moves"])


async def test_the_head_follows_the_newest_entry(start_server: StartServer, line: Any) -> None:
    """Though none comes behind it, and the server runs on."""
    async with start_server() as server:
        players = list(await server.pair())
        await line(players, MOVES)
        await players[len(MOVES) % 2].turn()
        newest = server.parts.journal.log_mark()
        assert newest is not None
        folder = log_of(server.settings)
        await server.until(lambda: newest.entry in {head.entry for head in read_heads(folder)})


async def test_a_missing_head_is_told_of(start_server: StartServer, line: Any) -> None:
    """All moves are there, as far as anybody can tell."""
    async with left_games(start_server, line) as settings:
        (head,) = heads_in(log_of(settings))
        head.unlink()
    with capture_logs() as logs:
        async with start_server() as server:
            (game,) = server.running
            assert tuple(game.arbiter.board.moves) == MOVES
    assert any("has lost its head" in each["event"] for each in logs)


@pytest.mark.parametrize("lose", ["folder", "segment", "name"])
async def test_a_log_that_loses_its_files_while_it_runs_is_written_anew(
    start_server: StartServer, line: Any, tmp_path_factory: pytest.TempPathFactory, lose: str
) -> None:
    """Within a second, though nobody moves: what was told is there after a crash."""
    left = tmp_path_factory.mktemp("left")
    async with start_server() as server:
        players = list(await server.pair())
        await line(players, MOVES[:3])
        turn = await players[1].turn()
        folder = log_of(server.settings)
        if lose == "folder":
            shutil.rmtree(folder)
        elif lose == "segment":
            segments_in(folder)[-1].unlink()
        else:
            folder.rename(folder.with_name("elsewhere"))
        await server.until(lambda: bool(segments_in(folder)))
        await server.parts.journal.drained()
        shutil.copytree(server.settings.data, left, dirs_exist_ok=True)
        await players[1].play(turn, MOVES[3])
        await line(players, MOVES[4:], first=4)
        await players[1].turn()
    with Database(f"sqlite:///{left}/meijin.db") as database:
        found = verify(database)
        assert found.failures == ()
        assert found.moves == 3
    async with start_server() as server:
        (game,) = server.running
        assert tuple(game.arbiter.board.moves) == MOVES
