"""Backups, restores, and the check of a file."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from meijin.store import Database
from meijin.store import backup as module
from meijin.store.backup import (
    back_up,
    backup_name,
    backups_in,
    check,
    check_integrity,
    free_backup,
    prune,
    restore,
)
from meijin.store.errors import (
    BackupError,
    DamagedDatabaseError,
    UnknownSchemaError,
    UnreadableDatabaseError,
)

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
ADD_OWNER = "INSERT INTO owner (name, create_time) VALUES ('{}', '2026-03-04')"
PAGE = 4096


def execute(file: Path, *lines: str) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        for line in lines:
            database.execute(line)


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    """A database with the current tables, an owner called ada, and some hundred pages."""
    file = tmp_path / "data" / "meijin.db"
    file.parent.mkdir()
    with Database(f"sqlite:///{file}") as database:
        database.migrate()
    numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)"
    fill = f"{numbers} INSERT INTO filler SELECT randomblob(4000) FROM n"
    execute(file, "CREATE TABLE filler (bytes BLOB)", fill, ADD_OWNER.format("ada"))
    execute(file, "PRAGMA journal_mode = DELETE")
    return file


@pytest.fixture(name="copy")
def _copy(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


def owners(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as database:
        return [name for (name,) in database.execute("SELECT name FROM owner ORDER BY id")]


def damage(file: Path, page: int = 2, pages: int = 4) -> None:
    with file.open("r+b") as opened:
        opened.seek(PAGE * page)
        opened.write(b"\xa5" * PAGE * pages)


# -- backups -------------------------------------------------------------------------------


def test_a_backup_is_one_private_file(file: Path, tmp_path: Path) -> None:
    """It holds what was committed, and nothing lies beside it."""
    target = tmp_path / "kept" / "copy.db"
    assert back_up(file, target) == target.stat().st_size > 0
    assert list(target.parent.iterdir()) == [target]
    assert target.stat().st_mode & 0o777 == 0o600
    assert owners(target) == ["ada"]


def test_a_backup_is_of_one_instant(file: Path, copy: Path, tmp_path: Path) -> None:
    """Commits between its steps go on, aren't in it, and don't have it begin anew.

    The file itself holds them then: the server's next commit has not to write them there.
    """
    left: list[int] = []

    def commit(remaining: int) -> None:
        left.append(remaining)
        execute(file, ADD_OWNER.format(f"bob-{remaining}"))

    execute(file, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(file)) as server:  # it keeps the write-ahead log
        server.execute("SELECT * FROM owner").fetchone()
        server.commit()
        back_up(file, copy, commit)
        shutil.copyfile(file, tmp_path / "alone.db")
    assert len(left) >= 3
    assert left == sorted(left, reverse=True)
    assert owners(copy) == ["ada"]
    assert owners(tmp_path / "alone.db") == owners(file) == ["ada", *map("bob-{}".format, left)]


def test_a_copy_is_written_to_the_disk_bit_by_bit(
    file: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(module, "SYNC_STEPS", 2)
    monkeypatch.setattr(module, "sync_path", lambda path: synced.append(path.name))
    steps: list[int] = []
    back_up(file, copy, steps.append)
    assert synced.count("copy.db.part") == len(steps) // 2 + 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("copy.db", r"copy\.db is there already; give another name"),
        ("copy.db.part", "another backup writes it, or was cut off; remove it"),
    ],
)
def test_nothing_is_written_over(file: Path, copy: Path, name: str, words: str) -> None:
    """A file that is there is refused, and one that another backup writes."""
    mine = copy.with_name(name)
    mine.write_text("mine")
    with pytest.raises(BackupError, match=words):
        back_up(file, copy)
    assert mine.read_text() == "mine"


def test_a_backup_that_fails_leaves_nothing(file: Path, copy: Path) -> None:
    """Nor does it make the database that it doesn't find; a copy gets its name when it is whole."""
    with pytest.raises(BackupError, match="unable to open database file"):
        back_up(copy.with_name("none.db"), copy)
    damage(file)
    with pytest.raises(BackupError, match=r"damaged|malformed"):
        back_up(file, copy)
    assert list(copy.parent.iterdir()) == [file.parent]


def test_backups_of_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    first = free_backup(tmp_path, NOON)
    first.touch()
    second = free_backup(tmp_path, NOON)
    assert [first.name, second.name] == [
        backup_name(NOON),
        backup_name(NOON + timedelta(seconds=1)),
    ]


def test_the_newest_are_kept(tmp_path: Path) -> None:
    """Others of the folder's files are left alone, unless they are old and unfinished."""
    names = [backup_name(NOON + timedelta(days=day)) for day in range(5)]
    assert names[0] == "meijin-20260304T120000Z.db"
    for name in (*names, "meijin-mine.db", "notes.txt"):
        (tmp_path / name).touch()
    stale, recent = (tmp_path / f"meijin-{name}.db.part" for name in ("stale", "recent"))
    recent.touch()
    stale.touch()
    os.utime(stale, (0, 0))
    assert {path.name for path in prune(tmp_path, 2)} == set(names[:3])
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*names[3:], "meijin-mine.db", "notes.txt", recent.name}
    newest, older = backups_in(tmp_path)
    assert (newest.time, older.time) == (NOON + timedelta(days=4), NOON + timedelta(days=3))


def test_a_backup_that_has_just_been_finished_is_no_stale_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the folder and the look at the file it was given its name."""
    gone = tmp_path / "meijin-another.db.part"
    monkeypatch.setattr(Path, "glob", lambda _, names: [gone] if "part" in names else [])
    assert prune(tmp_path, keep=1) == []


# -- restores ------------------------------------------------------------------------------


def test_a_backup_is_restored(file: Path, copy: Path) -> None:
    """What was committed since is in the file that is kept, with its write-ahead log.

    A server that was killed leaves one behind, which is not applied to what is restored.
    """
    back_up(file, copy)
    execute(file, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(file)) as crashed:
        crashed.execute(ADD_OWNER.format("bob"))
        crashed.commit()
        assert Path(f"{file}-wal").stat().st_size > 0
        kept = restore(copy, file, NOON)
    assert kept == file.with_name("meijin.db.replaced-20260304T120000Z")
    check(file)
    assert [owners(each) for each in (file, kept, copy)] == [["ada"], ["ada", "bob"], ["ada"]]


def test_a_lost_or_damaged_database_is_replaced(file: Path, copy: Path, tmp_path: Path) -> None:
    """That is what backups are for; there is nothing to keep of one that is lost."""
    back_up(file, copy)
    lost = tmp_path / "new" / "meijin.db"
    assert restore(copy, lost, NOON) is None
    file.write_bytes(os.urandom(20_000))
    kept = restore(copy, file, NOON)
    assert kept is not None
    assert kept.stat().st_size == 20_000
    assert owners(file) == owners(lost) == ["ada"]


@pytest.mark.parametrize(
    ("spoil", "kind", "words"),
    [
        (damage, BackupError, "damaged|malformed"),
        (lambda copy: copy.write_text("no database"), BackupError, "not a database"),
        (
            lambda copy: execute(copy, "DROP TABLE alembic_version"),
            BackupError,
            "is no database of Meijin's",
        ),
        (
            lambda copy: execute(copy, "UPDATE alembic_version SET version_num = '9999'"),
            UnknownSchemaError,
            r"of a later release \(schema 9999\)",
        ),
    ],
)
def test_what_is_no_backup_changes_nothing(
    file: Path, copy: Path, spoil: Callable[[Path], object], kind: type[Exception], words: str
) -> None:
    """The database is as it was, and nothing lies beside it."""
    back_up(file, copy)
    spoil(copy)
    with pytest.raises(kind, match=words):
        restore(copy, file, NOON)
    assert owners(file) == ["ada"]
    assert list(file.parent.iterdir()) == [file]


# -- the check of a file -------------------------------------------------------------------


def check_whole(file: Path, *, is_new: bool = False) -> None:
    """Check it as a server does that has its backups beside it."""
    check_integrity(file, backups=file.parent / "backups", is_new=is_new)


def test_a_whole_database_is_accepted(file: Path) -> None:
    """And one that isn't there yet."""
    check_whole(file)
    check_whole(file.with_name("other.db"))
    assert not file.with_name("other.db").exists()


@pytest.mark.parametrize("place", [0, 1, 0.2, 0.4, 0.6, 0.8, 0.999])
def test_a_damaged_page_is_refused(file: Path, place: float) -> None:
    """Wherever it is; `place` is a page at the beginning, or a part of the file."""
    pages = file.stat().st_size // PAGE
    damage(file, place if isinstance(place, int) else int(place * pages), 1)
    with pytest.raises(DamagedDatabaseError, match="is damaged") as refused:
        check_whole(file)
    assert "\n" not in str(refused.value)
    assert f"there is no backup in {file.parent / 'backups'}" in str(refused.value)


def test_the_newest_backup_is_named(file: Path) -> None:
    """With the command that puts it in the place of the damaged one."""
    backups = file.parent / "backups"
    backups.mkdir()
    for name in ("meijin-20260301T120000Z.db", "meijin-20260302T120000Z.db", "meijin-2.db.part"):
        (backups / name).touch()
    file.write_text("no database at all\n" * 1000)
    with pytest.raises(DamagedDatabaseError) as refused:
        check_whole(file)
    newest = backups / "meijin-20260302T120000Z.db"
    assert str(refused.value) == (
        f"the database {file} is damaged (file is not a database); "
        f"the newest backup is {newest}; run: meijin restore {newest}"
    )


def test_an_empty_file_is_what_is_left_of_a_database(tmp_path: Path) -> None:
    """Unless nothing was ever stored: a server that was killed when it first started leaves one."""
    file = tmp_path / "meijin.db"
    file.touch()
    check_whole(file, is_new=True)
    with pytest.raises(DamagedDatabaseError, match="it is empty"):
        check_whole(file)
    with pytest.raises(DamagedDatabaseError, match="is a folder; name the file"):
        check_whole(tmp_path)


def test_what_is_in_the_log_alone_counts(tmp_path: Path) -> None:
    """A killed server has left its last commits, here all of them, in the write-ahead log."""
    file, copy = tmp_path / "meijin.db", tmp_path / "copy.db"
    with Database(f"sqlite:///{file}") as database:
        database.migrate()
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{file}{suffix}", f"{copy}{suffix}")
    check_whole(copy)
    with Database(f"sqlite:///{copy}") as database:
        database.check_schema()


def test_a_locked_database_is_no_damaged_one(file: Path) -> None:
    """Another program has it for itself."""
    with closing(sqlite3.connect(file)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UnreadableDatabaseError, match="can't be used: database is locked"):
            check_whole(file)
