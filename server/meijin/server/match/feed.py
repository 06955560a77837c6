"""The feed: tells the subscribers of a game or a tournament what happens in it."""

import asyncio
import enum
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, NewType

from meijin.server.errors import NotReadingError
from meijin.server.match.live.listeners import Listener
from meijin.server.match.live.live_game import LiveGame
from meijin.store.schema import GameId, TournamentId


class EventKind(enum.Enum):
    STARTED = enum.auto()
    MOVED = enum.auto()
    ENDED = enum.auto()


MAX_WAITING = 10_000
"""Events that may wait for one subscriber before it is dropped as too slow."""


class GameEvent(NamedTuple):
    kind: EventKind
    game: LiveGame


class StateEvent(NamedTuple):
    """The tournament was cancelled, ended between two games, or lost a game that was voided."""


Event = GameEvent | StateEvent

Topic = NewType("Topic", str)


def game_topic(game_id: GameId) -> Topic:
    """Everything about one game."""
    return Topic(f"game {game_id}")


def tournament_topic(tournament_id: TournamentId) -> Topic:
    """The games of one tournament as they begin and end."""
    return Topic(f"tournament {tournament_id}")


class Subscriber:
    """One who follows a topic, and takes its events at its own pace."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[Event] = asyncio.Queue(MAX_WAITING)
        self._has_lost_events = False

    def put(self, event: Event) -> None:
        """Hand an event over; a subscriber that is too slow is dropped."""
        try:
            self._events.put_nowait(event)
        except asyncio.QueueFull:
            self._has_lost_events = True

    async def next(self) -> Event:
        """The next event.

        Raises:
            NotReadingError: events were lost, since too many were waiting.
        """
        if self._has_lost_events:
            raise NotReadingError(f"more than {MAX_WAITING} events were waiting; watch again")
        return await self._events.get()

    def rest(self) -> list[Event]:
        """The events that wait, none when there are none."""
        return [self._events.get_nowait() for _ in range(self._events.qsize())]


class Feed(Listener):
    def __init__(self) -> None:
        self._subscribers: dict[Topic, set[Subscriber]] = {}

    @contextmanager
    def subscribe(self, topic: Topic) -> Iterator[Subscriber]:
        """Follow a topic until the end of the context."""
        subscriber = Subscriber()
        self._subscribers.setdefault(topic, set()).add(subscriber)
        try:
            yield subscriber
        finally:
            self._subscribers[topic].remove(subscriber)
            if not self._subscribers[topic]:
                del self._subscribers[topic]

    def game_started(self, game: LiveGame) -> None:
        if self._subscribers and game.arbiter.outcome is None:  # else its end is told next
            self._publish(tournament_topic(game.run.id), GameEvent(EventKind.STARTED, game))

    def games_moved(self, games: Sequence[LiveGame]) -> None:
        if self._subscribers:
            for game in games:
                self._publish(game_topic(game.id), GameEvent(EventKind.MOVED, game))

    def game_ended(self, game: LiveGame) -> None:
        if self._subscribers:
            event = GameEvent(EventKind.ENDED, game)
            self._publish(game_topic(game.id), event)
            self._publish(tournament_topic(game.run.id), event)

    def tournament_changed(self, tournament_id: TournamentId) -> None:
        self._publish(tournament_topic(tournament_id), StateEvent())

    def _publish(self, topic: Topic, event: Event) -> None:
        for subscriber in self._subscribers.get(topic, ()):
            subscriber.put(event)
