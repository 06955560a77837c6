import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from meijin.cli.errors import CommandError
from meijin.cli.match import players
from meijin.cli.match.players import MatchFolder, wait_for_bots
from meijin.v1 import bot_service_pb2 as pb

NEVER = 10**6


class Server:
    """Bots that connect after this many looks; time goes by while one sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **looks: int) -> None:
        self.bots = SimpleNamespace(ListBots=self._list)
        self.now = 0.0
        self._looks = looks
        self._seen = 0
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self._sleep)
        monkeypatch.setattr(players, "time", clock)

    def ask(self, method: Any, request: object) -> Any:
        return method(request)

    def _list(self, request: pb.ListBotsRequest) -> pb.ListBotsResponse:
        self._seen += 1
        bots = [pb.Bot(name=bot, connected=at <= self._seen) for bot, at in self._looks.items()]
        listed = [bot for bot in bots if bot.connected or not request.connected]
        return pb.ListBotsResponse(bots=listed)

    def _sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds

    def wait(self, seconds: float = 30) -> None:
        wait_for_bots(self, ("ada", "bob"), seconds)  # type: ignore[arg-type]  # a stub


def test_bots_that_are_away_are_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that the server does not know it will name itself."""
    Server(monkeypatch, ada=1, bob=1).wait(0)
    Server(monkeypatch, ada=NEVER).wait()
    assert capsys.readouterr().err == ""
    Server(monkeypatch, ada=1, bob=5).wait()
    assert capsys.readouterr().err == "bob is not connected; waiting 30 s\n"


def test_a_bot_that_does_not_come_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch, ada=1, bob=NEVER)
    with pytest.raises(CommandError, match="bob is not connected after 30 s; start it"):
        server.wait()
    assert server.now == pytest.approx(30)
    with pytest.raises(CommandError, match="ada and bob are not connected after 0 s"):
        Server(monkeypatch, ada=NEVER, bob=NEVER).wait(0)


def fill(folder: Path) -> None:
    for name in ("server.log", "ada.log", "meijin.db", "operator.token"):
        (folder / name).touch()
    (folder / "valkey").mkdir()


def test_of_a_folder_of_its_own_logs_stay_where_they_are_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with MatchFolder(None) as folder:
        fill(folder.path)
    assert not list(tmp_path.iterdir())
    with MatchFolder(None) as folder:
        fill(folder.path)
        assert not folder.keeps_logs
        logs = folder.keep_logs()
        assert folder.keeps_logs
    assert {path.name for path in logs.iterdir()} == {"server.log", "ada.log"}
    assert list(tmp_path.iterdir()) == [logs]


def test_a_folder_that_is_given_stays_whole(tmp_path: Path) -> None:
    with MatchFolder(tmp_path / "mine" / "match") as folder:
        fill(folder.path)
    assert len(list(folder.path.iterdir())) == 5
    with pytest.raises(CommandError, match=r"can't use .*ada\.log"):
        MatchFolder(folder.path / "ada.log")
