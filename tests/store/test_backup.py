"""Backups of an SQLite database."""

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
from meijin.store.backup import back_up, backup_name, backups_in, check, prune, restore
from meijin.store.errors import BackupError, UnknownSchemaError

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    """A database with the current tables and an owner called ada."""
    file = tmp_path / "data" / "meijin.db"
    file.parent.mkdir()
    with Database(f"sqlite:///{file}") as database:
        database.migrate()
    add_owner(file, "ada")
    return file


def add_owner(file: Path, name: str) -> None:
    """Commit a row."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("INSERT INTO owner (name, create_time) VALUES (?, '2026-03-04')", (name,))


def owners(file: Path) -> list[str]:
    """The rows."""
    with closing(sqlite3.connect(file)) as database:
        return [name for (name,) in database.execute("SELECT name FROM owner ORDER BY id")]


def revise(file: Path, statement: str) -> None:
    """Change a database as no release of ours would."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(statement)


def damage(file: Path) -> None:
    """Overwrite some pages."""
    with file.open("r+b") as opened:
        opened.seek(8192)
        opened.write(os.urandom(16384))


@pytest.fixture
def _large(file: Path) -> None:
    """Some hundred pages."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE filler (bytes BLOB)")
        rows = ((os.urandom(4000),) for _ in range(600))
        database.executemany("INSERT INTO filler VALUES (?)", rows)


def test_a_backup_is_one_private_file(file: Path, tmp_path: Path) -> None:
    """It holds what was committed, and nothing lies beside it."""
    target = tmp_path / "kept" / "copy.db"
    size = back_up(file, target)
    assert size == target.stat().st_size > 0
    assert [path.name for path in target.parent.iterdir()] == ["copy.db"]
    assert target.stat().st_mode & 0o777 == 0o600
    assert owners(target) == ["ada"]


@pytest.mark.usefixtures("_large")
def test_a_backup_is_of_one_instant(file: Path, tmp_path: Path) -> None:
    """Commits between its steps go on, aren't in it, and don't have it begin anew."""
    left: list[int] = []

    def commit(remaining: int) -> None:
        left.append(remaining)
        add_owner(file, f"bob-{remaining}")

    back_up(file, tmp_path / "copy.db", commit)
    assert len(left) >= 3
    assert left == sorted(left, reverse=True)
    assert owners(tmp_path / "copy.db") == ["ada"]
    assert len(owners(file)) == 1 + len(left)


@pytest.mark.usefixtures("_large")
def test_a_copy_is_written_to_the_disk_bit_by_bit(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No commit has to wait for all of it."""
    synced: list[str] = []
    monkeypatch.setattr(module, "SYNC_STEPS", 2)
    monkeypatch.setattr(module, "sync_path", lambda path: synced.append(path.name))
    steps: list[int] = []
    back_up(file, tmp_path / "copy.db", steps.append)
    assert synced.count("copy.db.part") == len(steps) // 2 + 1


@pytest.mark.usefixtures("_large")
def test_what_was_committed_meanwhile_is_taken_in(file: Path, tmp_path: Path) -> None:
    """The file itself holds it, and the server's next commit has not to write it there."""
    with closing(sqlite3.connect(file)) as server:  # it keeps the write-ahead log
        server.execute("SELECT * FROM owner").fetchone()
        server.commit()
        back_up(file, tmp_path / "copy.db", lambda left: add_owner(file, f"bob-{left}"))
        shutil.copyfile(file, tmp_path / "alone.db")
        assert owners(tmp_path / "alone.db") == owners(file)


def test_nothing_is_written_over(file: Path, tmp_path: Path) -> None:
    """A file that is there is refused."""
    target = tmp_path / "copy.db"
    target.write_text("mine")
    with pytest.raises(BackupError, match=r"copy\.db is there already; give another name"):
        back_up(file, target)
    assert target.read_text() == "mine"


def test_a_backup_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """Nor does it make the database that it doesn't find."""
    with pytest.raises(BackupError, match="unable to open database file"):
        back_up(tmp_path / "none.db", tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_large")
def test_a_damaged_database_has_no_backup(file: Path, tmp_path: Path) -> None:
    """The copy is checked before it gets its name."""
    damage(file)
    with pytest.raises(BackupError, match=r"damaged|malformed"):
        back_up(file, tmp_path / "copy.db")
    assert not list(tmp_path.glob("copy.db*"))


def test_the_newest_are_kept(tmp_path: Path) -> None:
    """Others of the folder's files are left alone, unless they are old and unfinished."""
    names = [backup_name(NOON + timedelta(days=day)) for day in range(5)]
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


def test_another_backup_of_the_name_is_not_disturbed(file: Path, tmp_path: Path) -> None:
    """What it has written stays, and the message says what to do if it was cut off."""
    part = tmp_path / "copy.db.part"
    part.write_bytes(b"half")
    with pytest.raises(BackupError, match="another backup writes it, or was cut off; remove it"):
        back_up(file, tmp_path / "copy.db")
    assert part.read_bytes() == b"half"


def test_a_backup_is_restored(file: Path, tmp_path: Path) -> None:
    """What was committed since is in the file that is kept, with its write-ahead log."""
    back_up(file, tmp_path / "copy.db")
    add_owner(file, "bob")
    kept = restore(tmp_path / "copy.db", file, NOON)
    assert owners(file) == ["ada"]
    assert kept == file.with_name("meijin.db.replaced-20260304T120000Z")
    assert owners(kept) == ["ada", "bob"]
    assert owners(tmp_path / "copy.db") == ["ada"]


def test_a_log_of_the_replaced_database_is_not_applied(file: Path, tmp_path: Path) -> None:
    """A server that was killed leaves one behind."""
    back_up(file, tmp_path / "copy.db")
    with closing(sqlite3.connect(file)) as crashed:
        crashed.execute("INSERT INTO owner (name, create_time) VALUES ('bob', '2026-03-04')")
        crashed.commit()
        assert Path(f"{file}-wal").stat().st_size > 0
        kept = restore(tmp_path / "copy.db", file, NOON)
    assert kept is not None
    assert owners(file) == ["ada"]
    check(file)
    assert owners(kept) == ["ada", "bob"]


def test_a_lost_database_is_restored(file: Path, tmp_path: Path) -> None:
    """There is nothing to keep then."""
    back_up(file, tmp_path / "copy.db")
    assert restore(tmp_path / "copy.db", tmp_path / "new" / "meijin.db", NOON) is None
    assert owners(tmp_path / "new" / "meijin.db") == ["ada"]


def test_a_damaged_database_is_replaced(file: Path, tmp_path: Path) -> None:
    """That is what backups are for."""
    back_up(file, tmp_path / "copy.db")
    file.write_bytes(os.urandom(20_000))
    kept = restore(tmp_path / "copy.db", file, NOON)
    assert kept is not None
    assert kept.stat().st_size == 20_000
    assert owners(file) == ["ada"]


def _of_nobody(copy: Path) -> None:
    revise(copy, "DROP TABLE alembic_version")


def _of_later_release(copy: Path) -> None:
    revise(copy, "UPDATE alembic_version SET version_num = '9999'")


@pytest.mark.parametrize(
    ("spoil", "kind", "words"),
    [
        (damage, BackupError, "damaged|malformed"),
        (lambda copy: copy.write_text("no database"), BackupError, "not a database"),
        (_of_nobody, BackupError, "is no database of Meijin's"),
        (_of_later_release, UnknownSchemaError, r"of a later release \(schema 9999\)"),
    ],
)
@pytest.mark.usefixtures("_large")
def test_what_is_no_backup_changes_nothing(
    file: Path,
    tmp_path: Path,
    spoil: Callable[[Path], object],
    kind: type[Exception],
    words: str,
) -> None:
    """The database is as it was, and nothing lies beside it."""
    copy = tmp_path / "copy.db"
    back_up(file, copy)
    spoil(copy)
    with pytest.raises(kind, match=words):
        restore(copy, file, NOON)
    assert owners(file) == ["ada"]
    assert [path.name for path in file.parent.iterdir()] == ["meijin.db"]


def test_there_is_a_database_at_every_instant(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restore that is cut off between two steps leaves the old one or the new one."""
    back_up(file, tmp_path / "copy.db")
    add_owner(file, "bob")

    def cut_off(*_: object) -> None:
        raise OSError("cut off")

    for place in ("os.link", "pathlib.Path.replace"):
        with monkeypatch.context() as patched:
            patched.setattr(place, cut_off)
            with pytest.raises(BackupError, match="cut off"):
                restore(tmp_path / "copy.db", file, NOON)
        assert owners(file) == ["ada", "bob"]


def test_names_sort_by_time() -> None:
    """In UTC, whatever the zone of the instant."""
    assert backup_name(NOON) == "meijin-20260304T120000Z.db"
    assert module.STEP_PAGES * 4096 == 2**20
