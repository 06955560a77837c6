"""Those who follow a topic."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

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
from meijin.store.schema import GameId, TournamentId

if TYPE_CHECKING:
    from meijin.server.match.live.live_game import LiveGame


def game(number: int, tournament: int = 1) -> LiveGame:
    """A game as far as the feed looks at it."""
    run = SimpleNamespace(id=TournamentId(tournament))
    return cast("LiveGame", SimpleNamespace(id=GameId(number), run=run))


def test_a_subscriber_hears_of_its_topic_alone() -> None:
    """Moves and the end of its game; starts and ends of its tournament's games."""
    feed = Feed()
    one, two, other = game(1), game(2), game(3, tournament=2)
    with (
        feed.subscribe(game_topic(one.id)) as of_game,
        feed.subscribe(tournament_topic(one.run.id)) as of_tournament,
    ):
        for each in (one, two, other):
            feed.game_started(each)
            feed.games_moved([each])
            feed.game_ended(each)
        feed.tournament_changed(TournamentId(1))
        feed.tournament_changed(TournamentId(2))
        assert of_game.rest() == [GameEvent(EventKind.MOVED, one), GameEvent(EventKind.ENDED, one)]
        assert of_tournament.rest() == [
            GameEvent(EventKind.STARTED, one),
            GameEvent(EventKind.ENDED, one),
            GameEvent(EventKind.STARTED, two),
            GameEvent(EventKind.ENDED, two),
            StateEvent(),
        ]
        assert of_game.rest() == []


async def test_events_come_in_order() -> None:
    """One at a time, waiting for the next."""
    feed, one = Feed(), game(1)
    with feed.subscribe(game_topic(one.id)) as subscriber:
        waiting = asyncio.ensure_future(subscriber.next())
        await asyncio.sleep(0)
        assert not waiting.done()
        feed.games_moved([one])
        feed.game_ended(one)
        assert await waiting == GameEvent(EventKind.MOVED, one)
        assert await subscriber.next() == GameEvent(EventKind.ENDED, one)


def test_every_subscriber_hears_of_everything() -> None:
    """Two who follow the same game don't share its events."""
    feed, one = Feed(), game(1)
    with feed.subscribe(game_topic(one.id)) as first, feed.subscribe(game_topic(one.id)) as second:
        feed.game_ended(one)
        assert first.rest() == second.rest() == [GameEvent(EventKind.ENDED, one)]


def test_who_leaves_is_forgotten() -> None:
    """The last subscriber of a topic leaves nothing behind."""
    feed, one = Feed(), game(1)
    with feed.subscribe(game_topic(one.id)) as first:
        with feed.subscribe(game_topic(one.id)) as second:
            pass
        feed.game_ended(one)
        assert second.rest() == []
        assert len(first.rest()) == 1
    assert feed._subscribers == {}


async def test_who_is_too_slow_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A subscriber that lost an event is told so instead of being told half."""
    monkeypatch.setattr(module, "MAX_WAITING", 3)
    feed, one = Feed(), game(1)
    with feed.subscribe(game_topic(one.id)) as subscriber:
        for _ in range(4):
            feed.games_moved([one])
        with pytest.raises(NotReadingError, match="watch again"):
            await subscriber.next()


def test_nobody_subscribed_costs_nothing() -> None:
    """Events without subscribers go nowhere."""
    feed = Feed()
    feed.game_started(game(1))
    feed.games_moved([game(1)])
    feed.game_ended(game(1))
    feed.tournament_changed(TournamentId(1))
    assert feed._subscribers == {}
