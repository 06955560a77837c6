"""A supervisor of bots, whose processes end as a test has them."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from meijin.arena import supervisor as module
from meijin.arena.child import Child
from meijin.arena.errors import BotLostError
from meijin.arena.supervisor import Supervisor, Upkeep
from meijin.v1 import tournament_service_pb2 as pb

ENDING = "import sys; sys.stdin.read(); print('IndexError: no cell', flush=True); sys.exit(3)"
"""What ends once it is told to, with its last words."""


class Server:
    """Knows a tournament that runs, and hears that it is cancelled."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.tournaments = SimpleNamespace(
            ListTournaments=self._list, UpdateTournament=self._cancel
        )

    def ask(self, method: Any, request: object) -> Any:
        """Call a method."""
        return method(request)

    ask_with_token = ask

    def _list(self, _request: object) -> pb.ListTournamentsResponse:
        running = pb.Tournament(tournament_id="7", state=pb.TOURNAMENT_STATE_RUNNING)
        return pb.ListTournamentsResponse(tournaments=[running])

    def _cancel(self, request: pb.UpdateTournamentRequest) -> None:
        assert request.tournament_id == "7"
        self.cancelled.set()


class Bots:
    """Starts processes that end when they are told to."""

    def __init__(self) -> None:
        self.started: list[Child] = []
        self._more = threading.Condition()

    def start(self, _words: Sequence[str], log: Path, *, goes_on: bool) -> Child:
        """Start one."""
        with log.open("a" if goes_on else "w") as file:
            command = [sys.executable, "-c", ENDING]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, text=True)
        child = Child(process, log)
        with self._more:
            self.started.append(child)
            self._more.notify_all()
        return child

    def end(self, number: int) -> None:
        """Have one end, once it was started."""
        with self._more:
            self._more.wait_for(lambda: len(self.started) > number)
        stdin = self.started[number].process.stdin
        assert stdin is not None
        stdin.close()


@pytest.fixture
def bots(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bots]:
    """In place of `meijin` processes; all of them connect at once."""
    bots = Bots()
    monkeypatch.setattr(module, "start_child", bots.start)
    monkeypatch.setattr(module, "wait_for_bots", lambda *_: None)
    yield bots
    for child in bots.started:
        assert child.process.stdin is not None
        child.process.stdin.close()


def supervisor(server: Server, folder: Path, told: list[str], restarts: int) -> Supervisor:
    """Of one bot."""
    upkeep = Upkeep(restarts, timedelta(seconds=5), on_end=lambda name: told.append(f"{name}!"))
    return Supervisor(server, folder, {"ada": ()}, upkeep, told.append)  # type: ignore[arg-type]


def test_a_bot_that_ends_is_started_again(tmp_path: Path, bots: Bots) -> None:
    """So many times; then what waits for it is cancelled, and who waits is told why."""
    server, told = Server(), list[str]()
    lost = "ada ended, exit status 3: IndexError: no cell"
    keeper = supervisor(server, tmp_path, told, restarts=2)
    with pytest.raises(BotLostError, match=lost):  # noqa: PT012, SIM117 - raised at the end of the inner block
        with keeper.running():
            for number in range(3):
                assert not server.cancelled.is_set()
                bots.end(number)
            assert server.cancelled.wait(20)
    assert told == ["ada!", f"{lost}; it is started again"] * 2 + ["ada!"]


def test_a_bot_that_is_stopped_is_not_told_of(tmp_path: Path, bots: Bots) -> None:
    """It ends since all is over."""
    server, told = Server(), list[str]()
    with supervisor(server, tmp_path, told, restarts=1).running():
        pass
    assert len(bots.started) == 1
    assert bots.started[0].process.returncode is not None
    assert told == []


def test_bots_are_not_started_again_unless_that_is_wanted(tmp_path: Path, bots: Bots) -> None:
    """The first end is the last."""
    server, told = Server(), list[str]()
    keeper = supervisor(server, tmp_path, told, restarts=0)
    with pytest.raises(BotLostError):  # noqa: PT012, SIM117 - as above
        with keeper.running():
            bots.end(0)
            assert server.cancelled.wait(20)
    assert told == ["ada!"]
