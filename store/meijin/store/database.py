"""The database: opened, migrated, and read."""

import enum
import os
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar
from weakref import WeakSet

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, make_url, select, text
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    InterfaceError,
    InternalError,
    OperationalError,
)
from sqlalchemy.pool import ConnectionPoolEntry

from meijin.store.claims import AdvisoryClaim, FileClaim
from meijin.store.errors import UnknownSchemaError
from meijin.store.fence import Fence, closed_on_failure
from meijin.store.revisions import check_current, upgrade

P = ParamSpec("P")
T = TypeVar("T")

BACKENDS = ("sqlite", "postgresql")

MIGRATION_LOCK = 0x6D696772617465
"""The key of the lock that a migration holds on PostgreSQL: the letters of its verb."""

LOCK_TIMEOUT = timedelta(seconds=5)
"""For another program's lock, on the file or on rows, to be released."""

BUSY_INTERVAL = timedelta(milliseconds=10)
"""Between two tries where SQLite itself does not wait for a lock."""

CONNECT_TIMEOUT = timedelta(seconds=5)
"""For PostgreSQL to take a new connection."""

STATEMENT_TIMEOUT = timedelta(seconds=10)
"""For a statement of a server on PostgreSQL; others, such as a worker's, take what they need."""

KEEPALIVES = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}
"""Probes of a silent connection to PostgreSQL: after 11 s without an answer it is given up."""


class Durability(enum.Enum):
    """What a committed move survives."""

    POWER = "power"
    """A power cut: every commit waits for the disk."""
    PROCESS = "process"
    """The end of any process, but not a power cut."""


def database_file(url: str) -> Path | None:
    """The file of an SQLite database; ``None`` for one on a server.

    Raises:
        ArgumentError: it is no URL of a database, or of one in memory.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return None
    name = parsed.database
    if not name or name == ":memory:" or "uri" in parsed.query:
        raise ArgumentError("an SQLite database has to be a file, such as sqlite:///meijin.db")
    return Path(name)


class Database:
    """One database with a connection that writes and connections that read.

    SQLite begins every writing transaction at once (``BEGIN IMMEDIATE``): a
    transaction that turns from reading to writing would fail whenever another
    writer came between. Readers see one snapshot on both databases.

    Args:
        statement_timeout: The most that one statement may take on PostgreSQL, but for a
            migration's; ``None`` lets it take what it needs.

    Raises:
        ArgumentError: the URL is that of no such database.
    """

    def __init__(
        self,
        url: str,
        durability: Durability = Durability.POWER,
        *,
        statement_timeout: timedelta | None = None,
    ) -> None:
        self.url = make_url(url)
        backend = self.url.get_backend_name()
        if backend not in BACKENDS:
            raise ArgumentError(f"{backend} is none of {', '.join(BACKENDS)}")
        self.file = database_file(url)
        """``None`` for PostgreSQL."""
        self.is_sqlite = self.file is not None
        self.is_synced = durability is Durability.POWER
        """Commits wait for the disk."""
        self._connections: WeakSet[Any] = WeakSet()
        if self.is_sqlite:
            self.writer, self.reader = _sqlite_engines(url, durability)
        else:
            self.writer, self.reader = _postgresql_engines(self.url, durability, statement_timeout)
            for engine in (self.writer, self.reader):
                event.listen(engine, "connect", lambda new, _: self._connections.add(new))
        self._is_closed = False
        for engine in (self.writer, self.reader):
            event.listen(engine, "checkin", self._take_back)
        self.fence = Fence(self.writer)
        """Ends the writing of a server that was replaced by another; raised by that one's claim."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def cut(self) -> None:
        """Cut the connections to PostgreSQL, so that no thread waits for its answer any more."""
        closed = self.writer.dialect.loaded_dbapi.Error
        for connection in list(self._connections):
            with suppress(OSError, closed):
                _shut_down(connection.fileno())

    def close(self) -> None:
        """Close every connection; one that a thread still uses is closed when it is through."""
        self._is_closed = True
        self.reader.dispose()
        self.writer.dispose()

    def _take_back(self, _connection: object, record: ConnectionPoolEntry) -> None:
        """A connection returns to its pool, which is gone once the database is closed."""
        if self._is_closed:
            record.invalidate()

    def migrate(self) -> None:
        """Bring the tables to the current schema; does nothing when they are.

        Of several processes that do so at once one does it, and the others wait: the transaction
        has SQLite to itself, and takes a lock of its own in PostgreSQL.

        Raises:
            UnknownSchemaError: they are of a later release, or from before the first one.
        """
        with self.writer.connect() as connection, self._unchecked(connection), connection.begin():
            if not self.is_sqlite:
                connection.execute(text("SET LOCAL statement_timeout = 0"))
                connection.execute(text("SET LOCAL lock_timeout = 0"))
                connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_LOCK)))
            upgrade(connection)

    def check_schema(self) -> None:
        """Accept tables of the current schema, for a process that leaves it to the server.

        Raises:
            UnknownSchemaError: there are none, or they are of another release.
        """
        if self.file is not None and not self.file.exists():  # connecting would make it
            raise UnknownSchemaError(f"there is no {self.file}; start the server first")
        with self.reader.connect() as connection:
            check_current(connection)

    @contextmanager
    def _unchecked(self, connection: Connection) -> Iterator[None]:
        """Have SQLite drop a table that others refer to, as the steps do that make one anew.

        It can be told so outside of transactions alone.
        """
        driver = connection.connection.driver_connection
        assert driver is not None
        if self.is_sqlite:
            driver.execute("PRAGMA foreign_keys = OFF")
        try:
            yield
        finally:
            if self.is_sqlite:
                driver.execute("PRAGMA foreign_keys = ON")

    def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query in a snapshot of its own."""
        with self.reader.begin() as connection:
            return query(connection, *args, **kwargs)

    def write(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work` in one writing transaction."""
        with self.writer.begin() as connection:
            return work(connection, *args, **kwargs)

    def claim(self) -> AbstractContextManager[None]:
        """Hold the database for one server.

        Raises:
            StoreInUseError: another server holds it.
        """
        if self.file is not None:
            # Of the file itself, though a server may know it by a link.
            return FileClaim(Path(f"{self.file.resolve()}.lock"), of=str(self.file))
        return AdvisoryClaim(self.writer, self.fence)


def _shut_down(number: int) -> None:
    """End a connection by its file's number, which stays its owner's to close."""
    with socket.socket(fileno=os.dup(number)) as end:
        end.shutdown(socket.SHUT_RDWR)


def is_unavailable(error: DBAPIError) -> bool:
    """Whether the database may recover: it is locked, full, stopped or restarting."""
    return isinstance(error, (OperationalError, InterfaceError, InternalError))


def _sqlite_engines(url: str, durability: Durability) -> tuple[Engine, Engine]:
    synchronous = "FULL" if durability is Durability.POWER else "NORMAL"
    is_given = "timeout" in make_url(url).query
    options = {} if is_given else {"timeout": LOCK_TIMEOUT.total_seconds()}
    write_ahead = ("journal_mode = WAL", f"synchronous = {synchronous}", "foreign_keys = ON")
    writer = _sqlite_engine(url, options, "BEGIN IMMEDIATE", *write_ahead)
    return writer, _sqlite_engine(url, options, "BEGIN", "query_only = ON")


def _sqlite_engine(url: str, options: dict[str, Any], begin: str, *pragmas: str) -> Engine:
    engine = create_engine(url, connect_args=options)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own
        connection.isolation_level = None
        with closed_on_failure(connection):
            for pragma in pragmas:
                _set_pragma(connection, pragma)

    event.listen(engine, "begin", partial(_begin, statement=begin))
    return engine


def _set_pragma(connection: sqlite3.Connection, pragma: str) -> None:
    """Set a pragma, as soon as no other connection makes the file a write-ahead one.

    SQLite does not wait for that itself, whatever its timeout: 2 % of four that open a new file at
    once find it locked.
    """
    deadline = time.monotonic() + LOCK_TIMEOUT.total_seconds()
    while True:
        try:
            connection.execute(f"PRAGMA {pragma}")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(BUSY_INTERVAL.total_seconds())
        else:
            return


def _begin(connection: Connection, *, statement: str) -> None:
    """Begin a transaction, straight on the driver's cursor: a third of the time of a group commit's."""
    dialect = connection.dialect
    try:
        connection.connection.cursor().execute(statement)
    except dialect.loaded_dbapi.Error as error:
        base = dialect.loaded_dbapi.Error
        raise DBAPIError.instance(statement, None, error, base, dialect=dialect) from error


def _postgresql_engines(
    url: URL, durability: Durability, statement_timeout: timedelta | None
) -> tuple[Engine, Engine]:
    commit = "on" if durability is Durability.POWER else "off"
    settings = {
        "lock_timeout": LOCK_TIMEOUT // timedelta(milliseconds=1),
        "statement_timeout": (statement_timeout or timedelta()) // timedelta(milliseconds=1),
        **{f"tcp_{name}": value for name, value in KEEPALIVES.items()},
    }
    writer = create_engine(
        url,
        connect_args=_connect_args(url, {**settings, "synchronous_commit": commit}),
        pool_pre_ping=True,
    )
    reader = create_engine(
        url,
        connect_args=_connect_args(url, settings),
        isolation_level="REPEATABLE READ",
        execution_options={"postgresql_readonly": True},
        pool_pre_ping=True,
    )
    return writer, reader


def _connect_args(url: URL, settings: Mapping[str, object]) -> dict[str, object]:
    """What a connection is opened with, and the server's settings for it; the URL's own prevail."""
    given = url.query.get("options", "")
    options = [f"-c {name}={value}" for name, value in settings.items()]
    arguments = {
        "connect_timeout": int(CONNECT_TIMEOUT.total_seconds()),
        "tcp_user_timeout": 2 * CONNECT_TIMEOUT // timedelta(milliseconds=1),
        **KEEPALIVES,
    }
    kept = {name: value for name, value in arguments.items() if name not in url.query}
    given = given if isinstance(given, str) else " ".join(given)
    return {**kept, "options": " ".join((*options, given)).strip()}
