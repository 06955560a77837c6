"""Dialogues: what is said to an engine and what answers it, without input or output.

A step of a protocol is a generator: it yields what to ask, is sent the reply, and returns what came
of it. Whoever drives it writes and reads; tests answer by themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import NamedTuple, TypeAlias, TypeVar

from meijin.bots.sdk.answer import Resignation
from meijin.bots.sdk.errors import BotLoadError, GameFailedError
from meijin.game import OpeningRule, Variant


class EngineError(GameFailedError):
    """The engine fails in a game, which it forfeits; the message says how."""

    @property
    def dialogue(self) -> Sequence[str]:
        """The last lines that were said, ``> `` to the engine and ``< `` by it."""
        return self.evidence


class EngineRefusedError(EngineError):
    """The engine answers with UNKNOWN or ERROR, or with what is no answer."""


class EngineSilentError(EngineRefusedError):
    """The engine doesn't answer in time."""


class EngineDiedError(EngineError):
    """The engine has ended, or has closed its output."""

    def __init__(self, message: str, errors: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.errors = errors
        """The last lines that it wrote to its standard error."""


class EngineInterruptedError(EngineError):
    """Nobody waits for the engine's answer any more."""


class EngineStartError(BotLoadError):
    """No engine can be started from a command, or none that any protocol is known of."""


MAX_SAID = 80
"""Characters of an engine's last line in the cause of a failure."""


def last_words(dialogue: Sequence[str]) -> str:
    """What an engine has said since it was asked last."""
    said = ""
    for line in dialogue:
        said = line.removeprefix("< ") if line.startswith("<") else ""
    return f"the engine said only {said[:MAX_SAID]!r}" if said else "the engine said nothing"


_Result = TypeVar("_Result")

Point: TypeAlias = tuple[int, int]
"""Column and row, both from 0, row 0 on top; an engine may name one off the board."""


class ReplyKind(Enum):
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

    __hash__ = object.__hash__  # that of Enum is looked up in Python: 0.3 microseconds, 7 a move


class EngineReply(NamedTuple):
    """A line of an engine, read. A plain tuple, as `Ask` and `EngineTime`: each move makes one."""

    kind: ReplyKind
    text: str = ""
    """The line without the word that says what it is."""
    points: Sequence[Point] = ()
    """The points that it names, where it is a move or several."""


ANSWERS = frozenset({ReplyKind.OK, ReplyKind.UNKNOWN, ReplyKind.ERROR})
"""What may come of an order."""
SILENCE = EngineReply(ReplyKind.SILENCE)


class Ask(NamedTuple):
    """Lines to be sent, and what answers them."""

    lines: Sequence[str]
    expects: frozenset[ReplyKind] = frozenset()
    """The wait ends with the first reply of these kinds; without any there is none."""
    patience: timedelta | None = None
    """How long to wait; as long as the game's clock allows when left out. Without lines to be
    sent it counts from the last that were."""


Dialogue: TypeAlias = Generator[Ask, EngineReply, _Result]


class EngineTime(NamedTuple):
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
    folder: str = ""
    """Where it may keep files from game to game; nowhere when empty."""


@dataclass(slots=True)
class EngineTraits:
    """How an engine keeps to its protocol: what one process shows is known of all of them.

    ``None`` is what nobody knows yet.
    """

    answers_hints: bool | None = None
    """It answers what asks for no answer, such as INFO."""
    restarts: bool | None = None
    """It answers RESTART with OK; else START empties its board."""
    takes_turns: bool | None = None
    """It knows TURN; else it is shown the whole position."""
    plays_suggestions: bool | None = None
    """It knows PLAY; else its SUGGEST is its move."""
    numbers_openings: bool = False
    """It reads stones of an opening as ``x,y,who`` alone."""
    hears_memory: bool = True
    """It is told of a limit of memory."""


class EngineProtocol(ABC):
    """One engine's side of a protocol: it knows what the engine has been told.

    Its dialogues raise `EngineRefusedError` where the engine refuses, or gives no answer that fits.
    """

    name: str
    farewell: str
    """The line that asks the engine to end."""
    opening_rules: Sequence[OpeningRule] = ()
    """Those that the protocol has a command for, the one that most engines know first."""

    def __init__(self, options: Mapping[str, str], traits: EngineTraits | None = None) -> None:
        self.options = options
        """The engine's own options, by their names."""
        self.traits = traits or EngineTraits()
        self._variant: Variant | None = None  # of the game that the engine has begun
        self._stones: list[int] = []  # on the engine's board

    @abstractmethod
    def read(self, line: str) -> EngineReply:
        """Read a line of the engine."""

    @abstractmethod
    def about(self) -> Dialogue[Mapping[str, str]]:
        """Ask the engine for its ``name`` and its ``version``; it may tell neither."""

    @abstractmethod
    def start(self, variant: Variant) -> Dialogue[None]:
        """Have the engine set up an empty board."""

    def set_up(self, variant: Variant) -> Dialogue[None]:
        """Have an empty board, in the way that costs the engine least."""
        return self.start(variant)

    @abstractmethod
    def new_game(self, game: NewGame) -> Dialogue[None]:
        """Begin a game; an engine that refuses may be able to when it is started anew."""

    @abstractmethod
    def choose(self, moves: Sequence[int], time: EngineTime) -> Dialogue[Point | Resignation]:
        """Have the engine choose a move after all moves so far."""

    def open(
        self, moves: Sequence[int], time: EngineTime, rule: OpeningRule
    ) -> Dialogue[Sequence[Point]]:
        """Have the engine do what an opening asks for: place stones, or choose its side.

        It returns the stones; none where it takes the side that isn't to move, and one where it
        chooses the side to move, and moves. Only for the protocol's `opening_rules`.
        """
        raise NotImplementedError

    @abstractmethod
    def find_refused(self, variant: Variant) -> Dialogue[Mapping[str, str]]:
        """The options that the engine doesn't take, as far as it says so, and with which words.

        Its board has been set up, and is empty after it.
        """

    def stop(self) -> Dialogue[None] | None:
        """Have the engine end its search, where the protocol has a command for it."""
        return None

    @abstractmethod
    def _quote(self, reply: EngineReply) -> str:
        """A reply as the engine has given it."""

    @property
    def _begun(self) -> Variant:
        assert self._variant is not None
        return self._variant

    def _order(self, command: str, patience: timedelta) -> Dialogue[None]:
        """Have the engine do what it answers with OK."""
        reply = yield Ask([command], ANSWERS, patience)
        if reply.kind is not ReplyKind.OK:
            raise self._refusal(command, reply)

    def _refusal(self, command: str, reply: EngineReply) -> EngineRefusedError:
        if reply.kind is ReplyKind.SILENCE:
            return EngineSilentError(f"the engine doesn't answer {command}")
        return EngineRefusedError(
            f"the engine answers {command} with {self._quote(reply)}".rstrip()
        )

    def _note(self, moves: Iterable[int], point: Point) -> None:
        """Remember what the engine has on its board now."""
        x, y = point
        self._stones = [*moves, y * self._begun.width + x]
