"""Who hears what happens in the games: listeners, called in the order they were added."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import structlog

from meijin.server.match.live.live_game import LiveGame, Participant
from meijin.store.schema import BotVersionId, GameId

log = structlog.get_logger()

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Absence:
    """A bot's absence from running games, which is over."""

    version_id: BotVersionId
    away_ns: int
    """How long it was away, the server's stalls left out."""
    is_excused: bool
    """It was not the bot's doing."""
    games: Sequence[GameId]


@dataclass(frozen=True, slots=True)
class MassDisconnect:
    """Bots that lost their streams together."""

    names: Sequence[str]
    connected: int
    """How many bots were connected before."""
    is_silent: bool = False
    """No stream has ended yet, but nothing comes from them any more."""


class Listener:
    """Hears what happens in the games; by default does nothing.

    One that raises is logged: the others hear of it all the same, and the games go on.
    """

    def player_joined(self, player: Participant) -> None:
        """A bot's stream was opened."""

    def player_ready(self, player: Participant) -> None:
        """A bot whose game had ended is ready for another."""

    def player_returned(self, absence: Absence) -> None:
        """A bot that was away from running games has a stream again."""

    def mass_disconnected(self, loss: MassDisconnect) -> None:
        """Bots lost their streams together."""

    def game_disputed(self, game: LiveGame) -> None:
        """Both players are back in a game of an earlier server, of which one knows other moves."""

    def game_over(self, game: LiveGame) -> None:
        """A game is over: what is added to the journal now is committed with its end."""

    def game_started(self, game: LiveGame) -> None:
        """A game's start was committed."""

    def games_moved(self, games: Sequence[LiveGame]) -> None:
        """A move in each of the games was committed; what ends one comes with its end."""

    def game_ended(self, game: LiveGame) -> None:
        """A game's end was committed."""


class Listeners:
    """The listeners in their order, which is that of `add`.

    Each fact goes to the first, then to the second, and so on. Of what is committed together
    each hears all starts, then the moves, then all ends, before the next hears any of it.
    """

    def __init__(self) -> None:
        self.order: list[Listener] = []

    def add(self, *listeners: Listener) -> None:
        self.order += listeners

    def tell(self, hook: Callable[[Listener, T], None], fact: T) -> None:
        """Tell all of a fact, by the hook of a `Listener` that is for it."""
        for listener in self.order:
            _tell(getattr(listener, hook.__name__), fact)

    def committed(
        self, started: Sequence[LiveGame], moved: Sequence[LiveGame], ended: Sequence[LiveGame]
    ) -> None:
        for listener in self.order:
            for game in started:
                _tell(listener.game_started, game)
            if moved:
                _tell(listener.games_moved, moved)
            for game in ended:
                _tell(listener.game_ended, game)


def _tell(listen: Callable[[T], None], fact: T) -> None:
    """Tell a listener; its failure is its own."""
    try:
        listen(fact)
    except Exception:
        log.exception("a listener failed", listener=listen.__qualname__)
