"""What a bot's host and its player say to each other: pickled, on one connection.

A game begins by a `GameStart`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from meijin.game import Color, Outcome, Task
from meijin.wire.capabilities import Capabilities


@dataclass(frozen=True, slots=True)
class Ready:
    """A bot is loaded: what it says of itself."""

    pid: int
    version: str
    digest: str
    configuration: Sequence[str]
    capabilities: Capabilities
    threads: int | None
    memory_bytes: int | None
    plays_many: bool
    """It is given all games that wait for it in one call."""


class Started(NamedTuple):
    """A game has begun: the bot stands ready."""


class Ask(NamedTuple):
    """It is the bot's turn."""

    color: Color
    moves: bytes
    """All of them so far."""
    own_ms: int
    opponent_ms: int
    task: Task | None


class End(NamedTuple):
    """A game has ended."""

    game_id: str
    outcome: Outcome | None


class Died(NamedTuple):
    """The process that has played has ended."""

    status: int
    """As `os.waitstatus_to_exitcode` has it."""
