"""The bot's running games, over several streams."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from meijin.bots import Bot, Position
from meijin.bots.sdk.events import Ended, Events, Notice, Started, Turn
from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.searcher import Hook, Searcher
from meijin.bots.sdk.seat import Seat
from meijin.bots.sdk.seats import Table
from meijin.game import GOMOKU, Color, Ending, Outcome, Party, Result, TimeControl

LOST = Outcome(Result.WHITE_WINS, Ending.TIME, Party.BLACK, "41 s over")


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
    """Notes the games that it is asked to think about and to forget."""

    def __init__(self) -> None:
        self.thought: list[int] = []
        self.forgotten: list[int] = []

    def think(self, seats: Sequence[Seat]) -> None:
        """Note the games."""
        self.thought.extend(seat.number for seat in seats)

    def tell(self, seat: Seat, hook: Hook) -> None:  # noqa: ARG002 - see Searcher
        """Call the hook."""
        hook()

    def forget(self, seats: Sequence[Seat]) -> None:
        """Note the games."""
        self.forgotten.extend(seat.number for seat in seats)


def started(number: int, game_id: str = "") -> Started:
    """The beginning of a game."""
    return Started(
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
    return Turn(number, 0, b"", 60_000, 60_000)


@pytest.fixture
def bot() -> HearingBot:
    """A bot that notes what it is told."""
    return HearingBot()


@pytest.fixture
def searcher() -> NotingSearcher:
    """A searcher that only takes notes."""
    return NotingSearcher()


@pytest.fixture
def table(bot: HearingBot, searcher: NotingSearcher) -> Table:
    """A table with a stream open."""
    table = Table(bot, searcher)
    table.open(Outbox(), returning=0)
    return table


def test_ends_come_before_starts(table: Table, bot: HearingBot, searcher: NotingSearcher) -> None:
    """A game that ends makes room for one that starts in the same message."""
    table.apply(Events(started=[started(1)], turns=[turn(1)]))
    table.apply(Events(ended=[Ended(1, LOST)], started=[started(2)], turns=[turn(2)]))
    assert bot.heard == [("game-1", LOST)]
    assert searcher.thought == [1, 2]
    assert searcher.forgotten == [1]
    assert table.running_games == 1


def test_end(table: Table, bot: HearingBot, caplog: pytest.LogCaptureFixture) -> None:
    """The bot hears how a game ended, and the log says why."""
    caplog.set_level("INFO", "meijin.bots")
    table.apply(Events(started=[started(1)]))
    table.apply(Events(ended=[Ended(1, LOST)]))
    assert bot.heard == [("game-1", LOST)]
    assert "game game-1 against rival started" in caplog.text
    assert "game game-1 against rival ended: black forfeits: time (41 s over)" in caplog.text


def test_unknown_numbers(table: Table, caplog: pytest.LogCaptureFixture) -> None:
    """Events of unknown games are logged and change nothing."""
    table.apply(Events(turns=[turn(7)], ended=[Ended(8, LOST)], notices=[Notice(9, 1, "late")]))
    assert [record.getMessage() for record in caplog.records] == [
        "no game has the number 8",
        "no game has the number 7",
        "refused at ply 1: late",
    ]


def test_number_in_use(table: Table) -> None:
    """A number belongs to one game at a time."""
    table.apply(Events(started=[started(1)]))
    with pytest.raises(ValueError, match="has a game already"):
        table.apply(Events(started=[started(1, "other")]))


def test_stream_is_lost(table: Table, bot: HearingBot, searcher: NotingSearcher) -> None:
    """Searches are forgotten, games are not: those that don't come back have ended."""
    table.apply(Events(started=[started(1), started(2), started(3)]))
    table.close()
    assert searcher.forgotten == [1, 2, 3]
    assert table.running_games == 3
    table.open(Outbox(), returning=2)
    table.apply(Events(started=[started(1, "game-3")]))
    assert bot.heard == []
    table.apply(Events(started=[started(2, "game-1")]))
    assert bot.heard == [("game-2", None)]
    assert table.running_games == 2


def test_nothing_comes_back(table: Table, bot: HearingBot) -> None:
    """Where no game is left to resume, all of them have ended."""
    table.apply(Events(started=[started(1)]))
    table.close()
    table.open(Outbox(), returning=0)
    assert bot.heard == [("game-1", None)]
    assert table.running_games == 0


def test_stream_lost_twice(table: Table, bot: HearingBot) -> None:
    """A stream that breaks before it has brought the games back says nothing about them."""
    table.apply(Events(started=[started(1)]))
    table.close()
    table.open(Outbox(), returning=1)
    assert table.running_games == 1
    table.close()
    table.open(Outbox(), returning=1)
    table.apply(Events(started=[started(4, "game-1")]))
    assert bot.heard == []
    assert table.running_games == 1
