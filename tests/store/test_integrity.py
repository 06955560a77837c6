"""Whether a file is a whole database."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import insert

from meijin.store import Database
from meijin.store.errors import DamagedDatabaseError, UnreadableDatabaseError
from meijin.store.integrity import check_integrity
from meijin.store.schema import JournalRow

PAGE = 4096
ROWS = 2000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with many pages, all of them in the file."""
    path = tmp_path / "meijin.db"
    with Database(f"sqlite:///{path}") as database:
        database.migrate()
        rows = [{"epoch": 1, "id": number, "moves": b"moves" * 200} for number in range(ROWS)]
        database.write(lambda to: to.execute(insert(JournalRow), rows))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return path


def check(file: Path, *, is_new: bool = False) -> None:
    """Check it as a server does that has its backups beside it."""
    check_integrity(file, backups=file.parent / "backups", is_new=is_new)


def test_a_whole_database_is_accepted(file: Path) -> None:
    """And one that isn't there yet."""
    check(file)
    check(file.with_name("other.db"))
    assert not file.with_name("other.db").exists()


@pytest.mark.parametrize("place", [0, 1, 0.2, 0.4, 0.6, 0.8, 0.999])
def test_a_damaged_page_is_refused(file: Path, place: float) -> None:
    """Wherever it is; `place` is a page at the beginning, or a part of the file."""
    pages = file.stat().st_size // PAGE
    with file.open("r+b") as damaged:
        damaged.seek(PAGE * (place if isinstance(place, int) else int(place * pages)))
        damaged.write(b"\xa5" * PAGE)
    with pytest.raises(DamagedDatabaseError, match="is damaged") as refused:
        check(file)
    assert "\n" not in str(refused.value)
    assert f"there is no backup in {file.parent / 'backups'}" in str(refused.value)


def test_a_truncated_file_is_refused(file: Path) -> None:
    """Its last pages are missing."""
    os.truncate(file, file.stat().st_size // 2)
    with pytest.raises(DamagedDatabaseError, match="is damaged"):
        check(file)


def test_the_newest_backup_is_named(file: Path) -> None:
    """With the command that puts it in the place of the damaged one."""
    backups = file.parent / "backups"
    backups.mkdir()
    for name in ("meijin-20260301T120000Z.db", "meijin-20260302T120000Z.db", "meijin-2.db.part"):
        (backups / name).touch()
    file.write_text("no database at all\n" * 1000)
    with pytest.raises(DamagedDatabaseError) as refused:
        check(file)
    newest = backups / "meijin-20260302T120000Z.db"
    assert str(refused.value) == (
        f"the database {file} is damaged (file is not a database); "
        f"the newest backup is {newest}; run: meijin restore {newest}"
    )


def test_an_empty_file_is_what_is_left_of_a_database(tmp_path: Path) -> None:
    """Unless nothing was ever stored: a server that was killed when it first started leaves one."""
    file = tmp_path / "meijin.db"
    file.touch()
    check(file, is_new=True)
    with pytest.raises(DamagedDatabaseError, match="it is empty"):
        check(file)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    """The message says what to name instead."""
    with pytest.raises(DamagedDatabaseError, match="is a folder; name the file"):
        check(tmp_path)


def test_what_is_in_the_log_alone_counts(tmp_path: Path) -> None:
    """A killed server has left its last commits, here all of them, in the write-ahead log."""
    file, copy = tmp_path / "meijin.db", tmp_path / "copy.db"
    with Database(f"sqlite:///{file}") as database:
        database.migrate()
        for suffix in ("", "-wal"):
            Path(f"{copy}{suffix}").write_bytes(Path(f"{file}{suffix}").read_bytes())
    check(copy)
    with Database(f"sqlite:///{copy}") as database:
        database.migrate()


def test_a_locked_database_is_no_damaged_one(file: Path) -> None:
    """Another program has it for itself."""
    with closing(sqlite3.connect(file)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UnreadableDatabaseError, match="can't be used: database is locked"):
            check(file)
