"""Opening, migrating, reading and claiming a database."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Connection, func, insert, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

from meijin.store import Database, Durability, StoreInUseError
from meijin.store.database import LOCK_TIMEOUT, database_file
from meijin.store.errors import UnknownSchemaError
from meijin.store.schema import Owner, Pairing

if TYPE_CHECKING:
    from tests.conftest import PostgreSQL

CLAIM = """
import sys
sys.path[:0] = {path!r}
from meijin.store import Database
with Database({url!r}) as database, database.claim():
    print("claimed", flush=True)
    sys.stdin.read()
"""


def add_owner(connection: Connection, name: str, time: str = "2026-01-01 00:00:00") -> None:
    """Store a row that stands alone."""
    connection.execute(
        text("INSERT INTO owner (name, create_time) VALUES (:name, :time)"),
        {"name": name, "time": time},
    )


def owners(connection: Connection) -> int:
    """How many rows there are."""
    return connection.execute(select(func.count()).select_from(Owner)).scalar_one()


def start_claimant(url: str) -> "subprocess.Popen[str]":
    """Another process that claims the database until its standard input is closed."""
    code = CLAIM.format(path=sys.path, url=url)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "claimed\n"
    return process


def claim_in_time(database: Database) -> None:
    """Claim within seconds: PostgreSQL takes a moment to notice that a client has died."""
    deadline = time.monotonic() + 10
    while True:
        try:
            with database.claim():
                return
        except StoreInUseError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


# -- migrations -------------------------------------------------------------------


def test_migrating_twice_does_nothing(database: Database) -> None:
    """A migrated database keeps its rows and its one revision."""
    database.write(lambda connection: add_owner(connection, "ada"))
    database.migrate()
    assert database.read(owners) == 1
    revisions = database.read(
        lambda connection: connection.scalars(text("SELECT version_num FROM alembic_version")).all()
    )
    steps = Path(str(files("meijin.store"))) / "migrations" / "versions"
    assert revisions == [max(step.stem[:4] for step in steps.glob("0*.py"))]


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
            other = text(f"UPDATE alembic_version SET version_num = '{revision}'")
            database.write(lambda connection: connection.execute(other))
        with pytest.raises(UnknownSchemaError, match=words):
            database.check_schema()


def test_other_databases_are_refused() -> None:
    """Whatever SQLAlchemy itself could open."""
    with pytest.raises(ArgumentError, match="mysql is none of sqlite, postgresql"):
        Database("mysql://localhost/meijin")


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file:meijin?mode=memory&uri=true",
    ],
)
def test_sqlite_in_memory_is_refused(url: str) -> None:
    """Each connection would have a database of its own."""
    for opened in (Database, database_file):
        with pytest.raises(ArgumentError, match="an SQLite database has to be a file"):
            opened(url)


def test_only_sqlite_is_a_file() -> None:
    """Which a command may look for."""
    assert database_file("sqlite:///a/meijin.db") == Path("a/meijin.db")
    assert database_file("postgresql+psycopg://host/name") is None


# -- SQLite's settings ------------------------------------------------------------


@pytest.mark.parametrize(
    ("durability", "synchronous"), [(Durability.POWER, 2), (Durability.PROCESS, 1)]
)
def test_sqlite_pragmas(sqlite_url: str, durability: Durability, synchronous: int) -> None:
    """The writer keeps a write-ahead log, checks references, and syncs as it is told."""
    with Database(sqlite_url, durability) as database, database.writer.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": synchronous, "foreign_keys": 1}


@pytest.mark.parametrize(
    ("durability", "commit"), [(Durability.POWER, "on"), (Durability.PROCESS, "off")]
)
def test_postgresql_commits(
    request: pytest.FixtureRequest, durability: Durability, commit: str
) -> None:
    """PostgreSQL waits for the disk as it is told."""
    url: str = request.getfixturevalue("postgresql").new_database()
    with Database(url, durability) as database, database.writer.connect() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == commit


@pytest.mark.parametrize(("timeout", "shown"), [(None, "0"), (timedelta(seconds=7), "7s")])
def test_postgresql_connections_fail_in_time(
    request: pytest.FixtureRequest, timeout: timedelta | None, shown: str
) -> None:
    """Locks and statements have their limits, and a silent connection is probed from both ends."""
    url: str = request.getfixturevalue("postgresql").new_database()
    with Database(url, statement_timeout=timeout) as database:
        for engine in (database.writer, database.reader):
            with engine.connect() as connection:
                names = ("lock_timeout", "statement_timeout")
                limits = [connection.exec_driver_sql(f"SHOW {name}").scalar() for name in names]
                assert limits == ["5s", shown]
                driver: Any = connection.connection.driver_connection
                given = driver.info.get_parameters()
            assert given["connect_timeout"] == "5"
            assert given["keepalives_idle"] == "5"
            assert "-c tcp_keepalives_idle=5" in given["options"]


def test_a_migration_takes_what_it_needs(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of a statement is for those that games wait for."""
    url: str = request.getfixturevalue("postgresql").new_database()
    shown: list[object] = []

    def upgrade(connection: Connection) -> None:
        shown.append(connection.exec_driver_sql("SHOW statement_timeout").scalar())

    monkeypatch.setattr("meijin.store.database.upgrade", upgrade)
    with Database(url, statement_timeout=timedelta(seconds=7)) as database:
        database.migrate()
        with database.writer.connect() as connection:
            shown.append(connection.exec_driver_sql("SHOW statement_timeout").scalar())
    assert shown == ["0", "7s"]


def test_a_connection_that_is_cut_fails(request: pytest.FixtureRequest) -> None:
    """No thread waits for a server that hangs; the next connection works once it answers."""
    server: PostgreSQL = request.getfixturevalue("postgresql")
    with Database(server.new_database()) as database, ThreadPoolExecutor(1) as pool:
        assert database.read(lambda at: at.scalar(text("SELECT 1"))) == 1
        with server.hung():
            waiting = pool.submit(database.read, lambda at: at.scalar(text("SELECT 1")))
            while database.reader.pool.checkedout() == 0:  # type: ignore[attr-defined]
                time.sleep(0.001)
            database.cut()
            assert isinstance(waiting.exception(20), DBAPIError)
        assert database.read(lambda at: at.scalar(text("SELECT 1"))) == 1


def test_a_connection_in_use_is_closed_when_it_is_returned(database: Database) -> None:
    """A thread may still read when the database is closed; what it used is not left open."""
    used: list[Any] = []
    begun, closed = threading.Event(), threading.Event()

    def read(connection: Connection) -> object:
        used.append(connection.connection.driver_connection)
        begun.set()
        assert closed.wait(20)
        return connection.scalar(text("SELECT 1"))

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(database.read, read)
        assert begun.wait(20)
        database.close()
        closed.set()
        assert reading.result(20) == 1
    with pytest.raises(database.reader.dialect.loaded_dbapi.Error, match="closed"):
        used[0].execute("SELECT 1")


def test_what_the_url_says_prevails(request: pytest.FixtureRequest) -> None:
    """An operator's own limits for connections to PostgreSQL."""
    url: str = request.getfixturevalue("postgresql").new_database()
    own = f"{url}&connect_timeout=9&options=-c%20lock_timeout%3D9s"
    with Database(own) as database, database.writer.connect() as connection:
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar() == "9s"
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        driver: Any = connection.connection.driver_connection
        assert driver.info.get_parameters()["connect_timeout"] == "9"


def test_sqlite_waits_for_a_lock_for_seconds(sqlite_url: str) -> None:
    """And then says so, so that nobody waits for an outage's end without knowing."""
    with Database(sqlite_url) as database:
        for engine in (database.writer, database.reader):
            with engine.connect() as connection:
                timeout = connection.exec_driver_sql("PRAGMA busy_timeout").scalar()
            assert timeout == LOCK_TIMEOUT // timedelta(milliseconds=1) == 5_000
    with Database(f"{sqlite_url}?timeout=0.2") as database, database.writer.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 200


def test_sqlite_takes_the_write_lock_at_the_beginning(sqlite_url: str) -> None:
    """A writing transaction excludes others before its first statement (BEGIN IMMEDIATE)."""
    with Database(sqlite_url) as first, Database(sqlite_url) as second:
        first.migrate()
        with first.writer.begin(), second.writer.connect() as connection:
            connection.connection.driver_connection.execute("PRAGMA busy_timeout = 0")  # type: ignore[union-attr]
            with pytest.raises(DBAPIError, match="locked"):
                connection.begin()


def test_references_are_checked(database: Database) -> None:
    """A pairing of a tournament that is not there is refused."""
    row = {
        "tournament_id": 9,
        "number": 1,
        "round": 1,
        "black_id": 1,
        "white_id": 2,
        "opening": b"",
    }
    with pytest.raises(IntegrityError):
        database.write(lambda connection: connection.execute(insert(Pairing), row))


# -- reading ----------------------------------------------------------------------


def test_a_read_sees_one_snapshot(database: Database) -> None:
    """What is committed during a read is not seen by it."""

    def count_twice(connection: Connection) -> tuple[int, int]:
        before = owners(connection)
        database.write(lambda writing: add_owner(writing, "ada"))
        return before, owners(connection)

    assert database.read(count_twice) == (0, 0)
    assert database.read(owners) == 1


def test_a_read_can_not_write(database: Database) -> None:
    """The connections that read refuse to write."""
    with pytest.raises(DBAPIError, match=r"read-?\s?only"):
        database.read(lambda connection: add_owner(connection, "ada"))
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
    """Another process's claim holds until that process is killed."""
    process = start_claimant(any_database_url)
    with process, Database(any_database_url) as database:
        with pytest.raises(StoreInUseError), database.claim():
            pass
        process.kill()
        process.wait()
        claim_in_time(database)


def test_claims_of_two_databases_are_independent(tmp_path: Path) -> None:
    """Two servers run beside each other on databases of their own."""
    urls = [f"sqlite:///{tmp_path / name}" for name in ("one.db", "two.db")]
    with Database(urls[0]) as first, Database(urls[1]) as second, first.claim(), second.claim():
        pass


def test_tables_of_a_later_release(tmp_path: Path) -> None:
    """An older release does not touch a database that a later one has migrated."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        later = text("UPDATE alembic_version SET version_num = '9999'")
        database.write(lambda connection: connection.execute(later))
        with pytest.raises(UnknownSchemaError, match="later release"):
            database.migrate()
