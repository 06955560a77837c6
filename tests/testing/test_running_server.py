"""Bots tested as their authors do: against a real server, from a test without an event loop."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.conftest import PATIENCE

from meijin.bots import Bot, Capabilities, Position, RandomBot
from meijin.game import GOMOKU, Ending, Party
from meijin.testing import (
    BotStoppedError,
    MatchError,
    MatchTimeoutError,
    RunningServer,
    run_server,
)

SMALL = "5x5"
SOON = timedelta(seconds=0.5)


class AnySize(Bot):
    """Plays any board."""

    capabilities = Capabilities(min_size=3, max_size=22)


class Good(AnySize):
    """Plays the first free cell."""

    def choose(self, position: Position) -> int:
        return position.legal_cells()[0]


class Other(Good):
    """Another one."""


class Usual(Good):
    """Plays the usual board alone."""

    capabilities = Capabilities()


class Raising(AnySize):
    """Fails at every move."""

    def choose(self, position: Position) -> int:
        raise RuntimeError("out of ideas", position.last_move)


class Illegal(AnySize):
    """Plays beside the board."""

    def choose(self, position: Position) -> int:
        return position.variant.width * position.variant.height


class Silent(Good):
    """Answers nothing until it may."""

    def __init__(self, gate: threading.Event) -> None:
        self.gate = gate

    def choose(self, position: Position) -> int:
        self.gate.wait(PATIENCE)
        return super().choose(position)


class Blocking(Silent):
    """Answers nothing, on its event loop."""

    async def choose(self, position: Position) -> int:  # type: ignore[override]
        return super().choose(position)


class Preparing(Silent):
    """Does not get ready until it may."""

    def prepare(self) -> None:
        self.gate.wait(PATIENCE)


class Unprepared(Good):
    """Can't get ready."""

    def prepare(self) -> None:
        raise FileNotFoundError("no weights")


class Exiting(Good):
    """Exits before it can play."""

    def prepare(self) -> None:
        sys.exit("no weights")


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with run_server() as server:
        server.add_bot(Good())
        server.add_bot(Other())
        yield server


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    gate = threading.Event()
    yield gate
    gate.set()


def test_games_are_played_to_their_end(server: RunningServer) -> None:
    """In order, with alternating colours, moves and times; another match has its own games."""
    games = server.play("good", "other", games=4, variant=SMALL)
    assert [game.at_fault for game in games] == [None] * 4
    assert [game.outcome.at_fault for game in games] == [Party.NOBODY] * 4
    pairs = [(game.record.black, game.record.white) for game in games]
    assert pairs[::2] == [pairs[0]] * 2
    assert pairs[1::2] == [pairs[0][::-1]] * 2
    for game in games:
        board = game.record.board()
        assert board.is_over
        assert game.outcome.winner is board.winner
        assert len(game.record.times) == len(game.record.moves)
    games += server.play("other", "good", variant=SMALL)
    assert len({game.record.game_id for game in games}) == 6


def test_more_bots_play_than_a_connection_has_streams(server: RunningServer) -> None:
    bots = [server.add_bot(Good(), name=f"bot-{number}") for number in range(10)]
    for first, second in zip(bots[::2], bots[1::2], strict=True):
        assert len(server.play(first, second, variant=SMALL)) == 2


def test_without_a_variant_it_is_gomoku(server: RunningServer) -> None:
    server.add_bot(RandomBot(1))
    (game,) = server.play("good", "random", games=1)
    assert game.record.variant == GOMOKU


@pytest.mark.parametrize(
    ("bot", "detail", "logged"),
    [
        (Raising(), "out of ideas", 'raise RuntimeError("out of ideas"'),
        (Illegal(), "cell 25 is off", ""),
    ],
)
def test_a_bot_that_fails_forfeits(
    server: RunningServer, caplog: pytest.LogCaptureFixture, bot: Bot, detail: str, logged: str
) -> None:
    """The game tells why, and the log the traceback, for the report of the test."""
    name = server.add_bot(bot)
    (game,) = server.play(name, "good", games=1, variant=SMALL)
    assert (game.winner, game.at_fault, game.outcome.ending) == ("good", name, Ending.CRASH)
    assert detail in game.outcome.detail
    assert logged in caplog.text


@pytest.mark.parametrize("kind", [Silent, Blocking])
def test_a_bot_that_never_answers_forfeits(
    server: RunningServer, gate: threading.Event, kind: type[Silent]
) -> None:
    """Its time runs out, whether it holds up a search thread or its event loop."""
    server.add_bot(kind(gate), name="silent")
    (game,) = server.play("silent", "good", games=1, time="0.2/move", variant=SMALL)
    assert (game.outcome.ending, game.at_fault) == (Ending.TIME, "silent")
    gate.set()


def test_what_can_not_be_is_refused(server: RunningServer) -> None:
    with pytest.raises(ValueError, match='there is a bot "good" already'):
        server.add_bot(Good())
    assert server.add_bot(Good(), name="good-2") == "good-2"
    with pytest.raises(ValueError, match='"a b" is no bot name'):
        server.add_bot(Good(), name="a b")
    with pytest.raises(ValueError, match='no bot "bob" was added; there is good, other, good-2'):
        server.play("good", "bob")
    with pytest.raises(ValueError, match="0 games are no match; give 1 or more"):
        server.play("good", "other", games=0)
    with pytest.raises(MatchError, match="at most"):  # as the server says
        server.play("good", "other", games=1_000_000_000, variant=SMALL)
    server.add_bot(Usual())
    with pytest.raises(MatchError, match='"usual" can\'t play this match: needs boards'):
        server.play("good", "usual", variant=SMALL)


@pytest.mark.parametrize(
    ("bot", "cause"), [(Unprepared(), FileNotFoundError), (Exiting(), SystemExit)]
)
def test_a_bot_that_cannot_get_ready(
    server: RunningServer, bot: Bot, cause: type[BaseException]
) -> None:
    name = server.add_bot(bot)
    with pytest.raises(BotStoppedError, match=f'bot "{name}" has stopped') as caught:
        server.play("good", name, variant=SMALL)
    assert isinstance(caught.value.__cause__, cause)


def test_a_bot_that_does_not_connect(server: RunningServer, gate: threading.Event) -> None:
    server.add_bot(Preparing(gate))
    with pytest.raises(MatchTimeoutError, match=r"after 0\.5 s, not connected: preparing"):
        server.play("good", "preparing", variant=SMALL, timeout=SOON)


def test_a_game_that_goes_on(server: RunningServer, gate: threading.Event) -> None:
    """The error says who plays, and how far they are; other games are played meanwhile."""
    server.add_bot(Silent(gate))
    told = "not connected"
    while "not connected" in told:
        with pytest.raises(MatchTimeoutError) as caught:
            server.play("good", "silent", games=1, time="600", variant=SMALL, timeout=SOON)
        told = str(caught.value)
    assert re.search(r'games go on: "(good|silent)" \(black\).* ply \d', told)
    patience = timedelta(seconds=PATIENCE / 3)
    assert len(server.play("good", "other", variant=SMALL, timeout=patience)) == 2


def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server of the author's own is left alone."""
    monkeypatch.setenv("MEIJIN_DATABASE_URL", f"sqlite:///{tmp_path / 'precious.db'}")
    monkeypatch.setenv("MEIJIN_DATA", str(tmp_path))
    monkeypatch.setenv("MEIJIN_TOKEN", "gmk_bot_precious")
    monkeypatch.setenv("MEIJIN_SERVER", "arena.example.org")
    with run_server() as server:
        server.add_bot(Good())
        server.add_bot(Other())
        assert len(server.play("good", "other", variant=SMALL)) == 2
    assert list(tmp_path.iterdir()) == []


def test_everything_ends_with_a_failing_test() -> None:
    """No thread of the server or a bot is left behind."""
    with pytest.raises(AssertionError, match="wrong"), run_server() as server:  # noqa: PT012
        server.add_bot(Good())
        raise AssertionError("wrong")
    names = {thread.name for thread in threading.enumerate()}
    assert not names & {"server", "bot-good"}


def test_importing_waits_for_no_server() -> None:
    """Its modules, which take seconds, are loaded when a server is started."""
    program = "import sys, meijin.testing.plugin; print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"False\n"
