"""Integrity: whether an SQLite file is a whole database, before a server writes to it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from meijin.store.backup import backups_in, damage_of, open_file
from meijin.store.errors import DamagedDatabaseError, UnreadableDatabaseError


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
        problem = _problem(file)
        if problem is None and not is_new and not _has_tables(file):
            problem = "it is empty"
    except sqlite3.OperationalError as error:
        raise UnreadableDatabaseError(f"the database {file} can't be used: {error}") from None
    if problem is not None:
        raise DamagedDatabaseError(f"the database {file} is damaged ({problem}); {_cure(backups)}")


def _problem(file: Path) -> str | None:
    """What is wrong with a file; ``None`` when nothing is.

    Raises:
        sqlite3.OperationalError: it can't be read, or is locked.
    """
    try:
        return damage_of(file)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        return str(error)


def _has_tables(file: Path) -> bool:
    with closing(open_file(file)) as connection:
        return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _cure(backups: Path) -> str:
    found = backups_in(backups)
    if not found:
        return f"there is no backup in {backups}; put one in its place"
    newest = found[0].path
    return f"the newest backup is {newest}; run: meijin restore {newest}"
