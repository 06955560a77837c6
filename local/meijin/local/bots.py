"""Bots as processes: how long one is waited for, what is told of it, and what starts it again."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import grpc

from meijin.bots.builtin.compiled import COMPILING
from meijin.bots.sdk.client import CONNECTED
from meijin.local.child import FAILURE, Child, Tell, start_child, stopping
from meijin.local.connection import Connection, list_bots, set_state
from meijin.local.errors import ArenaError, BotLostError
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.contract import is_own_name

BotWords = Sequence[str]
"""What `bot run` takes: a bot, and options; or the arguments of any command."""


def own_name(spec: str) -> str:
    """The name of a bot that `bot run` takes: a built-in one's, or that of its file."""
    path, of_class, _ = spec.partition(".py:")
    return Path(f"{path}.py" if of_class else path).stem


def told_apart(sides: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Names of bots by what differs: ``alphabeta:nodes=3000``; equal ones have numbers, ``bot-2``.

    Args:
        sides: Of each its own name and its options, ``name=value``. Those that all of its name
            have are left out, and all of them where they make no name.
    """
    parts = []
    for name, options in sides:
        shared = set.intersection(*(set(theirs) for other, theirs in sides if other == name))
        own = ":" + ",".join(each for each in options if each not in shared)
        parts.append((name, own if is_own_name(name + own) else ""))
    return [
        f"{name}-{parts[: place + 1].count((name, own))}{own}"
        if parts.count((name, own)) > 1
        else name + own
        for place, (name, own) in enumerate(parts)
    ]


BOT_START_TIMEOUT = timedelta(minutes=5)
"""For a bot to connect, not counting the time in which it compiles its search."""

NOTICE_INTERVAL = timedelta(seconds=2)
"""After it a bot that is not connected yet has its last line passed on, and then again."""

POLL_INTERVAL = timedelta(milliseconds=50)
"""Between two looks whether bots are up."""


class Startup:
    """How long a bot that starts is waited for, and what of its log is passed on."""

    def __init__(self, now: float, limit: timedelta = BOT_START_TIMEOUT) -> None:
        self.limit = limit
        self._deadline = now + limit.total_seconds()
        self._next_notice = now + NOTICE_INTERVAL.total_seconds()
        self._last_notice = ""

    def notice(self, line: str, now: float) -> str:
        """What to pass on of a bot whose last line this is; empty when there is no need to."""
        if COMPILING in line:
            self._deadline = now + self.limit.total_seconds()
        if line in ("", self._last_notice) or line.startswith(FAILURE) or now < self._next_notice:
            return ""
        if CONNECTED in line:  # since the server was asked who is there
            return ""
        self._last_notice = line
        self._next_notice = now + NOTICE_INTERVAL.total_seconds()
        return line

    def is_over(self, now: float) -> bool:
        return now > self._deadline


def wait_for_bots(
    connection: Connection, children: Mapping[str, Child], tell: Tell, limit: timedelta
) -> None:
    """Return when all bots are connected; what keeps one that is slow is told.

    Raises:
        BotLostError: one has ended, or has not connected within the limit.
    """
    startups = {name: Startup(time.monotonic(), limit) for name in children}
    while True:
        for bot in list_bots(connection, connected=True, hidden=True):
            startups.pop(bot.name, None)
        if not startups:
            return
        for name, startup in sorted(startups.items()):
            _look_at_bot(name, startup, children[name], tell)
        time.sleep(POLL_INTERVAL.total_seconds())


def _look_at_bot(name: str, startup: Startup, child: Child, tell: Tell) -> None:
    """Tell what a bot that is not connected yet says, or raise that it has ended."""
    if child.process.poll() is not None:
        for line in child.last_frames[:-1]:
            tell(line)
        raise BotLostError(f"{name} ended, {child.end}")
    now = time.monotonic()
    if notice := startup.notice(child.last_line, now):
        tell(f"{name}: {notice}")
    if startup.is_over(now):
        limit = startup.limit.total_seconds()
        raise BotLostError(f"{name} did not connect within {limit:g} s: {child.last_words}")


def commands_of(bots: Mapping[str, BotWords], address: str) -> dict[str, BotWords]:
    return {
        name: ["bot", "run", *words, f"--name={name}", f"--server={address}"]
        for name, words in bots.items()
    }


@contextmanager
def local_bots(
    connection: Connection, commands: Mapping[str, BotWords], *, folder: Path, tell: Tell
) -> Iterator[Mapping[str, Child]]:
    """Bots as processes, all of them connected; nobody looks after them.

    Raises:
        BotLostError: one of them does not come up.
    """
    with stopping() as children:
        for name, words in commands.items():
            children[name] = start_child(words, folder / f"{name}.log")
        wait_for_bots(connection, children, tell, BOT_START_TIMEOUT)
        yield children


CANCEL_INTERVAL = timedelta(milliseconds=200)
"""Between two looks for tournaments that wait for a bot that does not come back."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """How long bots are waited for, and how often they are started again."""

    restarts: int = 1
    """Of each bot, when its process ends while games are played."""
    start_timeout: timedelta = BOT_START_TIMEOUT
    on_end: Callable[[str], object] = lambda _: None
    """Is called with the name of a bot whose process has ended while games were played."""


@dataclass(slots=True)
class BotSupervisor:
    """Keeps bots running as child processes.

    The server sees a stream that ends, and no more: only who started a process knows how it ended.
    """

    connection: Connection
    folder: Path
    """Of the logs."""
    commands: Mapping[str, BotWords]
    """What each bot's process is started with, by the bot's name."""
    upkeep: Upkeep
    tell: Tell
    _children: dict[str, Child] = field(default_factory=dict, init=False)
    _changing: threading.Lock = field(default_factory=threading.Lock, init=False)
    _is_over: threading.Event = field(default_factory=threading.Event, init=False)
    _lost: ArenaError | None = field(default=None, init=False)

    @contextmanager
    def running(self) -> Iterator[None]:
        """All bots, connected, until the end.

        When one is lost, all tournaments of the server are cancelled.

        Raises:
            BotLostError: one did not connect, or has ended for good.
        """
        with stopping() as self._children:
            for name in self.commands:
                self._start(name, goes_on=False)
            wait_for_bots(self.connection, self._children, self.tell, self.upkeep.start_timeout)
            for name in self.commands:
                threading.Thread(target=self._keep, args=(name,), daemon=True).start()
            try:
                yield
            finally:
                with self._changing:
                    self._is_over.set()
        if self._lost is not None:
            raise self._lost

    def _start(self, name: str, *, goes_on: bool) -> None:
        log = self.folder / f"{name}.log"
        self._children[name] = start_child(self.commands[name], log, goes_on=goes_on)

    def _keep(self, name: str) -> None:
        """Start a bot again when it ends; the thread lives as long as what it has started."""
        for is_last in [False] * self.upkeep.restarts + [True]:
            child = self._children[name]
            end = child.end
            with self._changing:
                if self._is_over.is_set():
                    return
                self.upkeep.on_end(name)
                if is_last:
                    break
                for line in child.last_frames[:-1]:
                    self.tell(line)
                self.tell(f"{name} ended, {end}; it is started again")
                self._start(name, goes_on=True)
            if not self._has_returned(name):
                return
        self._give_up(BotLostError(f"{name} ended, {end}"))

    def _has_returned(self, name: str) -> bool:
        """Wait for a bot that was started again; give all up where it does not come."""
        children = {name: self._children[name]}
        try:
            wait_for_bots(self.connection, children, self.tell, self.upkeep.start_timeout)
        except (ArenaError, grpc.RpcError) as error:
            if not self._is_over.is_set() and isinstance(error, ArenaError):
                self._give_up(error)
            return False
        return True

    def _give_up(self, error: ArenaError) -> None:
        """Stop whatever would wait for a bot that has gone."""
        self._lost = error
        while True:
            cancel_all(self.connection)
            if self._is_over.wait(CANCEL_INTERVAL.total_seconds()):
                return


def cancel_all(connection: Connection) -> None:
    """Cancel all tournaments that run."""
    list_tournaments = connection.tournaments.ListTournaments
    try:
        listed = connection.ask(list_tournaments, pb.ListTournamentsRequest())
        for tournament in listed.tournaments:
            if tournament.state == pb.TOURNAMENT_STATE_RUNNING:
                set_state(connection, tournament.tournament_id, pb.TOURNAMENT_STATE_CANCELLED)
    except (grpc.RpcError, ValueError):
        return  # it has just ended by itself, or so has the server, which others notice
