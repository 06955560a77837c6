"""The bot's running games, over several streams."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tests.bots.conftest import Session

from meijin.bots import Bot, Position
from meijin.bots.sdk.games import RunningGames
from meijin.bots.sdk.running_game import RunningGame
from meijin.bots.sdk.searcher import Hook, Searcher
from meijin.bots.sdk.stream import StreamOutbox
from meijin.bots.sdk.wire import ReturningGame
from meijin.game import Color, Ending, Outcome, Party
from meijin.v1.play_service_pb2 import (
    Events,
    GameEnded,
    GameStarted,
    Notice,
    SideChosen,
)
from meijin.wire.values import color_to_proto, outcome_to_proto

LOST = Outcome(Ending.TIME, Color.WHITE, Party.BLACK, "41 s over")


class HearingBot(Bot):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.heard: list[tuple[str, Outcome | None]] = []

    def game_started(self, position: Position) -> None:
        self.begun.append(f"{position.game_id} at ply {position.board.ply}")

    def game_ended(self, game_id: str, outcome: Outcome | None) -> None:
        self.heard.append((game_id, outcome))


class NotingSearcher(Searcher):
    """Notes the games that it is asked to search and to cancel."""

    def __init__(self) -> None:
        self.searched: list[int] = []
        self.cancelled: list[int] = []

    def search(self, games: Sequence[RunningGame]) -> None:
        self.searched.extend(game.number for game in games)

    def call_hook(self, game: RunningGame, hook: Hook) -> None:  # noqa: ARG002 - see Searcher
        hook()

    def cancel(self, games: Sequence[RunningGame]) -> None:
        self.cancelled.extend(game.number for game in games)


def tell(games: RunningGames, **events: Sequence[Any]) -> None:
    """Have the games hear of events, by their names in the message."""
    games.apply(Events(**events), read_at=0.0)


def started(number: int, game_id: str = "") -> GameStarted:
    return Session.started(number, game_id=game_id or f"game-{number}")


turn = Session.turn


def lost(number: int) -> GameEnded:
    return GameEnded(game=number, outcome=outcome_to_proto(LOST))


@pytest.fixture
def bot() -> HearingBot:
    return HearingBot()


@pytest.fixture
def searcher() -> NotingSearcher:
    return NotingSearcher()


@pytest.fixture
def games(bot: HearingBot, searcher: NotingSearcher) -> RunningGames:
    games = RunningGames(bot, searcher)
    games.open(StreamOutbox(), returning=0)
    return games


def test_ends_come_before_starts(
    games: RunningGames,
    bot: HearingBot,
    searcher: NotingSearcher,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A game that ends makes room for one that starts in the same message; the log says why."""
    caplog.set_level("INFO", "meijin.bots")
    tell(games, started=[started(1)], turns=[turn(1)])
    tell(games, ended=[lost(1)], started=[started(2)], turns=[turn(2)])
    assert bot.heard == [("game-1", LOST)]
    assert searcher.searched == [1, 2]
    assert searcher.cancelled == [1]
    assert games.count == 1
    assert "game game-1 against rival started" in caplog.text
    assert "game game-1 against rival ended: black forfeits: time (41 s over)" in caplog.text


def test_what_was_told_is_known_over_all_streams(games: RunningGames) -> None:
    """A server that has lost moves brings a game back with fewer: it had told of the others."""
    moves = b"\x07\0\x08\0"
    tell(games, started=[started(1)], turns=[turn(1, [7, 8])])
    games.close()
    games.open(StreamOutbox(), returning=1)
    tell(games, started=[started(5, "game-1")])
    assert games.known() == [ReturningGame("game-1", moves, ())]
    tell(games, ended=[lost(5)])
    assert games.known() == []


def test_a_side_is_chosen(games: RunningGames) -> None:
    """It is the bot's before the turn that comes with it."""
    tell(games, started=[started(1)])
    chosen = SideChosen(game=1, color=color_to_proto(Color.WHITE))
    tell(games, choices=[chosen, SideChosen(game=2)], turns=[turn(1)])
    assert games._running[1].turn_position().color is Color.WHITE


def test_unknown_numbers(games: RunningGames, caplog: pytest.LogCaptureFixture) -> None:
    """Events of unknown games are logged and change nothing."""
    late = Notice(game=9, ply=1, detail="late")
    tell(games, turns=[turn(7)], ended=[lost(8)], notices=[late])
    assert [record.getMessage() for record in caplog.records] == [
        "no game has the number 8",
        "no game has the number 7",
        "refused at ply 1: late",
    ]


def test_number_in_use(games: RunningGames) -> None:
    """A number belongs to one game at a time."""
    tell(games, started=[started(1)])
    with pytest.raises(ValueError, match="has a game already"):
        tell(games, started=[started(1, "other")])


def test_stream_is_lost(games: RunningGames, bot: HearingBot, searcher: NotingSearcher) -> None:
    """Searches are cancelled, games are not: those that don't come back have ended."""
    tell(games, started=[started(1), started(2), started(3)])
    games.close()
    assert searcher.cancelled == [1, 2, 3]
    assert games.count == 3
    games.open(StreamOutbox(), returning=2)
    tell(games, started=[started(1, "game-3")])
    assert bot.heard == []
    tell(games, started=[started(2, "game-1")])
    assert bot.heard == [("game-2", None)]
    assert games.count == 2
    games.close()
    games.open(StreamOutbox(), returning=0)
    assert len(bot.heard) == 3
    assert games.count == 0
    assert bot.begun == [f"game-{number} at ply 0" for number in (1, 2, 3)]


def test_stream_lost_twice(games: RunningGames, bot: HearingBot) -> None:
    """A stream that breaks before it has brought the games back says nothing about them."""
    tell(games, started=[started(1)])
    for _ in range(2):
        games.close()
        games.open(StreamOutbox(), returning=1)
        assert games.count == 1
    tell(games, started=[started(4, "game-1")])
    assert bot.heard == []
    assert games.count == 1


async def test_bot_that_needs_time_between_games(searcher: NotingSearcher) -> None:
    """Its place is announced as ready when its hook has returned, even by an error."""
    may_return = asyncio.Event()

    class Readying(Bot):
        async def game_ended(self, game_id: str, outcome: Outcome | None) -> None:  # noqa: ARG002 - a hook
            await may_return.wait()
            if game_id == "game-2":
                raise ValueError("no luck")

    outbox = StreamOutbox()
    games = RunningGames(Readying(), searcher)
    games.open(outbox, returning=0)
    tell(games, started=[started(1), started(2)])
    tell(games, ended=[lost(1), lost(2)])
    taken = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    assert not taken.done()
    may_return.set()
    (request,) = await taken
    assert request.actions.ready == 2
