"""Players: a bot or an engine as the game loop sees it, ready before any clock runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from meijin.bots.sdk.answer import Failure, Resignation
from meijin.game import Action, Analysis, Board, Color, Outcome, TimeControl, Variant
from meijin.game.rules.opening_rule import Task


class PlayerError(Exception):
    """A player can't be got ready for a game: no clock runs, and no game is lost by it."""


class PlaysManyError(PlayerError):
    """A bot plays many games at once by itself; the message is its name."""


@dataclass(frozen=True, slots=True)
class GameStart:
    """What a player is told of a game before it begins."""

    game_id: str
    variant: Variant
    time_control: TimeControl
    color: Color
    opening: bytes
    opponent: str


@dataclass(slots=True)
class Turn:
    """What a player is asked."""

    board: Board
    color: Color
    task: Task | None
    """What the opening asks for; ``None`` for a stone."""
    own_ns: int
    """Left on its clock."""
    opponent_ns: int
    limit_ns: int
    """After so long no answer is waited for any more."""


@dataclass(slots=True)
class Thought:
    """What a player has answered, and when."""

    asked_ns: int
    """When its turn was written to it, on the monotonic clock."""
    answered_ns: int
    """When its answer was read, or nobody waited any more."""
    action: Action | Resignation | Failure | None
    """``None`` where nothing came in time."""
    analysis: Analysis | None = None
    evidence: Mapping[str, object] = field(default_factory=dict)
    """What supports a failure."""
    words: str = ""
    """What the player has said in place of an answer, or as one that is illegal."""


class Player(ABC):
    """Plays one game at a time, and then another."""

    @abstractmethod
    def get_ready(self, game: GameStart) -> None:
        """Stand ready for a game: no clock runs.

        Raises:
            PlayerError: it can't.
        """

    @abstractmethod
    def think(self, turn: Turn) -> Thought:
        """Have it choose, on its clock."""

    @abstractmethod
    def end(self, outcome: Outcome | None) -> None:
        """Its game has ended; one that is thinking still is ended."""

    @abstractmethod
    def close(self) -> None:
        """End it for good."""
