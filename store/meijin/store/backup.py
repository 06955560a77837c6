"""Backups of an SQLite database: taken while a server writes, checked, pruned, restored."""

import math
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from urllib.parse import quote

from meijin.store.errors import (
    BackupError,
    DamagedDatabaseError,
    UnknownSchemaError,
    UnreadableDatabaseError,
)
from meijin.store.move_log.fold import fold_log
from meijin.store.move_log.log import claim_log
from meijin.store.move_log.reader import LogReader
from meijin.store.move_log.segment import log_folder, sync_path
from meijin.store.revisions import known_revisions

STEP_PAGES = 256
"""Pages of a step, some 1 MB."""

STEP_PAUSE_S = 0.001
"""Between two steps: the commits of a running server are to have the disk too."""

SYNC_STEPS = 16
"""Steps after which the copy is written to the disk: a server's commits wait for what is written
at once, and for all of 300 MB they waited for 200 ms instead of 40 to 100."""

STALE_TIME = timedelta(days=1)
"""A backup that is unfinished for so long was cut off."""

_NAME = re.compile(r"meijin-(\d{8}T\d{6}Z)\.db")
_TIME_FORMAT = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup in a folder."""

    path: Path
    time: datetime
    """When it was taken, by its name."""
    bytes: int


def backup_name(now: datetime) -> str:
    return f"meijin-{now.astimezone(UTC):{_TIME_FORMAT}}.db"


def free_backup(folder: Path, now: datetime) -> Path:
    """A new file for a backup, whose name is a later second's where another one has that of now."""
    seconds = (now + timedelta(seconds=later) for later in count())
    return next(path for each in seconds if not (path := folder / backup_name(each)).exists())


def backups_in(folder: Path) -> list[Backup]:
    """The finished backups in a folder, newest first."""
    found = []
    for path in folder.glob("meijin-*.db"):
        if name := _NAME.fullmatch(path.name):
            when = datetime.strptime(name[1], _TIME_FORMAT).replace(tzinfo=UTC)
            with suppress(FileNotFoundError):
                found.append(Backup(path, when, path.stat().st_size))
    return sorted(found, key=lambda backup: backup.time, reverse=True)


def prune(folder: Path, keep: int) -> list[Path]:
    """Delete all but the newest backups of a folder, and what cut-off ones have left behind."""
    old = [backup.path for backup in backups_in(folder)[keep:]]
    before = time.time() - STALE_TIME.total_seconds()
    stale = [path for path in folder.glob("meijin-*.db.part") if _change_time(path) < before]
    for path in (*old, *stale):
        path.unlink(missing_ok=True)
    return old


def _change_time(path: Path) -> float:
    """When a file was written to; forever to come if it is there no more: its backup is done."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return math.inf


def back_up(file: Path, target: Path, progress: Callable[[int], None] = lambda _: None) -> int:
    """Copy a database to a file that isn't there yet, and return its size in bytes.

    The copy is of one instant, and of one file. A running server's commits go on beside it: one
    reading transaction holds all steps together, which nobody waits for in WAL mode.

    Args:
        progress: Is told after each step how many pages are left.

    Raises:
        BackupError: there is no such database, the copy can't be written, or it is damaged.
    """
    part = target.with_name(f"{target.name}.part")
    if target.exists():
        raise BackupError(f"{target} is there already; give another name")
    try:
        if not target.parent.exists():
            target.parent.mkdir(parents=True)
            sync_path(target.parent.parent)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        message = "another backup writes it, or was cut off; remove it then, or give another name"
        raise BackupError(f"{part} is there: {message}") from None
    except OSError as error:
        raise BackupError(f"can't write {part}: {error.strerror}") from None
    try:
        with _failures(f"can't back {file} up"), LogReader(log_folder(file.resolve())) as log:
            _copy(file, part, progress)
            _fold(log, part, f"can't back {file} up")
            check(part)
        sync_path(part)
        part.rename(target)
        sync_path(target.parent)
    finally:
        part.unlink(missing_ok=True)
    return target.stat().st_size


def _copy(file: Path, part: Path, progress: Callable[[int], None]) -> None:
    steps = count(1)

    def paused(_status: int, remaining: int, _total: int) -> None:
        progress(remaining)
        if not next(steps) % SYNC_STEPS:
            sync_path(part)
        time.sleep(STEP_PAUSE_S)

    with closing(open_file(file)) as source, closing(open_file(part)) as copy:
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.backup(copy, pages=STEP_PAGES, progress=paused)
        copy.execute("PRAGMA journal_mode = DELETE")
        source.execute("COMMIT")
        with suppress(sqlite3.Error):  # such as a full disk, which is no failure of the backup
            # What was committed meanwhile would fall to the server's next commit.
            source.execute("PRAGMA wal_checkpoint(PASSIVE)")


def _fold(log: LogReader, part: Path, what: str) -> None:
    """Have a copy hold the moves of its running games that the log beside the database has.

    The log was opened before the copy was begun: what was told by then is in one of the two. What
    was deleted since is of games whose ends the copy has.

    Raises:
        BackupError: the log does not hold what was acknowledged, or is of another database.
    """
    log.open_new()
    with closing(open_file(part)) as copy:
        problem = fold_log(copy, log)
    if problem is not None:
        raise BackupError(f"{what}: {problem}")


def check(file: Path) -> None:
    """Accept a database that is whole.

    Raises:
        BackupError: it is damaged.
    """
    if (damage := damage_of(file)) is not None:
        raise BackupError(f"{file} is damaged: {damage}")


def damage_of(file: Path) -> str | None:
    """What SQLite's check of every page finds in a database, in one line; ``None`` if it is whole.

    Raises:
        sqlite3.OperationalError: it can't be read, or is locked.
    """
    try:
        with closing(open_file(file)) as database:
            (verdict,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        return str(error)
    return None if verdict == "ok" else " ".join(str(verdict).split())


def restore(backup: Path, file: Path, now: datetime) -> Path | None:
    """Put a backup in a database's place; return where the replaced one is kept, if there was one.

    No server may run on the database. At every instant there is one of the two under its name. The
    log of moves goes with the replaced one. A backup may be such a one, with a log of its own.

    Raises:
        BackupError: the backup is damaged, or no database of Meijin's; nothing was changed.
        UnknownSchemaError: it is of a later release; nothing was changed.
        StoreInUseError: a server appends to the log of moves; nothing was changed.
    """
    with _failures(f"can't restore {backup}"):
        check(backup)
        _check_schema(backup)
    part = file.with_name(f"{file.name}.part")
    aside = file.with_name(f"{file.name}.replaced-{now.astimezone(UTC):{_TIME_FORMAT}}")
    try:
        with _failures(f"can't restore {backup}"), _claimed_log(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            undo_restore(file)
            _take(backup, part)
            if is_replaced := file.exists():
                _keep(file, aside)
            _put(part, file, aside)
    except OSError as error:
        raise BackupError(f"can't restore {backup}: {error}") from None
    finally:
        part.unlink(missing_ok=True)
    return aside if is_replaced else None


@contextmanager
def _claimed_log(file: Path) -> Iterator[None]:
    """Hold the log beside a database, if there is one."""
    folder = log_folder(file)
    with claim_log(folder) if folder.is_dir() else nullcontext():
        yield


def _take(backup: Path, part: Path) -> None:
    """Copy a backup, with the moves in the log that a database that was replaced has."""
    shutil.copyfile(backup, part)
    part.chmod(0o600)
    with LogReader(log_folder(backup.resolve())) as log:
        _fold(log, part, f"can't restore {backup}")
    sync_path(part)


def cut_restores(file: Path) -> list[Path]:
    """The second names that a database has, under which restores were to keep it."""
    names = re.compile(re.escape(file.name) + r"\.replaced-\d{8}T\d{6}Z")
    found = [path for path in file.parent.glob(f"{file.name}.*") if names.fullmatch(path.name)]
    return [aside for aside in found if file.exists() and aside.samefile(file)]


def undo_restore(file: Path) -> bool:
    """Undo a restore that was cut off while the database had two names, and its log the second.

    Raises:
        OSError: the disk does not take it.
    """
    found = cut_restores(file)
    for aside in found:
        for ending in ("-moves", "-wal", "-shm"):
            kept, there = Path(f"{aside}{ending}"), Path(f"{file}{ending}")
            if kept.exists() and not there.exists():
                kept.rename(there)
        sync_path(file.parent)
        aside.unlink()
    return bool(found)


def _put(part: Path, file: Path, aside: Path) -> None:
    """Give a database its name, and the log of the one before the other's."""
    log, log_aside = log_folder(file), log_folder(aside)
    has_log = log.is_dir()
    if has_log:
        log.rename(log_aside)
    sync_path(file.parent)
    try:
        part.replace(file)
    except OSError:
        if has_log:
            log_aside.rename(log)
        raise
    sync_path(file.parent)


def _check_schema(backup: Path) -> None:
    with closing(open_file(backup)) as database:
        found = database.execute(
            "SELECT name FROM sqlite_master WHERE name = 'alembic_version'"
        ).fetchone()
        if found is None:
            raise BackupError(f"{backup} is no database of Meijin's")
        (revision,) = database.execute("SELECT version_num FROM alembic_version").fetchone()
    if revision not in known_revisions():
        raise UnknownSchemaError(
            f"{backup} is of a later release (schema {revision}); install that one"
        )


def _keep(file: Path, kept: Path) -> None:
    """Give the database a second name. Its write-ahead log is folded in, or kept beside it."""
    with suppress(sqlite3.DatabaseError), closing(open_file(file)) as database:
        database.execute("PRAGMA busy_timeout = 0")  # nobody else should be there
        database.execute("PRAGMA journal_mode = DELETE")
    os.link(file, kept)
    sync_path(file.parent)  # before what `undo_restore` knows by the second name
    for suffix in ("-wal", "-shm"):
        log = Path(f"{file}{suffix}")
        if log.exists():
            log.rename(f"{kept}{suffix}")


def open_file(file: Path) -> sqlite3.Connection:
    """A connection to a file that is there.

    It takes in the write-ahead log that a killed server left: its pages count too.
    """
    return sqlite3.connect(
        f"file:{quote(str(file.resolve()))}?mode=rw", uri=True, isolation_level=None
    )


@contextmanager
def _failures(what: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BackupError(f"{what}: {error}") from None


def check_integrity(file: Path, *, backups: Path, is_new: bool) -> None:
    """Accept a database that is whole, or none: `PRAGMA quick_check` reads every page.

    Args:
        backups: The folder whose newest backup is named.
        is_new: Nothing was ever stored; else an empty file is what is left of a database.

    Raises:
        DamagedDatabaseError: it is damaged, or no database; the message says what to do.
        UnreadableDatabaseError: it can't be read, or another program has locked it.
    """
    if file.is_dir():
        raise DamagedDatabaseError(f"{file} is a folder; name the file of the database")
    if not file.exists():
        return
    try:
        problem = damage_of(file)
        if problem is None and not is_new and not _has_tables(file):
            problem = "it is empty"
    except sqlite3.OperationalError as error:
        raise UnreadableDatabaseError(f"the database {file} can't be used: {error}") from None
    if problem is not None:
        raise DamagedDatabaseError(f"the database {file} is damaged ({problem}); {_cure(backups)}")


def _has_tables(file: Path) -> bool:
    with closing(open_file(file)) as connection:
        return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _cure(backups: Path) -> str:
    found = backups_in(backups)
    if not found:
        return f"there is no backup in {backups}; put one in its place"
    newest = found[0].path
    return f"the newest backup is {newest}; run: meijin restore {newest}"
