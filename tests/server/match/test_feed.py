"""Those who follow a topic."""

from __future__ import annotations

import asyncio

import pytest
from tests.server.rows import live_game, tournament_row

from meijin.game import Seat
from meijin.server.errors import NotReadingError
from meijin.server.match import feed as module
from meijin.server.match.feed import (
    EventKind,
    Feed,
    GameEvent,
    StateEvent,
    game_topic,
    tournament_topic,
)
from meijin.server.match.live.live_game import Contest
from meijin.store.schema import TournamentId

STARTED, MOVED, ENDED = EventKind
ONE = live_game()
TOPIC = game_topic(ONE.id)


def test_a_subscriber_hears_of_its_topic_alone() -> None:
    """Moves and the end of its game; starts and ends of its tournament's games."""
    feed, two = Feed(), live_game(2)
    other = live_game(3, run=Contest(tournament_row(2)))
    with (
        feed.subscribe(TOPIC) as of_game,
        feed.subscribe(tournament_topic(ONE.run.id)) as of_tournament,
    ):
        for each in (ONE, two, other):
            feed.game_started(each)
            feed.games_moved([each])
            feed.game_ended(each)
        feed.tournament_changed(TournamentId(1))
        feed.tournament_changed(TournamentId(2))
        assert of_game.rest() == [GameEvent(MOVED, ONE), GameEvent(ENDED, ONE)]
        of_games = [GameEvent(kind, each) for each in (ONE, two) for kind in (STARTED, ENDED)]
        assert of_tournament.rest() == [*of_games, StateEvent()]
        assert of_game.rest() == []


def test_a_game_that_comes_with_its_end() -> None:
    """Its start is no news of its own."""
    feed, game = Feed(), live_game()
    game.arbiter.resign(Seat.FIRST)
    with feed.subscribe(tournament_topic(game.run.id)) as subscriber:
        feed.game_started(game)
        feed.game_ended(game)
        assert subscriber.rest() == [GameEvent(ENDED, game)]


async def test_events_come_in_order() -> None:
    feed = Feed()
    with feed.subscribe(TOPIC) as subscriber:
        waiting = asyncio.ensure_future(subscriber.next())
        await asyncio.sleep(0)
        assert not waiting.done()
        feed.games_moved([ONE])
        feed.game_ended(ONE)
        assert await waiting == GameEvent(MOVED, ONE)
        assert await subscriber.next() == GameEvent(ENDED, ONE)


def test_every_subscriber_hears_of_everything_until_it_leaves() -> None:
    """Two who follow the same game don't share its events; the last one leaves nothing behind."""
    feed = Feed()
    with feed.subscribe(TOPIC) as first:
        with feed.subscribe(TOPIC) as second:
            feed.games_moved([ONE])
            assert second.rest() == [GameEvent(MOVED, ONE)]
        feed.game_ended(ONE)
        assert second.rest() == []
        assert first.rest() == [GameEvent(MOVED, ONE), GameEvent(ENDED, ONE)]
    assert feed._subscribers == {}


async def test_who_is_too_slow_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A subscriber that lost an event is told so instead of being told half."""
    monkeypatch.setattr(module, "MAX_WAITING", 3)
    feed = Feed()
    with feed.subscribe(TOPIC) as subscriber:
        for _ in range(4):
            feed.games_moved([ONE])
        with pytest.raises(NotReadingError, match="watch again"):
            await subscriber.next()
