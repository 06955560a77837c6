"""Backups of a database whose running games have their moves in a log beside it."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection
from tests.store.conftest import NOON, Scene

from meijin.store import Database, StoreInUseError, journal
from meijin.store.backup import back_up, restore
from meijin.store.errors import BackupError
from meijin.store.fence import EntryKey
from meijin.store.journal import JournalEntry, StoredMove, commit_entry, pack_anew, pack_move
from meijin.store.move_log import log as module
from meijin.store.move_log.entry import LogEntry
from meijin.store.move_log.log import FIRST_ENTRY, MoveLog
from meijin.store.move_log.mark import read_mark, write_mark
from meijin.store.move_log.reader import LogReader, read_log
from meijin.store.move_log.segment import log_folder, segments_in
from meijin.store.schema import EntryId, Epoch, GameId

ASIDE = "meijin.db.replaced-20260304T120000Z"


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data" / "meijin.db"


@pytest.fixture(name="copy")
def _copy(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


@pytest.fixture(name="any_database_url")
def _any_database_url(file: Path) -> str:
    return f"sqlite:///{file}"


@pytest.fixture(name="log")
def _log(file: Path, database: Database, scene: Scene) -> Iterator[MoveLog]:
    """The log of a server in which games 1 and 2 run, and have no move; each entry fills a segment."""
    database.fence.claim()
    entry = JournalEntry(EntryId(1), epoch=database.fence.epoch)
    entry.starts = [scene.start(0, 1), scene.start(1, 2)]
    database.write(commit_entry, entry=entry)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "SEGMENT_BYTES", 1)
        with closing(MoveLog(log_folder(file), is_synced=False)) as log:
            first = LogEntry(FIRST_ENTRY, pack_anew(GameId(1)) + pack_anew(GameId(2)), {})
            known = database.read(read_mark)
            mark = log.begin(first, database_id=known.database_id, epoch=database.fence.epoch)
            database.write(write_mark, mark=mark)
            yield log


def append(log: MoveLog, *moves: tuple[int, int, int], **analysis: Any) -> None:
    packed = b"".join(pack_move(*move, 5, 4) for move in moves)
    log.append(LogEntry(EntryId(log.last_entry + 1), packed, analysis))
    log.settle()


def read(file: Path, query: Any, *args: Any) -> Any:
    with Database(f"sqlite:///{file}") as database:
        return database.read(query, *args)


def stored(file: Path, game: int = 1) -> Sequence[tuple[int, int]]:
    """The plies and cells of a game in the journal of a database, since it was written anew."""
    found = [each for each in read(file, _moves) if each.game_id == game]
    last = max((at for at, each in enumerate(found) if each.is_anew), default=-1)
    return [(each.ply, each.code) for each in found[last + 1 :]]


def _moves(connection: Connection) -> Sequence[StoredMove]:
    return list(journal.unpack_moves(b"".join(journal.kept_moves(connection))))


def logged(file: Path) -> Sequence[int]:
    """The ids of the entries in the log beside a database."""
    with LogReader(log_folder(file)) as reader:
        return read(file, lambda at: [entry.id for entry in read_log(at, reader)])  # type: ignore[no-any-return]


def test_a_backup_has_the_moves_of_running_games(file: Path, log: MoveLog, copy: Path) -> None:
    """And what the bots said; nothing of games that the copy does not have, or has ended."""
    append(log, (1, 2, 50), (3, 2, 60), **{"1": {"2": {"score": 7}}, "3": {"2": {"score": 8}}})
    append(log, (2, 2, 70), (1, 3, 51), **{"1": {"3": {"score": -7}}})
    back_up(file, copy)
    assert [stored(copy, game) for game in (1, 2, 3)] == [[(2, 50), (3, 51)], [(2, 70)], []]
    said = read(copy, journal.running_analysis, [GameId(1), GameId(3)])
    assert said == {"1": {"2": {"score": 7}, "3": {"score": -7}}}
    assert [path for path in copy.parent.iterdir() if path != file.parent] == [copy]


def test_what_the_log_deletes_during_a_backup_is_in_it(
    file: Path, log: MoveLog, copy: Path
) -> None:
    """The copy has the game as running; it ended, and its moves went, while it was made."""
    append(log, (1, 2, 50))

    def go_on(_left: int) -> None:
        number = EntryId(log.last_entry + 1)
        log.append(LogEntry(number, pack_move(2, 2, 70, 5, 4), {}), keep_from=number)
        log.settle()

    back_up(file, copy, go_on)
    assert len(segments_in(log_folder(file))) == 1
    assert stored(copy) == [(2, 50)]


def test_moves_of_a_log_follow_those_of_the_database(
    file: Path, log: MoveLog, database: Database, copy: Path
) -> None:
    """A release before kept them there; the newest entry stays the newest, for the fence."""
    old = JournalEntry(EntryId(2), epoch=database.fence.epoch)
    old.moves += pack_move(1, 2, 50, 5, 4)
    old.add_analysis(GameId(1), 2, {"score": 1})
    database.write(commit_entry, entry=old)
    append(log, (1, 3, 51), **{"1": {"3": {"score": 2}}})
    back_up(file, copy)
    moves = [each for each in read(copy, _moves) if each.game_id == 1 and not each.is_anew]
    assert [each.ply for each in moves] == [2, 3]
    said = read(copy, journal.running_analysis, [GameId(1)])
    assert said == {"1": {"2": {"score": 1}, "3": {"score": 2}}}
    (kept,) = read(copy, journal.kept_entries)
    assert kept.end == EntryKey(Epoch(1), EntryId(3))


def test_a_journal_without_entries_takes_moves(
    file: Path, log: MoveLog, database: Database, copy: Path
) -> None:
    """They are before every entry of the epoch."""
    with database.writer.begin() as connection:
        connection.exec_driver_sql("DELETE FROM journal")
    append(log, (1, 2, 50))
    back_up(file, copy)
    assert stored(copy) == [(2, 50)]
    assert read(copy, journal.newest_entry).id == 0
    assert read(copy, journal.kept_entries)[0].end == EntryKey(Epoch(1), EntryId(1))


def test_the_log_of_the_replaced_database_goes_with_it(
    file: Path, log: MoveLog, database: Database, copy: Path
) -> None:
    """It holds other moves of the same games; whoever restores what was replaced has them again."""
    append(log, (1, 2, 50))
    back_up(file, copy)
    append(log, (1, 3, 51))
    log.close()
    database.close()
    kept = restore(copy, file, NOON)
    assert kept == file.with_name(ASIDE)
    assert not log_folder(file).exists()
    assert (stored(file), logged(kept)) == ([(2, 50)], [1, 2, 3])
    trial = copy.parent / "trial" / "meijin.db"
    restore(kept, trial, NOON)
    assert stored(trial) == [(2, 50), (3, 51)]


def test_the_log_of_a_lost_database_is_kept(file: Path, log: MoveLog, copy: Path) -> None:
    back_up(file, copy)
    append(log, (1, 2, 50))
    log.close()
    for path in file.parent.glob("meijin.db*"):
        if path.is_file():
            path.unlink()
    assert restore(copy, file, NOON) is None
    assert not log_folder(file).exists()
    assert len(segments_in(log_folder(file.with_name(ASIDE)))) == 2


def test_a_restore_that_fails_leaves_the_log_where_it_was(
    file: Path, log: MoveLog, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is the old one still; as where a server that lost its locks appends to it."""
    back_up(file, copy)
    append(log, (1, 2, 50))
    with pytest.raises(StoreInUseError, match=r"another server is running on .*-moves; stop it"):
        restore(copy, file, NOON)
    assert logged(file) == [1, 2]
    assert not list(file.parent.glob("*.replaced-*"))
    log.close()

    def cut_off(*_: object) -> None:
        raise OSError("cut off")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", cut_off)
        with pytest.raises(BackupError, match="cut off"):
            restore(copy, file, NOON)
    assert logged(file) == [1, 2]
