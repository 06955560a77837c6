"""Tournaments, who is in them, their planned games, and challenges."""

import enum
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Dialect,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    TypeDecorator,
    UniqueConstraint,
    text,
)

from meijin.game import Adjudication, TimeControl, Variant
from meijin.game.board.moves import MOVE_BYTES
from meijin.store.schema.base import INT64, NOT_FINISHED, Field, Record, column, partial_index
from meijin.store.schema.ids import BotId, FormatName, LadderId, OwnerId, PairingId, TournamentId

TOURNAMENT_IS_NOT_FINISHED = text("tournament.state <> 'finished'")
"""Has SQLite use the index of what is not finished: it does not see that from another state."""


TOURNAMENT_IS_NO_CHALLENGE = text("tournament.format <> 'challenge'")
"""Has both databases use the index of those that are no challenge."""
_NO_CHALLENGE = text("format <> 'challenge'")
_HAS_OWNER = text("owner_id IS NOT NULL")
_LENGTH = struct.Struct("<H")


class TournamentState(enum.Enum):
    """Where a tournament stands."""

    PLANNING = "planning"
    """Its games are being stored: nobody sees it, and a start that finds it drops it."""
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class Openings(TypeDecorator[tuple[bytes, ...]]):
    """Openings of two bytes a cell, one after the other, each behind its length in plies.

    All numbers take two bytes, little-endian.
    """

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Iterable[bytes] | None, _dialect: Dialect) -> bytes:
        parts = value or ()
        return b"".join(_LENGTH.pack(len(each) // MOVE_BYTES) + each for each in parts)

    def process_result_value(self, value: bytes | None, _dialect: Dialect) -> tuple[bytes, ...]:
        return tuple(_split(value or b""))


def _split(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        (plies,) = _LENGTH.unpack_from(data, start)
        start += _LENGTH.size
        yield data[start : start + MOVE_BYTES * plies]
        start += MOVE_BYTES * plies


class ControlsOfBots(TypeDecorator[Mapping[BotId, TimeControl]]):
    """Time controls by bot; null for none."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(
        self, value: Mapping[BotId, TimeControl] | None, _dialect: Dialect
    ) -> dict[str, str] | None:
        return {str(bot_id): str(control) for bot_id, control in (value or {}).items()} or None

    def process_result_value(
        self, value: Mapping[str, str] | None, _dialect: Dialect
    ) -> dict[BotId, TimeControl]:
        return {BotId(int(key)): TimeControl.parse(text) for key, text in (value or {}).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentSettings:
    """What is fixed when a tournament is made.

    The columns of its row and the fields of its message have these names.
    """

    name: str = ""
    format: FormatName
    rounds: int = 0
    """0 where the format has none, or it was left out."""
    variant: Variant
    time_control: TimeControl
    seed: int = 0
    max_games: int = 0
    """The most games at once; 0 leaves it to the bots."""
    openings: tuple[bytes, ...] = ()
    """Those it was given, two bytes a cell, little-endian; none when they are the server's own."""
    options: Mapping[str, Any] | None = None
    """The settings of the format's own; ``None`` where there are none, or they were left out."""
    adjudication: Adjudication | None = None
    """Which games end early by the bots' scores; ``None`` for none."""
    max_faults: int = 0
    """It is cancelled when a bot has forfeited this many games; 0 for never."""

    def values(self) -> dict[str, Any]:
        """The settings by their names, for a record that has them too."""
        return {each.name: getattr(self, each.name) for each in fields(TournamentSettings)}


class Tournament(Record, table="tournament"):
    """Pairings between bots, planned by a format."""

    id: Field[TournamentId] = column(primary_key=True, default=0)
    name: Field[str] = column(String(100), default="")
    format: Field[FormatName]
    rounds: Field[int] = column(default=0)
    seed: Field[int] = column(INT64, default=0)
    variant: Field[Variant]
    time_control: Field[TimeControl]
    max_games: Field[int] = column(default=0)
    ladder_id: Field[LadderId | None] = column(ForeignKey("ladder.id"), default=None)
    """Of the games with its own time control; ``None`` when its games are not rated."""
    create_time: Field[datetime]
    request_id: Field[str | None] = column(String(100), unique=True, default=None)
    state: Field[TournamentState] = column(default=TournamentState.RUNNING)
    end_time: Field[datetime | None] = column(default=None)
    openings: Field[tuple[bytes, ...]] = column(Openings(), default=())
    options: Field[dict[str, Any] | None] = column(default=None)
    verdict: Field[str] = column(String(200), default="", server_default="")
    """Why it ended; empty when its games were simply played."""
    planned: Field[int] = column(default=0, server_default="0")
    """Its pairings. These three change with what they count, so that no list counts games."""
    running: Field[int] = column(default=0, server_default="0")
    """Its running games."""
    finished: Field[int] = column(default=0, server_default="0")
    """Its games with a result."""
    time_controls: Field[Mapping[BotId, TimeControl]] = column(
        ControlsOfBots(), nullable=True, default_factory=dict
    )
    """Of every bot where they differ; none where all have `time_control`."""
    adjudication: Field[Adjudication | None] = column(default=None)
    max_faults: Field[int] = column(default=0, server_default="0")
    end_sequence: Field[int | None] = column(INT64, default=None)
    """Orders tournaments by their last ends; ``None`` before the first. It stays when one is taken
    up again, so that no number is given twice."""
    owner_id: Field[OwnerId | None] = column(ForeignKey("owner.id"), default=None)
    """Who has made it; ``None`` for an operator's, and for a challenge, whose own row says it."""


partial_index("tournament_not_finished", Tournament.state, Tournament.id, where=NOT_FINISHED)
partial_index("tournament_no_challenge", Tournament.id, where=_NO_CHALLENGE)
Index("tournament_end", Tournament.end_sequence)
partial_index("tournament_of_owner", Tournament.owner_id, Tournament.id, where=_HAS_OWNER)


class Entrant(Record, table="entrant"):
    """A bot in a tournament."""

    tournament_id: Field[TournamentId] = column(ForeignKey("tournament.id"), primary_key=True)
    seat: Field[int] = column(primary_key=True)
    """From 0 on, in the order of entry; below 0 for those who came to one where all may play."""
    bot_id: Field[BotId] = column(ForeignKey("bot.id"))


class Pairing(Record, table="pairing"):
    """One planned game: played exactly once, which the index `game_once` sees to."""

    id: Field[PairingId] = column(primary_key=True, default=0)
    tournament_id: Field[TournamentId] = column(ForeignKey("tournament.id"))
    number: Field[int]
    """The place in the schedule, from 1 on."""
    round: Field[int]
    black_id: Field[BotId] = column(ForeignKey("bot.id"))
    white_id: Field[BotId] = column(ForeignKey("bot.id"))
    opening: Field[bytes]
    """Two bytes a cell, little-endian."""
    reason: Field[str] = column(String(200), default="", server_default="")
    """Why the two were to meet; empty when a schedule said so."""
    time_control: Field[TimeControl | None] = column(default=None)
    """``None`` where it is the tournament's."""
    ladder_id: Field[LadderId | None] = column(ForeignKey("ladder.id"), default=None)
    """Where its time control is of another class than the tournament's; else ``None``."""
    pair: Field[int] = column(default=0, server_default="0")
    """What two games of one opening with the colours reversed share, from 1 on; 0 for none."""


UniqueConstraint(Pairing.tournament_id, Pairing.number)


class ChallengeColors(enum.Enum):
    """Which colour the challenger has."""

    ALTERNATE = "alternate"
    """Black in the first game, white in the second, and so on."""
    BLACK = "black"
    WHITE = "white"


class Challenge(Record, table="challenge"):
    """Who made the tournament that a challenge's games are of."""

    tournament_id: Field[TournamentId] = column(ForeignKey("tournament.id"), primary_key=True)
    challenger_id: Field[BotId] = column(ForeignKey("bot.id"))
    """A bot, or a person."""
    opponent_id: Field[BotId] = column(ForeignKey("bot.id"))
    games: Field[int]
    """How many it is for: they count for the budget also where it was taken back."""
    colors: Field[ChallengeColors]
    create_time: Field[datetime]
    owner_id: Field[OwnerId | None] = column(ForeignKey("owner.id"), default=None)
    """Who made it; ``None`` for a person and for an operator."""


Index("challenge_of_owner", Challenge.owner_id, Challenge.tournament_id)
Index("challenge_of_challenger", Challenge.challenger_id, Challenge.tournament_id)
