"""A server that finds a log of moves which is not what was acknowledged."""

from __future__ import annotations

import base64
import shutil
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from sqlalchemy import Connection, select
from structlog.testing import capture_logs
from tests.peer import play_moves

from meijin.server.match.presence.lost_moves import LOST
from meijin.server.process.data_folder import check_move_log
from meijin.store import Database
from meijin.store.errors import MoveLogError
from meijin.store.faults import list_faults
from meijin.store.journal import pack_move, unpack_moves
from meijin.store.move_log.entry import LogEntry
from meijin.store.move_log.head import heads_in, read_heads
from meijin.store.move_log.log import FIRST_ENTRY, open_log
from meijin.store.move_log.mark import write_mark
from meijin.store.move_log.problem import LogProblem, ProblemKind
from meijin.store.move_log.segment import SEGMENT_HEADER_BYTES, segments_in
from meijin.store.running_games import read_running_games
from meijin.store.schema import FaultKind, Game, GameState
from meijin.store.verification import verify
from meijin.testing.settings import settings_in
from meijin.v1 import game_pb2

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.server.conftest import StartServer

    from meijin.server.settings import Settings
    from meijin.store.running_games import RunningGames

MOVES = (0, 5, 1, 6, 2)


def flip(folder: Path) -> None:
    """Change a bit of an entry behind which others follow."""
    (path,) = segments_in(folder)
    data = bytearray(path.read_bytes())
    data[data.index(b"\x89mv\n", SEGMENT_HEADER_BYTES + 4) + 60] ^= 1
    path.write_bytes(data)


DAMAGE: dict[Callable[[Path], None], str] = {
    flip: "is damaged at byte",
    shutil.rmtree: "does not hold the log of this database; entries from 1 on can't be read",
}


async def leave_game(start_server: StartServer) -> Settings:
    """The settings of a server that has ended with a game at ply 5 of a tournament of two."""
    async with start_server() as server:
        players = list(await server.pair(rounds=2, max_games=1))
        await play_moves(players, MOVES)
        await players[len(MOVES) % 2].turn()
        return server.settings


async def serve(start_server: StartServer, **settings: Any) -> None:
    async with start_server(**settings):
        pass


def log_of(settings: Settings) -> Path:
    return settings.data / "meijin.db-moves"


def games_of(connection: Connection) -> list[Any]:
    return list(connection.execute(select(Game.__table__).order_by(Game.id)))


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda each: each.__name__)
async def test_a_log_that_is_not_whole_is_not_taken_for_one(
    start_server: StartServer, damage: Callable[[Path], None]
) -> None:
    """The start is refused, as often as it is tried, until it is told to accept the loss.

    Then the game is void, by the server and with what was found of it, and is played again.
    """
    settings = await leave_game(start_server)
    damage(log_of(settings))
    with Database(settings.database) as database:
        found = verify(database)
        assert len(found.failures) == 1
        assert DAMAGE[damage] in found.failures[0]
    for _ in range(2):
        with pytest.raises(MoveLogError) as refused:
            await serve(start_server)
        words = str(refused.value)
        assert DAMAGE[damage] in words
        assert "1 running games may have lost moves" in words
        assert "Put the right log back, or start with --accept-lost-moves: then" in words
    backups = settings.data / "backups"
    backups.mkdir()
    newest = backups / "meijin-20260304T120000Z.db"
    newest.touch()
    with pytest.raises(MoveLogError, match=f"log back, or run meijin restore {newest}, or start"):
        await serve(start_server)
    async with start_server(accept_lost_moves=True) as server:
        await server.parts.journal.drained()
        old = await server.game()
        assert old.state == game_pb2.GAME_STATE_VOID
        assert old.outcome.at_fault == game_pb2.PARTY_SERVER
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
    assert is_kept is (damage is not shutil.rmtree)
    await serve(start_server)


async def test_a_log_of_another_database_is_left_alone(
    start_server: StartServer, tmp_path: Path
) -> None:
    """It is somebody's only copy; also where no game runs that needs one."""
    settings = await leave_game(start_server)
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    await serve(start_server, data=other)
    shutil.rmtree(other / "meijin.db-moves")
    shutil.copytree(log_of(settings), other / "meijin.db-moves")
    before = {path: path.read_bytes() for path in segments_in(other / "meijin.db-moves")}
    for _ in range(2):
        with pytest.raises(MoveLogError, match="is of the log of another database"):
            await serve(start_server, data=other)
    assert {path: path.read_bytes() for path in segments_in(other / "meijin.db-moves")} == before


@pytest.mark.parametrize(
    ("kind", "short", "accepts", "is_refused"),
    [
        (ProblemKind.DAMAGED, 1, False, True),
        (ProblemKind.DAMAGED, 1, True, False),
        (ProblemKind.DAMAGED, 0, False, False),
        (ProblemKind.NEWER, 0, False, True),
        (ProblemKind.FOREIGN, 0, True, False),
    ],
)
def test_which_logs_are_refused(
    tmp_path: Path, kind: ProblemKind, short: int, *, accepts: bool, is_refused: bool
) -> None:
    """Those that running games need, and another database's or a newer one's in any case."""
    problem = LogProblem(kind, tmp_path, "is not it")
    running = cast("RunningGames", SimpleNamespace(problem=problem, short=range(short)))
    settings = settings_in(tmp_path, accept_lost_moves=accepts)
    with pytest.raises(MoveLogError) if is_refused else nullcontext():
        check_move_log(running, settings)


@pytest.mark.parametrize("moves", [[(0, 3, 3)], [(0, 0, 7), (0, 0, 9), (1, 1, 7)]])
async def test_a_game_that_can_not_be_replayed_is_void(
    start_server: StartServer, moves: list[tuple[int, int, int]]
) -> None:
    """A valid log with moves that do not follow each other is not the end of the server."""
    settings = await leave_game(start_server)
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


async def test_the_head_follows_the_newest_entry(start_server: StartServer) -> None:
    """Though none comes behind it, and the server runs on."""
    async with start_server() as server:
        players = list(await server.pair())
        await play_moves(players, MOVES)
        await players[len(MOVES) % 2].turn()
        newest = server.parts.journal.log_mark()
        assert newest is not None
        folder = log_of(server.settings)
        await server.until(lambda: newest.entry in {head.entry for head in read_heads(folder)})


async def test_a_missing_head_is_told_of(start_server: StartServer) -> None:
    """All moves are there, as far as anybody can tell."""
    (head,) = heads_in(log_of(await leave_game(start_server)))
    head.unlink()
    with capture_logs() as logs:
        async with start_server() as server:
            (game,) = server.running
            assert tuple(game.arbiter.board.moves) == MOVES
    assert any("has lost its head" in each["event"] for each in logs)


async def test_a_log_that_loses_its_files_while_it_runs_is_written_anew(
    start_server: StartServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Within a second, though nobody moves: what was told is there after a crash."""
    left = tmp_path_factory.mktemp("left")
    async with start_server() as server:
        players = list(await server.pair())
        await play_moves(players, MOVES[:3])
        turn = await players[1].turn()
        folder = log_of(server.settings)
        shutil.rmtree(folder)
        await server.until(lambda: bool(segments_in(folder)))
        await server.parts.journal.drained()
        shutil.copytree(server.settings.data, left, dirs_exist_ok=True)
        await players[1].play(turn, MOVES[3])
        await play_moves(players, MOVES[4:], first=4)
        await players[1].turn()
    with Database(f"sqlite:///{left}/meijin.db") as database:
        found = verify(database)
        assert found.failures == ()
        assert found.moves == 3
    async with start_server() as server:
        (game,) = server.running
        assert tuple(game.arbiter.board.moves) == MOVES
