"""Opening, migrating, reading and claiming a database."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Connection, func, insert, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from meijin.store import Database, Durability, StoreInUseError
from meijin.store.database import LOCK_TIMEOUT, database_file
from meijin.store.errors import UnknownSchemaError
from meijin.store.schema import Owner

if TYPE_CHECKING:
    from tests.conftest import PostgreSQL

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SHORT = timedelta(milliseconds=200)
CLAIM = """
import sys
sys.path[:0] = {path!r}
from meijin.store import Database
with Database({url!r}) as database, database.claim():
    print("claimed", flush=True)
    sys.stdin.read()
"""


def add_owner(connection: Connection, name: str) -> None:
    connection.execute(insert(Owner), {"name": name, "create_time": NOON})


def owners(connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(Owner)).scalar_one()


def set_revision(database: Database, revision: str) -> None:
    change = text(f"UPDATE alembic_version SET version_num = '{revision}'")
    database.write(Connection.execute, statement=change)


def shown(connection: Connection, statement: str) -> Any:
    return connection.exec_driver_sql(statement).scalar()


def start_claimant(url: str) -> subprocess.Popen[str]:
    """Another process that claims the database until its standard input is closed."""
    code = CLAIM.format(path=sys.path, url=url)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "claimed\n"
    return process


# -- migrations -------------------------------------------------------------------


def test_migrating_twice_does_nothing(database: Database) -> None:
    """A migrated database keeps its rows and its one revision."""
    database.write(add_owner, "ada")
    database.migrate()
    assert database.read(owners) == 1
    assert database.read(shown, "SELECT count(*) FROM alembic_version") == 1
    database.check_schema()


def test_migrations_at_once_wait_for_each_other(any_database_url: str) -> None:
    """Whoever comes first makes the tables, the others find them."""
    databases = [Database(any_database_url) for _ in range(4)]
    barrier = threading.Barrier(len(databases))

    def migrate(database: Database) -> None:
        with database:
            barrier.wait()
            database.migrate()

    with ThreadPoolExecutor(len(databases)) as pool:
        for done in [pool.submit(migrate, database) for database in databases]:
            done.result()
    with Database(any_database_url) as database:
        database.check_schema()


@pytest.mark.parametrize(
    ("revision", "words"), [(None, "start the server first"), ("0002", "schema 0002, and")]
)
def test_another_schema_is_told(any_database_url: str, revision: str | None, words: str) -> None:
    """To a worker, which makes no tables itself."""
    with Database(any_database_url) as database:
        if revision is not None:
            database.migrate()
            set_revision(database, revision)
        with pytest.raises(UnknownSchemaError, match=words):
            database.check_schema()


@pytest.mark.parametrize(
    ("revision", "release"), [("9999", "a later release"), ("0002", "before the first release")]
)
def test_tables_that_no_step_leads_from(sqlite_url: str, revision: str, release: str) -> None:
    """A release does not touch a database of which it knows nothing."""
    with Database(sqlite_url) as database:
        database.migrate()
        set_revision(database, revision)
        with pytest.raises(UnknownSchemaError, match=release):
            database.migrate()


def test_other_databases_are_refused() -> None:
    """Whatever SQLAlchemy itself could open."""
    with pytest.raises(ArgumentError, match="mysql is none of sqlite, postgresql"):
        Database("mysql://localhost/meijin")


@pytest.mark.parametrize(
    "url",
    ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///file:m?mode=memory&uri=true"],
)
def test_sqlite_in_memory_is_refused(url: str) -> None:
    """Each connection would have a database of its own; one in a file may be looked for there."""
    for opened in (Database, database_file):
        with pytest.raises(ArgumentError, match="an SQLite database has to be a file"):
            opened(url)
    assert database_file("sqlite:///a/meijin.db") == Path("a/meijin.db")
    assert database_file("postgresql+psycopg://host/name") is None


# -- settings of connections ------------------------------------------------------------


@pytest.fixture(name="postgresql_url")
def _postgresql_url(postgresql: PostgreSQL) -> str:
    return postgresql.new_database()


@pytest.mark.parametrize(
    ("durability", "synchronous", "commit"),
    [(Durability.POWER, 2, "on"), (Durability.PROCESS, 1, "off")],
)
def test_commits_wait_for_the_disk_as_they_are_told(
    sqlite_url: str, postgresql_url: str, durability: Durability, synchronous: int, commit: str
) -> None:
    """SQLite's writer keeps a write-ahead log too, and checks references."""
    with Database(sqlite_url, durability) as database, database.writer.connect() as connection:
        names = ("journal_mode", "synchronous", "foreign_keys")
        pragmas = [shown(connection, f"PRAGMA {name}") for name in names]
    assert pragmas == ["wal", synchronous, 1]
    with Database(postgresql_url, durability) as database, database.writer.connect() as connection:
        assert shown(connection, "SHOW synchronous_commit") == commit


@pytest.mark.parametrize(("timeout", "limit"), [(None, "0"), (timedelta(seconds=7), "7s")])
def test_postgresql_connections_fail_in_time(
    postgresql_url: str, timeout: timedelta | None, limit: str
) -> None:
    """Locks and statements have their limits, and a silent connection is probed from both ends."""
    with Database(postgresql_url, statement_timeout=timeout) as database:
        for engine in (database.writer, database.reader):
            with engine.connect() as connection:
                assert shown(connection, "SHOW lock_timeout") == "5s"
                assert shown(connection, "SHOW statement_timeout") == limit
                driver: Any = connection.connection.driver_connection
                given = driver.info.get_parameters()
            assert (given["connect_timeout"], given["keepalives_idle"]) == ("5", "5")
            assert "-c tcp_keepalives_idle=5" in given["options"]


def test_what_the_url_says_prevails(postgresql_url: str) -> None:
    """An operator's own limits for connections to PostgreSQL."""
    own = f"{postgresql_url}&connect_timeout=9&options=-c%20lock_timeout%3D9s"
    with Database(own) as database, database.writer.connect() as connection:
        assert shown(connection, "SHOW lock_timeout") == "9s"
        assert shown(connection, "SHOW synchronous_commit") == "on"
        driver: Any = connection.connection.driver_connection
        assert driver.info.get_parameters()["connect_timeout"] == "9"


def test_a_migration_takes_what_it_needs(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of a statement is for those that games wait for."""
    limits: list[object] = []
    look = "SHOW statement_timeout"
    monkeypatch.setattr("meijin.store.database.upgrade", lambda at: limits.append(shown(at, look)))
    with Database(postgresql_url, statement_timeout=timedelta(seconds=7)) as database:
        database.migrate()
        with database.writer.connect() as connection:
            limits.append(shown(connection, look))
    assert limits == ["0", "7s"]


def test_sqlite_waits_for_a_lock_for_seconds(sqlite_url: str) -> None:
    """And then says so, so that nobody waits for an outage's end without knowing."""
    for url, limit in ((sqlite_url, LOCK_TIMEOUT), (f"{sqlite_url}?timeout=0.2", SHORT)):
        with Database(url) as database:
            for engine in (database.writer, database.reader):
                with engine.connect() as connection:
                    timeout = timedelta(milliseconds=shown(connection, "PRAGMA busy_timeout"))
                assert timeout == limit


def test_a_connection_that_is_cut_fails(postgresql: PostgreSQL, postgresql_url: str) -> None:
    """No thread waits for a server that hangs; the next connection works once it answers."""
    with Database(postgresql_url) as database, ThreadPoolExecutor(1) as pool:
        assert database.read(shown, "SELECT 1") == 1
        with postgresql.hung():
            waiting = pool.submit(database.read, shown, "SELECT 1")
            while database.reader.pool.checkedout() == 0:  # type: ignore[attr-defined]
                time.sleep(0.001)
            database.cut()
            assert isinstance(waiting.exception(20), DBAPIError)
        assert database.read(shown, "SELECT 1") == 1


def test_a_connection_in_use_is_closed_when_it_is_returned(database: Database) -> None:
    """A thread may still read when the database is closed; what it used is not left open."""
    used: list[Any] = []
    begun, closed = threading.Event(), threading.Event()

    def read(connection: Connection) -> object:
        used.append(connection.connection.driver_connection)
        begun.set()
        assert closed.wait(20)
        return shown(connection, "SELECT 1")

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(database.read, read)
        assert begun.wait(20)
        database.close()
        closed.set()
        assert reading.result(20) == 1
    with pytest.raises(database.reader.dialect.loaded_dbapi.Error, match="closed"):
        used[0].execute("SELECT 1")


def test_sqlite_takes_the_write_lock_at_the_beginning(sqlite_url: str) -> None:
    """A writing transaction excludes others before its first statement (BEGIN IMMEDIATE)."""
    with Database(sqlite_url) as first, Database(sqlite_url) as second:
        first.migrate()
        with first.writer.begin(), second.writer.connect() as connection:
            connection.connection.driver_connection.execute("PRAGMA busy_timeout = 0")  # type: ignore[union-attr]
            with pytest.raises(DBAPIError, match="locked"):
                connection.begin()


# -- reading ----------------------------------------------------------------------


def test_a_read_sees_one_snapshot(database: Database) -> None:
    """What is committed during a read is not seen by it."""

    def count_twice(connection: Connection) -> tuple[int, int]:
        before = owners(connection)
        database.write(add_owner, "ada")
        return before, owners(connection)

    assert database.read(count_twice) == (0, 0)
    assert database.read(owners) == 1


def test_a_read_can_not_write(database: Database) -> None:
    with pytest.raises(DBAPIError, match=r"read-?\s?only"):
        database.read(add_owner, "ada")
    assert database.read(owners) == 0


def test_a_write_that_fails_leaves_nothing(database: Database) -> None:
    """An exception rolls the transaction back."""

    def fail(connection: Connection) -> None:
        add_owner(connection, "ada")
        raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        database.write(fail)
    assert database.read(owners) == 0


# -- the claim --------------------------------------------------------------------


def test_a_claim_excludes_a_second(any_database_url: str) -> None:
    """A second server on one database is told what to do; a released claim is free."""
    with Database(any_database_url) as first, Database(any_database_url) as second:
        taken = pytest.raises(StoreInUseError, match="stop it first")
        with first.claim(), taken, second.claim():
            pass
        with second.claim():
            pass


def test_a_claim_works_across_processes(any_database_url: str) -> None:
    """Another process's claim holds until that process is killed.

    PostgreSQL takes a moment to notice that a client has died, which a claim waits for.
    """
    process = start_claimant(any_database_url)
    with process, Database(any_database_url) as database:
        with pytest.raises(StoreInUseError), database.claim():
            pass
        process.kill()
        process.wait()
        deadline = time.monotonic() + 10
        while True:
            try:
                with database.claim():
                    return
            except StoreInUseError:
                assert time.monotonic() < deadline
                time.sleep(0.02)
