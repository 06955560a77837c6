"""Events and the other messages of the server, free of the wire's types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, TypeAlias

from meijin.game import Color, Outcome, TimeControl, Variant


@dataclass(frozen=True, slots=True)
class Welcome:
    """The server's answer to the hello: the bot is admitted."""

    session_id: str
    """To be named by the next stream, which then continues this one."""
    bot_name: str
    """As registered."""
    grace: timedelta
    """How long the bot may be away in one game altogether."""
    running_games: int
    """How many games follow, begun on an earlier stream."""
    notice: str = ""
    """What the bot's owner is to know; empty when there is nothing."""


@dataclass(frozen=True, slots=True)
class GameStarted:
    """A game began, or the bot returns to it."""

    number: int
    """The game's number on this stream, until it ends."""
    game_id: str
    """Names the game on its server, for good."""
    variant: Variant
    time_control: TimeControl
    color: Color
    """The bot's side."""
    opponent: str
    moves: bytes
    """The moves so far, as `decode_moves` reads them."""


@dataclass(frozen=True, slots=True)
class SideChosen:
    """A player has chosen its side."""

    number: int
    """The game's number on this stream."""
    color: Color
    """The bot's own side from now on."""


class OpeningTask(NamedTuple):
    """What a turn of an opening asks for; where it has both, one of the two."""

    stones: int
    """How many stones to place; 0 for none."""
    may_choose: bool
    """The bot may choose its side."""


class Charge(NamedTuple):
    """What the bot's last answer in a game was charged, in microseconds."""

    raw_us: int
    """From the server's sending of the turn to its reading of the answer."""
    lag_us: int
    """Of that, what was taken off for the way there and back."""
    charged_us: int
    """What the clock was charged."""


class Turn(NamedTuple):
    """It is the bot's turn; a plain tuple, since there is one for every move of every game."""

    number: int
    """The game's number on this stream."""
    ply: int
    """The stones on the board; the answer repeats it."""
    moves: bytes
    """All moves so far, as `decode_moves` reads them."""
    own_ms: int
    """Left on the bot's clock, in milliseconds."""
    opponent_ms: int
    """Left on the opponent's clock, in milliseconds."""
    read_at: float
    """When it was read off the stream: seconds of a monotonic clock."""
    task: OpeningTask | None = None
    """What the opening asks for; ``None`` for a usual move."""
    charge: Charge | None = None
    """Of the bot's last answer in the game; ``None`` before the first, or if it isn't told."""


@dataclass(frozen=True, slots=True)
class GameEnded:
    """A game ended, and its number is free."""

    number: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Notice:
    """An action of the bot had no effect."""

    number: int
    ply: int
    detail: str
    """Why, in one sentence."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Somebody asks what the bot would play in a position outside of games."""

    number: int
    """The evaluation's number on this stream."""
    variant: Variant
    moves: bytes
    """All moves, as `decode_moves` reads them."""
    time: timedelta
    """What the search may take."""
    nodes: int
    """The most positions that it is to visit; 0 for any number."""


@dataclass(frozen=True, slots=True)
class Events:
    """What happened in the bot's games since the last message, in the order of the fields."""

    ended: Sequence[GameEnded] = ()
    started: Sequence[GameStarted] = ()
    turns: Sequence[Turn] = ()
    notices: Sequence[Notice] = ()
    choices: Sequence[SideChosen] = ()
    """Before the turns, though they come after them here."""
    evaluations: Sequence[Evaluation] = ()


@dataclass(frozen=True, slots=True)
class Ping:
    """To be answered at once."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Draining:
    """The server is about to stop; running games resume after its return."""


@dataclass(frozen=True, slots=True)
class Paused:
    """The bot has forfeited game after game, and gets no new ones for a while."""

    reason: str
    """For its owner."""


ServerMessage: TypeAlias = Welcome | Events | Ping | Draining | Paused
