"""A database as the first release left it: a ladder of 29 games with three runs."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from meijin.store import Database

ROWS = Path(__file__).parent / "ladders" / "ladder_0025.sql"


@contextmanager
def first_release(folder: Path) -> Iterator[Database]:
    """Its rows in the tables of today, in a file of that folder."""
    path = folder / "meijin.db"
    with Database(f"sqlite:///{path}") as database:
        database.migrate()
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(ROWS.read_text())
        yield database
