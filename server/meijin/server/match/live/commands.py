"""What a bot says on its stream, as plain values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from meijin.game import Analysis as SearchAnalysis
from meijin.game import OpeningAction, Outcome
from meijin.store.access.versions import EngineRow
from meijin.store.schema import GameId, PairingId
from meijin.wire.capabilities import Capabilities
from meijin.wire.text import plain_text

Analysis: TypeAlias = dict[str, object]
"""What a bot thought of a move, as it is stored: ``score``, ``depth``, ``nodes`` and ``pv``; and of a
hosted program the microseconds of processor time that the move took, by `CPU_US`."""

CPU_US = "cpu_us"
"""What the host of a program has measured, beside what that says of itself."""

Play: TypeAlias = tuple[int, int, int, Analysis | None, int]
"""A move: the game's number, ply, cell, analysis, and the microseconds that the bot says it took.

A plain tuple: one is made for every move.
"""


MAX_TOLD, MAX_WORDS = 8, 200
"""Actions of a message that the ledger keeps, and characters of what one of them says."""


class KnownGame(NamedTuple):
    """What a bot knows of a game: the moves of its last turn there, and its own answer."""

    ply: int
    """How many stones."""
    moves_crc: int
    """The CRC-32 of their wire form."""
    answered_crc: int | None
    """The same with the stones of the bot's answer; ``None`` where it has placed none."""


NOTHING_KNOWN: Mapping[GameId, KnownGame] = MappingProxyType({})
"""Of a bot that tells nothing of running games."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game that was judged elsewhere, as a worker hands it in."""

    pairing_id: PairingId
    start_time: datetime
    end_time: datetime
    actions: Sequence[tuple[int, int, int]]
    """After the opening: code, raw and charged nanoseconds of each."""
    analyses: Mapping[int, Analysis]
    """By ply."""
    outcome: Outcome
    evidence: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Hello:
    bot_name: str
    """May be empty where a token tells it."""
    engine: EngineRow
    capabilities: Capabilities
    resume_session_id: str
    """Empty on a bot's first stream."""
    known_games: Mapping[GameId, KnownGame] = field(default_factory=lambda: NOTHING_KNOWN)
    """What it knows of the games that it believes to be running."""


class Failure(NamedTuple):
    """A bot can't go on with a game."""

    game: int
    """The game's number."""
    message: str
    """What happened, as the bot says."""
    is_suppliers: bool
    """It was not the bot that failed, but what it depends on."""
    traceback: str = ""
    """Where it failed in its program, as it says; several lines, the innermost frame last."""


class OpeningPlay(NamedTuple):
    """A bot places stones of an opening, or chooses its side."""

    game: int
    """The game's number."""
    ply: int
    action: OpeningAction
    thinking_us: int
    """The microseconds that the bot says it took; 0 when it says nothing."""


MICROSECOND = timedelta(microseconds=1)
MAX_TIME_US = timedelta(days=1) // MICROSECOND
"""The most that is believed of what a bot says that a search took."""


class Evaluation(NamedTuple):
    """What a bot found in a position outside of games."""

    number: int
    """That which it was asked by."""
    cell: int | None = None
    """``None`` where it would resign, or has failed."""
    analysis: SearchAnalysis | None = None
    """Its line may hold any numbers."""
    failure: str = ""
    """Why there is nothing, as it says."""
    thinking_us: int = 0
    """The microseconds that the bot says it took; 0 when it says nothing."""

    @property
    def search_time(self) -> timedelta | None:
        return min(self.thinking_us, MAX_TIME_US) * MICROSECOND or None


class Measured(NamedTuple):
    """What a hosted program has taken for a turn, as its host has measured it."""

    game: int
    """The game's number."""
    ply: int
    wall_us: int
    cpu_us: int
    is_overstepped: bool
    """It has used up its time without an answer."""


class Actions(NamedTuple):
    """Everything that a bot does in its games in one message."""

    plays: Sequence[Play]
    resigns: Sequence[int]
    """The numbers of the games."""
    failures: Sequence[Failure]
    openings: Sequence[OpeningPlay] = ()
    evaluations: Sequence[Evaluation] = ()
    ready: int = 0
    """How many more places of ended games may take others."""
    begun: Sequence[tuple[int, int]] = ()
    """The games and plies of turns for which a hosted program has a core from now on."""
    measured: Sequence[Measured] = ()

    @property
    def total(self) -> int:
        """How many there are; evaluations, which are of no game, left out."""
        games = len(self.plays) + len(self.resigns) + len(self.failures)
        return games + len(self.openings)

    def portions(self, plays: int) -> "Iterator[Actions]":
        """The same in portions of at most this many moves; the last one has everything else."""
        rest = self
        while len(rest.plays) > plays:
            yield Actions(rest.plays[:plays], (), ())
            rest = rest._replace(plays=rest.plays[plays:])
        yield rest

    def told_of(self, number: int) -> list[str]:
        """What it says of one game, in words, and how much of others: for the fault ledger.

        At most this many actions and characters, whatever the bot has sent.
        """
        here = [f"play {cell} at ply {ply}" for game, ply, cell, *_ in self.plays if game == number]
        here += [
            f"{each.action} at ply {each.ply}"[:MAX_WORDS]
            for each in self.openings
            if each.game == number
        ]
        here += ["resign" for game in self.resigns if game == number]
        here += [
            f"fail: {plain_text(each.message[:MAX_WORDS])}"
            for each in self.failures
            if each.game == number
        ]
        others = self.total - len(here)
        return here[:MAX_TOLD] + ([f"of other games: {others}"] if others else [])


class Pong(NamedTuple):
    sequence: int


class Goodbye(NamedTuple):
    """The bot leaves for good."""


Command: TypeAlias = Actions | Pong | Goodbye
"""What may follow the hello."""
