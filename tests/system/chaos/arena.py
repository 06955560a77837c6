"""The arena of a campaign: its processes, and how each fault is injected into them."""

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.processes import Process, Processes, children_of, eventually
from tests.system.chaos.plan import EMBEDDED_ONLY, POSTGRESQL_ONLY, Injection, Kind, Step
from tests.system.chaos.proxy import Link
from tests.system.chaos.stepped_clock import SteppedClock
from tests.system.server import Server

if TYPE_CHECKING:
    from tests.conftest import PostgreSQL

BOTS = ("ada", "blaise", "charles", "dijkstra", "edsger-w", "fred", "grace", "herbert")

PATIENCE = 240.0
"""Seconds within which anything has to go on; a busy machine needs some of them."""
THOUGHT = 0.2
"""Seconds that a bot takes for a move."""
DELAY = 0.1
"""Seconds that a delayed byte takes at least, each way, and twice as many at most."""
HOUR = 3600
DISK_BYTES = 48 * 2**20
"""The size of the disk that is filled up."""
FILLING = (2**20, 2**12)
"""Bytes in a write, until there is room for no more of these."""


class Arena:
    """A server with its worker and its Valkey, and eight bots behind a proxy."""

    def __init__(self, folder: Path, postgresql: "PostgreSQL | None" = None) -> None:
        self.processes = Processes(folder)
        self.left_out: dict[Kind, str] = {}
        """The kinds of faults that this machine does not let us inject, and why."""
        self._postgresql = postgresql
        self._stack = ExitStack()
        self._links: dict[str, Link] = {}
        self._bots: dict[str, Process] = {}
        self._hour = 1

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._open(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _open(self, stack: ExitStack) -> None:
        folder = self.processes.folder
        (folder / "data").mkdir(mode=0o700)
        self._mount(stack, folder / "data")
        environment = self._step_clock(folder)
        stack.callback(self.processes.kill_all)
        options = ["--open", "--drain=0.5"]
        if self._postgresql is not None:
            options.append(f"--database={self._postgresql.new_database()}")
        self.server = Server(self.processes, *options, MEIJIN_SWEEP="1", **environment)
        for name in BOTS:
            self._links[name] = Link(self.server.port)
            stack.callback(self._links[name].close)
            self._start_bot(name)
        self.wait_for_bots()

    # -- what there is ----------------------------------------------------------------------

    @property
    def kinds(self) -> set[Kind]:
        others = EMBEDDED_ONLY if self._postgresql is not None else POSTGRESQL_ONLY
        return set(Kind) - others - set(self.left_out)

    @property
    def bots(self) -> Mapping[str, Process]:
        return self._bots

    def wait_for_bots(self) -> None:
        eventually(lambda: self.server.connected_bots() >= set(BOTS), patience=PATIENCE)

    def _mount(self, stack: ExitStack, folder: Path) -> None:
        """Put the data on a small disk of their own, where that is allowed."""
        if self._postgresql is not None:
            return
        mount = ("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=700", "chaos", str(folder))
        try:
            subprocess.run(mount, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            self.left_out[Kind.DISK_FULL] = "a tmpfs can't be mounted; root may"
        else:
            stack.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
            ignore = shutil.ignore_patterns("*.sock")
            stack.callback(shutil.copytree, folder, folder.with_name("data-at-end"), ignore=ignore)

    def _step_clock(self, folder: Path) -> dict[str, str]:
        if not SteppedClock.is_possible():
            self.left_out[Kind.CLOCK_STEPPED] = "there is no cc, the C compiler"
            return {}
        self._clock = SteppedClock(folder)
        return self._clock.environment

    def _start_bot(self, name: str) -> None:
        address = self._links[name].address
        self._bots[name] = self.server.start_bot(name, address, delay=THOUGHT)

    def child(self, word: str) -> int | None:
        """The server's child with a word in its command line; ``None`` while there is none."""
        for pid in children_of(self.server.process.pid):
            with suppress(OSError):
                if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    return pid
        return None

    # -- faults -------------------------------------------------------------------------------

    def inject(self, step: Step) -> None:
        """Let faults strike together; return when the last one is mended."""
        with ExitStack() as stack:
            for injection in step:
                stack.enter_context(self._injected(injection))
            time.sleep(max(injection.seconds for injection in step))

    def _injected(self, injection: Injection) -> AbstractContextManager[None]:
        kind = injection.kind
        one, every = injection.victim, list(self._links.values())
        links = [self._links[one]] if one else every
        ways: dict[Kind, Callable[[], AbstractContextManager[None]]] = {
            Kind.SERVER_KILLED: lambda: self._server_killed(with_children=False),
            Kind.SERVER_KILLED_WITH_CHILDREN: lambda: self._server_killed(with_children=True),
            Kind.SERVER_STOPPED: lambda: _stopped(self.server.process.pid),
            Kind.SERVER_RESTARTED: self._server_restarted,
            Kind.SERVER_KILLED_WAITING: self._server_killed_waiting,
            Kind.CLOCK_STEPPED: self._clock_stepped,
            Kind.DATABASE_LOCKED: self._database_locked,
            Kind.DISK_FULL: self._disk_full,
            Kind.DATABASE_CRASHED: lambda: self._database_away("immediate"),
            Kind.DATABASE_RESTARTED: lambda: self._database_away("fast"),
            Kind.WORKER_KILLED: lambda: _killed(self.child("worker")),
            Kind.WORKER_STOPPED: lambda: _stopped(self.child("worker")),
            Kind.VALKEY_KILLED: lambda: _killed(self.child("valkey")),
            Kind.VALKEY_STOPPED: lambda: _stopped(self.child("valkey")),
            Kind.CONNECTION_CUT: lambda: _cut(links),
            Kind.CONNECTIONS_CUT: lambda: _cut(links),
            Kind.CONNECTION_DELAYED: lambda: _delayed(links),
            Kind.CONNECTIONS_HELD: lambda: _held(links),
            Kind.CONNECTION_HELD: lambda: _held(links),
            Kind.BOT_KILLED: lambda: self._bot_killed(one),
            Kind.BOT_STOPPED: lambda: _stopped(self._bots[one].pid),
            Kind.BOT_HUNG: lambda: _stopped(self._bots[one].pid),
        }
        return ways[kind]()

    @contextmanager
    def _server_killed(self, *, with_children: bool) -> Iterator[None]:
        self.server.process.kill(with_children=with_children)
        yield
        self.server.start()

    @contextmanager
    def _server_killed_waiting(self) -> Iterator[None]:
        with self._database_locked():
            yield
            self.server.process.kill()
        self.server.start()

    @contextmanager
    def _server_restarted(self) -> Iterator[None]:
        status = self.server.process.stop()
        assert status == 0, f"the server ended with status {status}"
        yield
        self.server.start()

    @contextmanager
    def _clock_stepped(self) -> Iterator[None]:
        self._clock.step(self._hour * HOUR)
        self._hour = {1: -1, -1: 0, 0: 1}[self._hour]
        yield

    @contextmanager
    def _database_locked(self) -> Iterator[None]:
        database = sqlite3.connect(self.server.data / "meijin.db", timeout=60, isolation_level=None)
        try:
            database.execute("BEGIN EXCLUSIVE")
            yield
            database.execute("ROLLBACK")
        finally:
            database.close()

    @contextmanager
    def _disk_full(self) -> Iterator[None]:
        path = self.server.data / "filling"
        with path.open("wb", buffering=0) as file:
            for size in FILLING:
                with suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass
        try:
            yield
        finally:
            path.unlink()

    @contextmanager
    def _database_away(self, mode: str) -> Iterator[None]:
        assert self._postgresql is not None
        self._postgresql.stop(mode)
        try:
            yield
        finally:
            self._postgresql.start()

    @contextmanager
    def _bot_killed(self, name: str) -> Iterator[None]:
        self._bots[name].kill()
        yield
        self._start_bot(name)


@contextmanager
def _cut(links: list[Link]) -> Iterator[None]:
    for link in links:
        link.cut()
    yield


@contextmanager
def _held(links: list[Link]) -> Iterator[None]:
    for link in links:
        link.is_open.clear()
    try:
        yield
    finally:
        for link in links:
            link.is_open.set()


@contextmanager
def _delayed(links: list[Link]) -> Iterator[None]:
    for link in links:
        link.delay = DELAY
    try:
        yield
    finally:
        for link in links:
            link.delay = 0.0


@contextmanager
def _stopped(pid: int | None) -> Iterator[None]:
    _send(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        _send(pid, signal.SIGCONT)


@contextmanager
def _killed(pid: int | None) -> Iterator[None]:
    """Kill a process, if there is one; it is somebody else's to start it again."""
    _send(pid, signal.SIGKILL)
    yield


def _send(pid: int | None, number: signal.Signals) -> None:
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
