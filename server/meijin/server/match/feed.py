"""Tells those who watch a game or a tournament what happens in it."""

import asyncio
import enum
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, NewType

from meijin.server.errors import NotReadingError
from meijin.server.match.arena import Listener
from meijin.server.match.live_game import LiveGame
from meijin.store.schema import GameId, TournamentId


class EventKind(enum.Enum):
    """What can happen to a game."""

    STARTED = enum.auto()
    MOVED = enum.auto()
    ENDED = enum.auto()


MAX_WAITING = 10_000
"""Facts that may wait for one watcher before it is let go."""


class GameEvent(NamedTuple):
    """What happened in a game."""

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
    """One who watches; reads facts at its own pace."""

    def __init__(self) -> None:
        self._facts: asyncio.Queue[Event] = asyncio.Queue(MAX_WAITING)
        self._is_lost = False

    def tell(self, fact: Event) -> None:
        """Hand a fact over; a watcher that is too slow is let go."""
        try:
            self._facts.put_nowait(fact)
        except asyncio.QueueFull:
            self._is_lost = True

    async def next(self) -> Event:
        """The next fact.

        Raises:
            NotReadingError: facts were lost, since too many were waiting.
        """
        if self._is_lost:
            raise NotReadingError(f"more than {MAX_WAITING} facts were waiting; watch again")
        return await self._facts.get()

    def rest(self) -> list[Event]:
        """The facts that wait, none when there are none."""
        return [self._facts.get_nowait() for _ in range(self._facts.qsize())]


class Feed(Listener):
    """The watchers of each topic."""

    def __init__(self) -> None:
        self._subscribers: dict[Topic, set[Subscriber]] = {}

    @contextmanager
    def watch(self, topic: Topic) -> Iterator[Subscriber]:
        """Watch a topic until the end of the context."""
        watcher = Subscriber()
        self._subscribers.setdefault(topic, set()).add(watcher)
        try:
            yield watcher
        finally:
            self._subscribers[topic].remove(watcher)
            if not self._subscribers[topic]:
                del self._subscribers[topic]

    def game_started(self, game: LiveGame) -> None:
        """Tell the tournament's watchers."""
        if self._subscribers:
            self._tell(tournament_topic(game.run.id), GameEvent(EventKind.STARTED, game))

    def games_moved(self, games: Sequence[LiveGame]) -> None:
        """Tell the games' watchers."""
        if self._subscribers:
            for game in games:
                self._tell(game_topic(game.id), GameEvent(EventKind.MOVED, game))

    def game_ended(self, game: LiveGame) -> None:
        """Tell the game's and the tournament's watchers."""
        if self._subscribers:
            fact = GameEvent(EventKind.ENDED, game)
            self._tell(game_topic(game.id), fact)
            self._tell(tournament_topic(game.run.id), fact)

    def tournament_changed(self, tournament_id: TournamentId) -> None:
        """Tell the tournament's watchers to look at its state."""
        self._tell(tournament_topic(tournament_id), StateEvent())

    def _tell(self, topic: Topic, fact: Event) -> None:
        for watcher in self._subscribers.get(topic, ()):
            watcher.tell(fact)
