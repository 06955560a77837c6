"""The bot's running games, over several streams."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from meijin.bots import Bot, Position
from meijin.bots.sdk.events import Events, GameEnded, GameStarted, Notice, Turn
from meijin.bots.sdk.games import Games
from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.running_game import RunningGame
from meijin.bots.sdk.searcher import Hook, Searcher
from meijin.bots.sdk.wire import KnownGame
from meijin.game import GOMOKU, Color, Ending, Outcome, Party, TimeControl

LOST = Outcome(Ending.TIME, Color.WHITE, Party.BLACK, "41 s over")


class HearingBot(Bot):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, Outcome | None]] = []

    def choose(self, position: Position) -> int:
        """Never called here."""
        raise NotImplementedError

    def game_ended(self, game_id: str, outcome: Outcome | None) -> None:
        """Note the end."""
        self.heard.append((game_id, outcome))


class NotingSearcher(Searcher):
    """Notes the games that it is asked to search and to cancel."""

    def __init__(self) -> None:
        self.searched: list[int] = []
        self.cancelled: list[int] = []

    def search(self, games: Sequence[RunningGame]) -> None:
        """Note the games."""
        self.searched.extend(game.number for game in games)

    def call_hook(self, game: RunningGame, hook: Hook) -> None:  # noqa: ARG002 - see Searcher
        """Call the hook."""
        hook()

    def cancel(self, games: Sequence[RunningGame]) -> None:
        """Note the games."""
        self.cancelled.extend(game.number for game in games)


def started(number: int, game_id: str = "") -> GameStarted:
    """The beginning of a game."""
    return GameStarted(
        number=number,
        game_id=game_id or f"game-{number}",
        variant=GOMOKU,
        time_control=TimeControl.parse("60"),
        color=Color.BLACK,
        opponent="rival",
        moves=b"",
    )


def turn(number: int) -> Turn:
    """The first turn of a game."""
    return Turn(number, 0, b"", 60_000, 60_000, 0.0)


@pytest.fixture
def bot() -> HearingBot:
    """A bot that notes what it is told."""
    return HearingBot()


@pytest.fixture
def searcher() -> NotingSearcher:
    """A searcher that only takes notes."""
    return NotingSearcher()


@pytest.fixture
def games(bot: HearingBot, searcher: NotingSearcher) -> Games:
    """Games of a stream that is open."""
    games = Games(bot, searcher)
    games.open(Outbox(), returning=0)
    return games


def test_ends_come_before_starts(games: Games, bot: HearingBot, searcher: NotingSearcher) -> None:
    """A game that ends makes room for one that starts in the same message."""
    games.apply(Events(started=[started(1)], turns=[turn(1)]))
    games.apply(Events(ended=[GameEnded(1, LOST)], started=[started(2)], turns=[turn(2)]))
    assert bot.heard == [("game-1", LOST)]
    assert searcher.searched == [1, 2]
    assert searcher.cancelled == [1]
    assert games.count == 1


def test_end(games: Games, bot: HearingBot, caplog: pytest.LogCaptureFixture) -> None:
    """The bot hears how a game ended, and the log says why."""
    caplog.set_level("INFO", "meijin.bots")
    games.apply(Events(started=[started(1)]))
    games.apply(Events(ended=[GameEnded(1, LOST)]))
    assert bot.heard == [("game-1", LOST)]
    assert "game game-1 against rival started" in caplog.text
    assert "game game-1 against rival ended: black forfeits: time (41 s over)" in caplog.text


def test_what_was_told_is_known_over_all_streams(games: Games) -> None:
    """A server that has lost moves brings a game back with fewer: it had told of the others."""
    moves = b"\x07\0\x08\0"
    games.apply(Events(started=[started(1)], turns=[turn(1)._replace(ply=2, moves=moves)]))
    games.close()
    games.open(Outbox(), returning=1)
    games.apply(Events(started=[started(5, "game-1")]))
    assert games.known() == [KnownGame("game-1", moves, ())]
    games.apply(Events(ended=[GameEnded(5, LOST)]))
    assert games.known() == []


def test_unknown_numbers(games: Games, caplog: pytest.LogCaptureFixture) -> None:
    """Events of unknown games are logged and change nothing."""
    games.apply(Events(turns=[turn(7)], ended=[GameEnded(8, LOST)], notices=[Notice(9, 1, "late")]))
    assert [record.getMessage() for record in caplog.records] == [
        "no game has the number 8",
        "no game has the number 7",
        "refused at ply 1: late",
    ]


def test_number_in_use(games: Games) -> None:
    """A number belongs to one game at a time."""
    games.apply(Events(started=[started(1)]))
    with pytest.raises(ValueError, match="has a game already"):
        games.apply(Events(started=[started(1, "other")]))


def test_stream_is_lost(games: Games, bot: HearingBot, searcher: NotingSearcher) -> None:
    """Searches are cancelled, games are not: those that don't come back have ended."""
    games.apply(Events(started=[started(1), started(2), started(3)]))
    games.close()
    assert searcher.cancelled == [1, 2, 3]
    assert games.count == 3
    games.open(Outbox(), returning=2)
    games.apply(Events(started=[started(1, "game-3")]))
    assert bot.heard == []
    games.apply(Events(started=[started(2, "game-1")]))
    assert bot.heard == [("game-2", None)]
    assert games.count == 2


def test_nothing_comes_back(games: Games, bot: HearingBot) -> None:
    """Where no game is left to resume, all of them have ended."""
    games.apply(Events(started=[started(1)]))
    games.close()
    games.open(Outbox(), returning=0)
    assert bot.heard == [("game-1", None)]
    assert games.count == 0


def test_stream_lost_twice(games: Games, bot: HearingBot) -> None:
    """A stream that breaks before it has brought the games back says nothing about them."""
    games.apply(Events(started=[started(1)]))
    games.close()
    games.open(Outbox(), returning=1)
    assert games.count == 1
    games.close()
    games.open(Outbox(), returning=1)
    games.apply(Events(started=[started(4, "game-1")]))
    assert bot.heard == []
    assert games.count == 1
