"""A worker as a child process: it plays the games of a local match on every core."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from meijin.local.bots import BOT_START_TIMEOUT, cancel_all
from meijin.local.child import Child, Tell, start_child, status_text, stopping
from meijin.local.connection import Connection
from meijin.local.errors import ArenaError, BotLostError
from meijin.local.sides import Side
from meijin.v1 import tournament_service_pb2 as pb
from meijin.worker.cores import cores
from meijin.worker.plan import Plan

POLL_INTERVAL = timedelta(milliseconds=20)
"""Between two looks whether the worker is ready."""

CANCEL_INTERVAL = timedelta(milliseconds=200)
"""Between two looks for tournaments that wait for a worker that does not come back."""

MOST_GAMES = 1024
"""Each has a process of its own, and two players."""

RESTARTS = 3
"""How often a worker is started again that was killed."""

WORKER = (sys.executable, "-P", "-m", "meijin.worker")


class PlaysManyError(ArenaError):
    """A bot plays many games at once by itself: it is to be connected, and no worker plays it."""


def games_at_once(wanted: pb.TournamentSettings, sides: Iterable[Side]) -> int:
    """How many games a worker is to play at once: what is asked for, or what the cores bear.

    Never more than there are games.

    Raises:
        ArenaError: that are too many.
    """
    games = wanted.max_games or max(1, len(cores()) // max(side.threads for side in sides))
    bots, rounds = len(wanted.bots), wanted.rounds
    if wanted.format == pb.TOURNAMENT_FORMAT_SPRT:
        there = wanted.sprt.most_games
    elif wanted.format == pb.TOURNAMENT_FORMAT_GAUNTLET:
        there = rounds * (bots - 1)
    elif wanted.format == pb.TOURNAMENT_FORMAT_ROUND_ROBIN:
        there = rounds * bots * (bots - 1) // 2
    else:
        there = 0
    games = min(games, there or games)
    if games > MOST_GAMES:
        raise ArenaError(
            f"{games} games at once are too many; at most {MOST_GAMES} are played here"
        )
    return games


@dataclass(slots=True)
class WorkerSupervisor:
    """Keeps a worker running."""

    connection: Connection
    plan: Plan
    tell: Tell
    on_loss: Callable[[], object] = lambda: None
    """Is called when the worker has ended while games were played."""
    limit: timedelta = BOT_START_TIMEOUT
    """For a side to get ready, not counting the time in which it compiles its search."""
    _children: dict[str, Child] = field(default_factory=dict, init=False)
    _is_over: threading.Event = field(default_factory=threading.Event, init=False)
    _changing: threading.Lock = field(default_factory=threading.Lock, init=False)
    _lost: ArenaError | None = field(default=None, init=False)

    @contextmanager
    def running(self) -> Iterator[None]:
        """The worker, with all of its sides ready, until the end.

        Raises:
            BotLostError: a side can't be started, or the worker ends again and again; all
                tournaments of the server are cancelled then.
            PlaysManyError: a side is a bot that plays many games at once.
        """
        with stopping() as self._children:
            child = self._start(goes_on=False)
            self._wait(child)
            threading.Thread(target=self._keep, args=(child,), daemon=True).start()
            try:
                yield
            except ArenaError as error:
                raise self._lost or error from None
            finally:
                with self._changing:
                    self._is_over.set()
        if self._lost is not None:
            raise self._lost

    def _start(self, *, goes_on: bool) -> Child:
        folder = Path(self.plan.folder)
        path = folder / "worker.json"
        self.plan.write(path)
        child = start_child([str(path)], folder / "worker.log", goes_on=goes_on, program=WORKER)
        self._children["worker"] = child
        return child

    def _wait(self, child: Child) -> None:
        """Return when it is ready, and pass on what it says until then."""
        told, side, deadline = 0, "the worker", 0.0
        while True:
            has_ended = child.process.poll() is not None
            lines = child.words.splitlines()
            for line in lines[told:]:
                if self._is_ready(line):
                    return
                side = message_of(line).get("waiting", side)
            if not deadline or len(lines) > told:
                deadline = time.monotonic() + self.limit.total_seconds()
            told = len(lines)
            if has_ended:
                raise BotLostError(f"the worker ended, {_end(child)}")
            if time.monotonic() > deadline:
                raise BotLostError(f"{side} is not ready after {self.limit.total_seconds():g} s")
            time.sleep(POLL_INTERVAL.total_seconds())

    def _is_ready(self, line: str) -> bool:
        said = message_of(line)
        if not said:
            self.tell(line)
        if "many" in said:
            raise PlaysManyError(f"{said['many']} plays many games at once")
        if "error" in said:
            raise BotLostError(said["error"])
        return "ready" in said

    def _keep(self, child: Child) -> None:
        """Start a worker again that was killed; the thread lives as long as what it has started."""
        for left in reversed(range(RESTARTS + 1)):
            child.process.wait()
            with self._changing:
                if self._is_over.is_set():
                    return
                self.on_loss()
                said = message_of(child.last_line)
                if "error" in said or not left:
                    break
                self.tell(f"the worker ended, {_end(child)}; it is started again")
                child = self._start(goes_on=True)
            try:
                self._wait(child)
            except ArenaError as error:
                self._give_up(error)
                return
        self._give_up(BotLostError(said.get("error") or f"the worker ended, {_end(child)}"))

    def _give_up(self, error: ArenaError) -> None:
        """Stop whatever would wait for a worker that has gone."""
        self._lost = error
        while not self._is_over.is_set():
            cancel_all(self.connection)
            self._is_over.wait(CANCEL_INTERVAL.total_seconds())


def message_of(line: str) -> dict[str, str]:
    """What a worker says in a line of its log; nothing where the line is words for people."""
    if not line.startswith("{"):
        return {}
    try:
        said: dict[str, str] = json.loads(line)
    except ValueError:
        return {}
    return said


def _end(child: Child) -> str:
    """How a worker has ended; what it said last where that is words for people."""
    return status_text(child.process.wait()) if message_of(child.last_line) else child.end
