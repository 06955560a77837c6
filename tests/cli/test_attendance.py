"""Bots that are waited for."""

from types import SimpleNamespace
from typing import Any

import pytest

from meijin.cli import attendance
from meijin.cli.attendance import wait_for_bots
from meijin.cli.errors import CommandError
from meijin.v1 import bot_service_pb2 as pb


class Server:
    """Bots that connect after so many looks; time goes by while one sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **looks: int) -> None:
        self.bots = SimpleNamespace(ListBots=self._list)
        self.now = 0.0
        self._looks = looks
        self._seen = 0
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self._sleep)
        monkeypatch.setattr(attendance, "time", clock)

    def ask(self, method: Any, request: object) -> Any:
        """Call a method."""
        return method(request)

    def _list(self, request: pb.ListBotsRequest) -> pb.ListBotsResponse:
        self._seen += 1
        bots = [pb.Bot(name=bot, connected=at <= self._seen) for bot, at in self._looks.items()]
        listed = [bot for bot in bots if bot.connected or not request.connected]
        return pb.ListBotsResponse(bots=listed)

    def _sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds


def wait(server: Server, seconds: float = 30) -> None:
    """Wait for Ada and Bob."""
    wait_for_bots(server, ("ada", "bob"), seconds)  # type: ignore[arg-type]  # a stub


def test_bots_that_are_there_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where there is no time to wait."""
    server = Server(monkeypatch, ada=1, bob=1)
    wait(server, 0)
    assert server.now == 0


def test_a_bot_that_comes_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is said once for whom."""
    wait(Server(monkeypatch, ada=1, bob=5))
    assert capsys.readouterr().err == "bob is not connected; waiting 30 s\n"


def test_a_bot_that_does_not_come_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """When its time is up, with what to do."""
    server = Server(monkeypatch, ada=1, bob=10**6)
    with pytest.raises(CommandError, match="bob is not connected after 30 s; start it"):
        wait(server)
    assert server.now == pytest.approx(30)
    with pytest.raises(CommandError, match="ada and bob are not connected after 0 s"):
        wait(Server(monkeypatch, ada=10**6, bob=10**6), 0)


def test_an_unknown_bot_is_left_to_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which refuses it, and says what may have been meant."""
    wait(Server(monkeypatch, ada=10**6))
