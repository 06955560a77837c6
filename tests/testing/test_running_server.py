"""Bots tested as their authors do: against a real server, from a test without an event loop."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from meijin.bots import Bot, Capabilities, Position, RandomBot
from meijin.game import GOMOKU, Ending, Party
from meijin.testing import (
    BotStoppedError,
    MatchError,
    MatchTimeoutError,
    RunningServer,
    run_server,
)

PATIENCE = 60.0
SMALL = "5x5"


class AnySize(Bot):
    """Plays any board."""

    capabilities = Capabilities(min_size=3, max_size=22)


class Good(AnySize):
    """Plays the first free cell."""

    def choose(self, position: Position) -> int:
        """Take it."""
        return position.legal_cells()[0]


class Other(Good):
    """Another one."""


class Usual(Good):
    """Plays the usual board alone."""

    capabilities = Capabilities()


class Raising(AnySize):
    """Fails at every move."""

    def choose(self, position: Position) -> int:
        """Fail."""
        raise RuntimeError("out of ideas", position.last_move)


class Illegal(AnySize):
    """Plays beside the board."""

    def choose(self, position: Position) -> int:
        """Miss it."""
        return position.variant.width * position.variant.height


class Silent(AnySize):
    """Answers nothing until it may."""

    def __init__(self, gate: threading.Event) -> None:
        self.gate = gate

    def choose(self, position: Position) -> int:
        """Wait."""
        self.gate.wait(PATIENCE)
        return position.legal_cells()[0]


class Blocking(Silent):
    """Answers nothing, on its event loop."""

    async def choose(self, position: Position) -> int:  # type: ignore[override]
        """Block it."""
        return super().choose(position)


class Unprepared(Good):
    """Can't get ready."""

    def prepare(self) -> None:
        """Fail."""
        raise FileNotFoundError("no weights")


class Exiting(Good):
    """Exits before it can play."""

    def prepare(self) -> None:
        """Exit."""
        sys.exit("no weights")


class Preparing(Good):
    """Takes its time to get ready."""

    def __init__(self, gate: threading.Event) -> None:
        self.gate = gate

    def prepare(self) -> None:
        """Wait."""
        self.gate.wait(PATIENCE)


@pytest.fixture
def server() -> Iterator[RunningServer]:
    """A server with one good bot."""
    with run_server() as server:
        server.add_bot(Good())
        yield server


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Holds a bot until the test ends."""
    gate = threading.Event()
    yield gate
    gate.set()


def test_games_are_played_to_their_end(server: RunningServer) -> None:
    """They come in order, with alternating colours, moves and times."""
    server.add_bot(Other())
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


def test_the_winner_is_told_by_name(server: RunningServer) -> None:
    """The loser of a forfeit is at fault, the other one wins."""
    server.add_bot(Raising())
    (game,) = server.play("good", "raising", games=1, variant=SMALL)
    assert (game.winner, game.at_fault) == ("good", "raising")


def test_games_on_the_usual_board(server: RunningServer) -> None:
    """Without a variant it is Gomoku."""
    server.add_bot(RandomBot(1))
    (game,) = server.play("good", "random", games=1)
    assert game.record.variant == GOMOKU


def test_matches_one_after_the_other(server: RunningServer) -> None:
    """Each returns its own games."""
    server.add_bot(Other())
    first = server.play("good", "other", variant=SMALL)
    second = server.play("other", "good", variant=SMALL)
    ids = [game.record.game_id for game in (*first, *second)]
    assert len(set(ids)) == 4


def test_a_bot_that_raises_forfeits(
    server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The game tells the exception, and the log its traceback, for the report of the test."""
    server.add_bot(Raising())
    (game,) = server.play("raising", "good", games=1, variant=SMALL)
    assert game.outcome.ending is Ending.CRASH
    assert "out of ideas" in game.outcome.detail
    assert 'raise RuntimeError("out of ideas"' in caplog.text


def test_an_illegal_move_forfeits(server: RunningServer) -> None:
    """The SDK tells of it as a crash, with the cell."""
    server.add_bot(Illegal())
    (game,) = server.play("illegal", "good", games=1, variant=SMALL)
    assert (game.outcome.ending, game.at_fault) == (Ending.CRASH, "illegal")
    assert "25" in game.outcome.detail


@pytest.mark.parametrize("kind", [Silent, Blocking])
def test_a_bot_that_never_answers_forfeits(
    server: RunningServer, gate: threading.Event, kind: type[Silent]
) -> None:
    """Its time runs out, whether it holds up a search thread or its event loop."""
    server.add_bot(kind(gate), name="silent")
    (game,) = server.play("silent", "good", games=1, time="0.2/move", variant=SMALL)
    assert (game.outcome.ending, game.at_fault) == (Ending.TIME, "silent")
    gate.set()


def test_names_differ(server: RunningServer) -> None:
    """A second bot of a name is refused, and comes in under another one."""
    with pytest.raises(ValueError, match='there is a bot "good" already'):
        server.add_bot(Good())
    assert server.add_bot(Good(), name="good-2") == "good-2"
    assert len(server.play("good", "good-2", variant=SMALL)) == 2


def test_a_name_is_one(server: RunningServer) -> None:
    """What can't be a name is refused."""
    with pytest.raises(ValueError, match='"a b" is no bot name'):
        server.add_bot(Good(), name="a b")


def test_an_unknown_bot(server: RunningServer) -> None:
    """The error lists those that there are."""
    with pytest.raises(ValueError, match='no bot "bob" was added; there is good'):
        server.play("good", "bob")


@pytest.mark.parametrize(
    ("bot", "cause"), [(Unprepared(), FileNotFoundError), (Exiting(), SystemExit)]
)
def test_a_bot_that_cannot_get_ready(
    server: RunningServer, bot: Bot, cause: type[BaseException]
) -> None:
    """Its own exception is the cause, an exit too."""
    name = server.add_bot(bot)
    with pytest.raises(BotStoppedError, match=f'bot "{name}" has stopped') as caught:
        server.play("good", name, variant=SMALL)
    assert isinstance(caught.value.__cause__, cause)


def test_a_bot_that_does_not_connect(server: RunningServer, gate: threading.Event) -> None:
    """The error names it."""
    server.add_bot(Preparing(gate))
    soon = timedelta(seconds=0.1)
    with pytest.raises(MatchTimeoutError, match=r"after 0\.1 s, not connected: preparing"):
        server.play("good", "preparing", variant=SMALL, timeout=soon)


def test_a_game_that_goes_on(server: RunningServer, gate: threading.Event) -> None:
    """The error names the players, and says how far they are."""
    server.add_bot(Silent(gate))
    soon, told = timedelta(seconds=0.5), "not connected"
    while "not connected" in told:
        with pytest.raises(MatchTimeoutError) as caught:
            server.play("good", "silent", games=1, time="600", variant=SMALL, timeout=soon)
        told = str(caught.value)
    assert re.search(r'games go on: "(good|silent)" \(black\).* ply \d', told)


def test_a_match_that_fails_frees_its_bots(server: RunningServer, gate: threading.Event) -> None:
    """Its games are not played on, whoever still thinks about them."""
    server.add_bot(Silent(gate))
    server.add_bot(Other())
    soon = timedelta(seconds=0.5)
    with pytest.raises(MatchTimeoutError):
        server.play("good", "silent", games=1, time="600", variant=SMALL, timeout=soon)
    assert len(server.play("good", "other", variant=SMALL, timeout=timedelta(seconds=20))) == 2


def test_a_match_has_games(server: RunningServer) -> None:
    """None at all is refused."""
    server.add_bot(Other())
    with pytest.raises(ValueError, match="0 games are no match; give 1 or more"):
        server.play("good", "other", games=0, variant=SMALL)


def test_a_match_beyond_a_bot(server: RunningServer) -> None:
    """A bot is not asked for what it says that it can't play."""
    server.add_bot(Usual())
    with pytest.raises(MatchError, match='"usual" can\'t play this match: needs boards'):
        server.play("good", "usual", variant=SMALL)


def test_a_match_that_the_server_refuses(server: RunningServer) -> None:
    """The error is the server's."""
    server.add_bot(Other())
    with pytest.raises(MatchError, match="at most"):
        server.play("good", "other", games=1_000_000_000, variant=SMALL)


def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server of the author's own is left alone."""
    database = tmp_path / "precious.db"
    monkeypatch.setenv("MEIJIN_DATABASE_URL", f"sqlite:///{database}")
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
        server.add_bot(Other())
        server.play("good", "other", variant=SMALL)
        raise AssertionError("wrong")
    names = {thread.name for thread in threading.enumerate()}
    assert not names & {"server", "bot-good", "bot-other"}
