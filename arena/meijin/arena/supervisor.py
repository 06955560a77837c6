"""A supervisor of bots: each is started again when it ends, so many times and no more."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grpc

from meijin.arena.child import Child, Tell, start_child, stopping
from meijin.arena.connection import Connection
from meijin.arena.errors import ArenaError, BotLostError
from meijin.arena.startup import BOT_START_TIMEOUT, wait_for_bots
from meijin.v1 import tournament_service_pb2 as pb

CANCEL_INTERVAL = timedelta(milliseconds=200)
"""Between two looks for tournaments that wait for a bot that does not come back."""

Words = Sequence[str]
"""The arguments of a `meijin` command."""


def _ignore(_name: str) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """How long bots are waited for, and how often they are started again."""

    restarts: int = 1
    """Of each bot, when its process ends while games are played."""
    start_timeout: timedelta = BOT_START_TIMEOUT
    on_end: Callable[[str], object] = _ignore
    """Is called with the name of a bot whose process has ended while games were played."""


class Supervisor:
    """Keeps bots running as child processes.

    The server sees a stream that ends, and no more: only who started a process knows how it ended.

    Args:
        commands: What each bot's process is started with, by the bot's name.
    """

    def __init__(
        self,
        connection: Connection,
        folder: Path,
        commands: Mapping[str, Words],
        upkeep: Upkeep,
        tell: Tell,
    ) -> None:
        self._connection = connection
        self._folder = folder
        self._commands = commands
        self._upkeep = upkeep
        self._tell = tell
        self._children: dict[str, Child] = {}
        self._changing = threading.Lock()
        self._is_over = threading.Event()
        self._lost: ArenaError | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """All bots, connected, until the end.

        When one is lost, all tournaments of the server are cancelled.

        Raises:
            BotLostError: one did not connect, or has ended for good.
        """
        with stopping() as self._children:
            for name in self._commands:
                self._start(name, goes_on=False)
            limit = self._upkeep.start_timeout
            wait_for_bots(self._connection, self._children, self._tell, limit)
            for name in self._commands:
                threading.Thread(
                    target=self._keep, args=(name,), name=f"{name}'s end", daemon=True
                ).start()
            try:
                yield
            finally:
                with self._changing:
                    self._is_over.set()
        if self._lost is not None:
            raise self._lost

    def _start(self, name: str, *, goes_on: bool) -> None:
        log = self._folder / f"{name}.log"
        self._children[name] = start_child(self._commands[name], log, goes_on=goes_on)

    def _keep(self, name: str) -> None:
        """Start a bot again when it ends; the thread lives as long as what it has started."""
        for is_last in [False] * self._upkeep.restarts + [True]:
            child = self._children[name]
            end = child.end
            with self._changing:
                if self._is_over.is_set():
                    return
                self._upkeep.on_end(name)
                if is_last:
                    break
                self._tell_of(name, child, f"{end}; it is started again")
                self._start(name, goes_on=True)
            if not self._has_returned(name):
                return
        self._give_up(BotLostError(f"{name} ended, {end}"))

    def _tell_of(self, name: str, child: Child, end: str) -> None:
        for line in child.last_frames[:-1]:
            self._tell(line)
        self._tell(f"{name} ended, {end}")

    def _has_returned(self, name: str) -> bool:
        """Wait for a bot that was started again; give all up where it does not come."""
        children = {name: self._children[name]}
        try:
            limit = self._upkeep.start_timeout
            wait_for_bots(self._connection, children, self._tell, limit)
        except (ArenaError, grpc.RpcError) as error:
            if not self._is_over.is_set() and isinstance(error, ArenaError):
                self._give_up(error)
            return False
        return True

    def _give_up(self, error: ArenaError) -> None:
        """Stop whatever would wait for a bot that has gone."""
        self._lost = error
        while True:
            _cancel_all(self._connection)
            if self._is_over.wait(CANCEL_INTERVAL.total_seconds()):
                return


def _cancel_all(connection: Connection) -> None:
    service = connection.tournaments
    try:
        listed = connection.ask(service.ListTournaments, pb.ListTournamentsRequest())
        for tournament in listed.tournaments:
            if tournament.state == pb.TOURNAMENT_STATE_RUNNING:
                request = pb.UpdateTournamentRequest(
                    tournament_id=tournament.tournament_id, state=pb.TOURNAMENT_STATE_CANCELLED
                )
                connection.ask_with_token(service.UpdateTournament, request)
    except (grpc.RpcError, ValueError):
        return  # it has just ended by itself, or so has the server, which others notice
