"""Power cuts at each step of the move log, of a backup and of its restoring."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.power.calls import Calls
from tests.power.cuts import Cuts
from tests.power.log_life import GAME, LogLife
from tests.power.small_log import small_log
from tests.store.conftest import NOON, Scene

from meijin.store import Database, backup
from meijin.store.backup import check
from meijin.store.journal import JournalEntry, commit_entry, pack_game, pack_move
from meijin.store.move_log.entry import LogEntry
from meijin.store.move_log.log import FIRST_ENTRY, MoveLog
from meijin.store.move_log.mark import read_mark, write_mark
from meijin.store.move_log.segment import log_folder
from meijin.store.running_games import read_running_games
from meijin.store.schema import EntryId

TOLD = [112, 3, 50, 7]
"""The cells of the running game in the database that a backup is made of, and in the backup."""

OTHERS = [9, 8]
"""Those in the database that a backup is to replace: the game went on differently."""

OPENING_PLIES = 2

DATABASE = Path("data") / "meijin.db"
COPY = Path("backups") / "copy.db"


@pytest.fixture(name="any_database_url")
def _any_database_url(tmp_path: Path) -> str:
    (tmp_path / "start" / "data").mkdir(parents=True)
    return f"sqlite:///{tmp_path / 'start' / DATABASE}"


@pytest.fixture(name="start")
def _start(tmp_path: Path, database: Database, scene: Scene) -> Path:
    """A folder with a database in which a game runs, whose moves are in the log beside it."""
    database.fence.claim()
    entry = JournalEntry(EntryId(1), epoch=database.fence.epoch)
    entry.starts = [scene.start(0, GAME)]
    database.write(commit_entry, entry=entry)
    database.close()
    begin_log(tmp_path / "start" / DATABASE, TOLD).close()
    return tmp_path / "start"


@pytest.fixture(name="start_of_restore")
def _start_of_restore(start: Path) -> Path:
    """There is a backup too, and since then the database and its game have become others."""
    backup.back_up(start / DATABASE, start / COPY)
    with closing(sqlite3.connect(start / DATABASE)) as database, database:
        database.execute("UPDATE bot SET name = 'carl' WHERE name = 'bob'")
    begin_log(start / DATABASE, OTHERS).close()
    return start


def begin_log(file: Path, cells: list[int]) -> MoveLog:
    """A server's log beside a database, in which the game has these moves, the last one alone."""
    log = MoveLog(log_folder(file), is_synced=True)
    *first, last = cells
    moves = pack_game(GAME, [(cell, 1, 1) for cell in first], opening_plies=OPENING_PLIES)
    with Database(f"sqlite:///{file}") as database:
        database.fence.claim()
        known = database.read(read_mark)
        begun = LogEntry(FIRST_ENTRY, moves, {})
        mark = log.begin(begun, database_id=known.database_id, epoch=database.fence.epoch)
        database.write(write_mark, mark=mark)
    log.drop_old()
    log.append(LogEntry(EntryId(2), pack_move(GAME, OPENING_PLIES + len(first), last, 1, 1), {}))
    log.sync()
    log.settle()
    return log


def cells_in(file: Path) -> list[int]:
    """The game as a server takes it up, by a database and the log beside it."""
    with Database(f"sqlite:///{file}") as database:
        found = database.read(read_running_games, log_folder=log_folder(file))
    assert found.problem is None, str(found.problem)
    return [code for code, _, _ in found.moves[GAME]]


class Backup:
    """A backup of a database while its server goes on: the game ends, and the log deletes its moves."""

    def __init__(self) -> None:
        self._is_done = False
        self._log: MoveLog | None = None

    def run(self, root: Path, _calls: Calls) -> None:
        with small_log(1):
            self._log = log = begin_log(root / DATABASE, TOLD)

            def go_on(_left: int) -> None:
                entry = LogEntry(EntryId(log.last_entry + 1), b"", {})
                log.append(entry, keep_from=entry.id)
                log.sync()
                log.settle()

            backup.back_up(root / DATABASE, root / COPY, go_on)
            self._is_done = True

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def check(self, root: Path) -> None:
        """What has its name is whole, and is there if that was told."""
        if self._is_done:
            assert (root / COPY).exists(), "the backup is gone"
        if (root / COPY).exists():
            check(root / COPY)
            assert cells_in(root / COPY) == TOLD


class Restore:
    """A backup takes a database's place."""

    def __init__(self) -> None:
        self._is_done = False

    def run(self, root: Path, _calls: Calls) -> None:
        backup.restore(root / COPY, root / DATABASE, NOON)
        self._is_done = True

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def check(self, root: Path) -> None:
        """A start finds one of the two, with its own moves; what was replaced is kept with its own."""
        backup.undo_restore(root / DATABASE)
        check(root / DATABASE)
        with closing(sqlite3.connect(root / DATABASE)) as database:
            found = database.execute("SELECT name FROM bot ORDER BY id DESC").fetchone()
        is_restored = found == ("bob",)
        assert is_restored or not self._is_done, "the old database is back"
        assert cells_in(root / DATABASE) == (TOLD if is_restored else OTHERS)
        if self._is_done:
            (aside,) = root.glob(f"{DATABASE}.replaced-*Z")
            check(aside)
            assert cells_in(aside) == OTHERS


def test_no_power_cut_takes_what_the_log_has_told(tmp_path: Path) -> None:
    """Whatever it leaves of what was not synced; nor does it bring moves that nobody made."""
    cuts = Cuts(tmp_path / "cuts", LogLife)
    cuts.try_all()
    assert cuts.steps > 50


def test_a_backup_is_whole_or_not_there(start: Path, tmp_path: Path) -> None:
    """Whenever the power is cut; and what was told before it was begun is in it."""
    Cuts(tmp_path / "cuts", Backup, start).try_all(seeds=3)


def test_there_is_one_database_with_its_own_moves(start_of_restore: Path, tmp_path: Path) -> None:
    """Whenever the power is cut while a backup is restored."""
    Cuts(tmp_path / "cuts", Restore, start_of_restore).try_all()
