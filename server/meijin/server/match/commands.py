"""What a bot says on its stream, as plain values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from meijin.store.bots import EngineRow
from meijin.wire import Capabilities

Analysis: TypeAlias = dict[str, object]
"""What a bot thought of a move, as it is stored: ``score``, ``depth``, ``nodes`` and ``pv``."""

Play: TypeAlias = tuple[int, int, int, Analysis | None, int]
"""A move: the game's number, ply, cell, analysis, and the microseconds that the bot says it took.

A plain tuple: one is made for every move.
"""


@dataclass(frozen=True, slots=True)
class Hello:
    """A bot's first message."""

    bot_name: str
    """May be empty where a token tells it."""
    engine: EngineRow
    capabilities: Capabilities
    resume_session_id: str
    """Empty on a bot's first stream."""


class Failure(NamedTuple):
    """A bot can't go on with a game."""

    game: int
    """The game's number."""
    message: str
    """What happened, as the bot says."""
    is_suppliers: bool
    """It was not the bot that failed, but what it depends on."""


class Actions(NamedTuple):
    """Everything that a bot does in its games in one message."""

    plays: Sequence[Play]
    resigns: Sequence[int]
    """The numbers of the games."""
    failures: Sequence[Failure]


class Pong(NamedTuple):
    """The answer to a ping."""

    sequence: int


class Goodbye(NamedTuple):
    """The bot leaves for good."""


Command: TypeAlias = Actions | Pong | Goodbye
"""What may follow the hello."""
