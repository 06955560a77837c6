"""What several parts' tests share: an event loop, settings of Hypothesis, a PostgreSQL server."""

import asyncio
import faulthandler
import itertools
import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVarTuple

import psycopg
import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from meijin.store import Database

# A busy machine is no failure: the default deadline is 200 ms per example.
settings.register_profile("meijin", deadline=None)
settings.load_profile("meijin")

LONG = (
    "benchmarks",
    "bots/core/test_process.py",
    "fuzz",
    "simulation",
    "system",
)
"""Folders and files below this one whose tests take seconds: only those marked ``smoke`` are
among the tests that one waits for."""

PATIENCE = 60.0
"""Seconds that a test waits for an event of its own process, which other work may delay; processes
of their own have more in `tests.processes`."""

HUNG_S = 60.0
"""Seconds beyond a test's own timeout after which its process is ended. That timeout is a signal:
it interrupts Python's own code alone, and only once."""

_stderr = pytest.StashKey[int]()
_Arguments = TypeVarTuple("_Arguments")

MISSING = "needs PostgreSQL's initdb and pg_ctl on the PATH"


class PostgreSQL:
    """A PostgreSQL server in a folder of its own, reached over a Unix socket there.

    It refuses to run as root, so root runs it as another user. It syncs nothing to the
    disk: it survives being killed, not a power cut.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._names = (f"meijin_{number}" for number in itertools.count(1))
        self._user = _other_user() if os.geteuid() == 0 else None
        if self._user is not None:
            shutil.chown(folder, self._user)
        options = ("--username=meijin", "--auth=trust", "--encoding=UTF8", "--no-sync")
        self._run("initdb", f"--pgdata={self._data}", *options)

    def start(self) -> None:
        options = f"-F -k {self._folder} -c listen_addresses=''"
        self._run(
            "pg_ctl", "start", "-w", "-D", self._data, "-l", self._folder / "log", "-o", options
        )

    def stop(self, mode: str = "fast") -> None:
        """Stop the server: ``fast`` ends its clients, ``immediate`` is a crash."""
        self._run("pg_ctl", "stop", "-w", "-D", self._data, "-m", mode)

    @contextmanager
    def hung(self) -> Iterator[None]:
        """Have every process of the server stand still: nothing answers, and nothing fails."""
        postmaster = int((self._data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(postmaster, signal.SIGSTOP)
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        stopped = [postmaster, *map(int, children)]
        try:
            for pid in stopped:
                with suppress(ProcessLookupError):  # it may have ended meanwhile
                    os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in stopped:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def new_database(self) -> str:
        """The SQLAlchemy URL of a database that was just made and is empty."""
        name = next(self._names)
        with psycopg.connect(
            f"host={self._folder} user=meijin dbname=postgres", autocommit=True
        ) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://meijin@/{name}?host={self._folder}"

    def _run(self, command: str, *arguments: str | Path) -> None:
        # Not by ``user=``: that forks, which a process that has gRPC may not survive.
        other: list[str] = []
        if self._user is not None:
            group = pwd.getpwnam(self._user).pw_gid
            other = ["setpriv", f"--reuid={self._user}", f"--regid={group}", "--clear-groups"]
        subprocess.run(
            [*other, command, *arguments],
            check=True,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
        )


@contextmanager
def running_postgresql() -> Iterator[PostgreSQL]:
    # The path of a socket is at most 107 bytes, so not under pytest's long folders.
    with tempfile.TemporaryDirectory(prefix="meijin-postgresql-") as folder:
        server = PostgreSQL(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")


def _other_user() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


async def until(condition: Callable[[], object]) -> None:
    """Wait until something holds that no event tells of, as long as a busy machine may take."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.005)


class TestLoop(asyncio.SelectorEventLoop):
    """An event loop that hears no more once it is closed.

    All loops of a process share gRPC's queue of events: what it has still to say of a call of an
    earlier test, it says on the loop of the running one, where an error would be taken for that
    test's.
    """

    __test__ = False

    def call_soon_threadsafe(
        self,
        callback: Callable[[*_Arguments], object],
        *args: *_Arguments,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Call a function soon, unless the loop is closed."""
        if self.is_closed():
            return asyncio.Handle(callback, args, self, context)
        return super().call_soon_threadsafe(callback, *args, context=context)


def pytest_configure(config: pytest.Config) -> None:
    with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        config.stash[_stderr] = os.dup(2)


def _watched(item: pytest.Item) -> Generator[None, object, object]:
    """Have a process that hangs show where, and end: a new one runs the other tests.

    Pytest's own `faulthandler_timeout` looks away once a test has failed, also from its teardown.
    """
    own = item.get_closest_marker("timeout")
    timeout = float(item.config.getini("timeout") if own is None else own.args[0])
    file = item.config.stash[_stderr]
    faulthandler.dump_traceback_later(timeout + HUNG_S, exit=True, file=file)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


pytest_runtest_setup = pytest_runtest_call = pytest_runtest_teardown = pytest.hookimpl(
    wrapper=True, tryfirst=True
)(_watched)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        name = item.path.relative_to(here).as_posix()
        if name.startswith(LONG) and item.get_closest_marker("smoke") is None:
            item.add_marker(pytest.mark.long)


@pytest.fixture
def database(tmp_path: Path) -> Iterator["Database"]:
    """A fresh one on SQLite."""
    from meijin.store import Database, Durability

    with Database(f"sqlite:///{tmp_path / 'meijin.db'}", Durability.PROCESS) as database:
        database.migrate()
        yield database


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Processes hear SIGINT, also where the tests run in a shell's background, which ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, object]]:
    """Tests that are coroutines, and their fixtures, run on asyncio, all in one task."""
    return "asyncio", {"loop_factory": TestLoop}


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """A running PostgreSQL server, stopped at the end of the session."""
    if shutil.which("initdb") is None or shutil.which("pg_ctl") is None:
        pytest.skip(MISSING)
    with running_postgresql() as server:
        yield server


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Keep everybody else from writing to an SQLite database."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


@dataclass(frozen=True, slots=True)
class Outage:
    """A database, and what makes it answer nothing for as long as a block lasts."""

    url: str
    begin: Callable[[], AbstractContextManager[None]]


@pytest.fixture(params=["sqlite", "postgresql"])
def outage(request: pytest.FixtureRequest, tmp_path: Path) -> Outage:
    """An empty database that can be locked or hung, once of each kind."""
    if request.param == "sqlite":
        file = tmp_path / "meijin.db"
        return Outage(f"sqlite:///{file}", partial(locked, file))
    server: PostgreSQL = request.getfixturevalue("postgresql")
    return Outage(server.new_database(), server.hung)


@pytest.fixture
def any_database_url(outage: Outage) -> str:
    """The URL of an empty database, once of each kind."""
    return outage.url
