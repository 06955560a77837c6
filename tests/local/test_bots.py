"""A supervisor of bots, whose processes end as a test has them."""

import sys
import threading
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from meijin.local import bots as module
from meijin.local.bots import BotSupervisor, Upkeep, told_apart, wait_for_bots
from meijin.local.child import Child, start_child
from meijin.local.errors import BotLostError
from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import tournament_service_pb2 as pb

ENDING = "import sys; print('IndexError: no cell', flush=True); sys.exit(3)"
LOST = "ada ended, exit status 3: IndexError: no cell"


class Server:
    """Knows a tournament that runs, and tells that it is cancelled."""

    def __init__(self, told: list[str]) -> None:
        self.cancelled = threading.Event()
        self.tournaments = SimpleNamespace(
            ListTournaments=self._list, UpdateTournament=self._cancel
        )
        self._told = told

    def ask(self, method: Any, request: object) -> Any:
        return method(request)

    ask_with_token = ask

    def _list(self, _request: object) -> pb.ListTournamentsResponse:
        running = pb.Tournament(tournament_id="7", state=pb.TOURNAMENT_STATE_RUNNING)
        return pb.ListTournamentsResponse(tournaments=[running])

    def _cancel(self, request: pb.UpdateTournamentRequest) -> pb.UpdateTournamentResponse:
        if not self.cancelled.is_set():
            self._told.append(f"cancelled {request.tournament_id}")
        self.cancelled.set()
        return pb.UpdateTournamentResponse()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is told of bots, all of which connect at once."""
    monkeypatch.setattr(module, "wait_for_bots", lambda *_: None)
    return []


def supervisor(folder: Path, told: list[str], restarts: int) -> BotSupervisor:
    upkeep = Upkeep(restarts, timedelta(seconds=5), on_end=lambda name: told.append(f"{name}!"))
    server: Any = Server(told)
    return BotSupervisor(server, folder, {"ada": ()}, upkeep, told.append)


@pytest.mark.parametrize("restarts", [0, 2])
def test_a_bot_that_ends_is_started_again(
    tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch, restarts: int
) -> None:
    """As often as that is wanted; then what would wait for it is cancelled."""
    start = partial(start_child, program=(sys.executable, "-c", ENDING))
    monkeypatch.setattr(module, "start_child", start)
    keeper: Any = supervisor(tmp_path, told, restarts)
    with pytest.raises(BotLostError, match=LOST), keeper.running():
        assert keeper.connection.cancelled.wait(20)
    again = ["ada!", f"{LOST}; it is started again"]
    assert told == [*again * restarts, "ada!", "cancelled 7"]


def test_a_bot_that_is_stopped_is_not_told_of(
    tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (sys.executable, "-c", "import time; time.sleep(600)")
    monkeypatch.setattr(module, "start_child", partial(start_child, program=program))
    with supervisor(tmp_path, told, restarts=1).running():
        pass
    assert told == []


def test_a_bot_on_a_later_page_is_there(tmp_path: Path) -> None:
    asked = []

    def ask(_method: object, request: bot_pb.ListBotsRequest) -> bot_pb.ListBotsResponse:
        asked.append(request.page_token)
        name, more = ("zoe", "") if request.page_token else ("ada", "2")
        return bot_pb.ListBotsResponse(bots=[bot_pb.Bot(name=name)], next_page_token=more)

    connection: Any = SimpleNamespace(ask_with_token=ask, bots=Mock())
    child = Child(Mock(), tmp_path / "zoe.log")
    wait_for_bots(connection, {"zoe": child}, pytest.fail, timedelta(0))
    assert asked == ["", "2"]


def test_bots_are_named_by_what_differs() -> None:
    """Those of one name by their options, and equal ones by numbers."""
    for sides, names in (
        ("bot, random level=5", "bot random"),
        ("bot, bot", "bot-1 bot-2"),
        ("bot a=1, bot a=1, bot a=2", "bot-1:a=1 bot-2:a=1 bot:a=2"),
        ("bot a=1 b=2 c=3, bot c=3 a=1 d=4", "bot:b=2 bot:d=4"),
        ("bot, bot a=1", "bot bot:a=1"),
        ("bot a=/x, bot a=/y", "bot-1 bot-2"),
    ):
        pairs = [(name, options) for name, *options in map(str.split, sides.split(","))]
        assert told_apart(pairs) == names.split()
