"""Dialogues: what is said to an engine and what answers it, without input or output.

A step of a protocol is a generator: it yields what to ask, is sent the reply, and returns what came
of it. Whoever drives it writes and reads; tests answer by themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TypeAlias, TypeVar

from meijin.bots.bridge.errors import EngineRefusedError
from meijin.bots.sdk.answer import Resignation
from meijin.game import OpeningRule, Variant

_Result = TypeVar("_Result")

Point: TypeAlias = tuple[int, int]
"""Column and row, both from 0, row 0 on top; an engine may name one off the board."""


class Kind(Enum):
    """What a line of an engine is."""

    OK = "ok"
    MOVE = "move"
    SWAP = "swap"
    """The other side of a swap opening."""
    SUGGEST = "suggest"
    """A move that the manager may have played."""
    RESIGN = "resign"
    UNKNOWN = "unknown"
    """The engine knows no such command."""
    ERROR = "error"
    MESSAGE = "message"
    """Something for people."""
    ABOUT = "about"
    SILENCE = "silence"
    """Nothing came in time."""
    NOISE = "noise"
    """None of these."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A line of an engine, read."""

    kind: Kind
    text: str = ""
    """The line without the word that says what it is."""
    points: Sequence[Point] = ()
    """The points that it names, where it is a move or several."""


SILENCE = Reply(Kind.SILENCE)


@dataclass(frozen=True, slots=True)
class Ask:
    """Lines to be sent, and what answers them."""

    lines: Sequence[str]
    expects: frozenset[Kind] = frozenset()
    """The wait ends with the first reply of these kinds; without any there is none."""
    patience: timedelta | None = None
    """How long to wait; as long as the game's clock allows when left out."""


Dialogue: TypeAlias = Generator[Ask, Reply, _Result]


@dataclass(frozen=True, slots=True)
class EngineTime:
    """The time that an engine is told of; milliseconds."""

    turn_ms: int
    """For this move at most."""
    match_ms: int
    """For the whole game; 0 where only moves are limited."""
    left_ms: int | None
    """Left of that; ``None`` where only moves are limited."""


@dataclass(frozen=True, slots=True)
class NewGame:
    """What an engine is told at the start of a game."""

    variant: Variant
    time: EngineTime
    memory: int = 0
    """Bytes that it may use; 0 where there is no limit."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What an engine is told at its turn."""

    moves: Sequence[int]
    """Every cell so far, in the order played."""
    time: EngineTime | None
    """``None`` where it needn't be told."""


class EngineProtocol(ABC):
    """One engine's side of a protocol: it knows what the engine has been told."""

    name: str

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = options
        """The engine's own options, by their names."""
        self.answers_hints: bool | None = None
        """Whether the engine answers what asks for no answer, such as INFO; ``None`` if unknown."""

    @abstractmethod
    def read(self, line: str) -> Reply:
        """Read a line of the engine."""

    @abstractmethod
    def about(self) -> Dialogue[Mapping[str, str]]:
        """Ask the engine for its ``name`` and its ``version``; it may tell neither."""

    @abstractmethod
    def start(self, variant: Variant) -> Dialogue[None]:
        """Have the engine set up an empty board.

        Raises:
            EngineRefusedError: it has no such board.
        """

    def set_up(self, variant: Variant) -> Dialogue[None]:
        """Have an empty board, in the way that costs the engine least.

        Raises:
            EngineRefusedError: the engine has no such board, or must be started anew for it.
        """
        return self.start(variant)

    @abstractmethod
    def new_game(self, game: NewGame) -> Dialogue[None]:
        """Begin a game.

        Raises:
            EngineRefusedError: the engine can't, or not without being started anew.
        """

    @abstractmethod
    def choose(self, turn: Turn) -> Dialogue[Point | Resignation]:
        """Have the engine choose a move.

        Raises:
            EngineRefusedError: it has none.
        """

    @property
    def opening_rules(self) -> Sequence[OpeningRule]:
        """Those that the protocol has a command for, the one that most engines know first."""
        return ()

    def open(self, turn: Turn, rule: OpeningRule) -> Dialogue[Sequence[Point]]:  # noqa: ARG002 - see `opening_rules`
        """Have the engine do what an opening asks for: place stones, or choose its side.

        It returns the stones; none where it takes the side that isn't to move, and one where it
        chooses the side to move, and moves.

        Raises:
            EngineRefusedError: it can't, or answers what it isn't asked for.
        """
        raise EngineRefusedError(f"{self.name} has no command for {rule.name}")

    def stop(self) -> Dialogue[None] | None:
        """Have the engine end its search, where the protocol has a command for it."""
        return None

    @abstractmethod
    def end(self) -> Sequence[str]:
        """The lines that ask the engine to end."""
