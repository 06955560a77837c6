"""Tournaments, who is in them, and their planned games."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from meijin.game import Adjudication, TimeControl, Variant
from meijin.store.schema.base import INT64, NOT_FINISHED, Base
from meijin.store.schema.ids import BotId, FormatName, LadderId, OwnerId, PairingId, TournamentId

TOURNAMENT_IS_NOT_FINISHED = text("tournament.state <> 'finished'")
"""Has SQLite use the index of what is not finished: it does not see that from another state."""


TOURNAMENT_IS_NO_CHALLENGE = text("tournament.format <> 'challenge'")
"""Has both databases use the index of those that are no challenge."""
_NO_CHALLENGE = text("format <> 'challenge'")
_HAS_OWNER = text("owner_id IS NOT NULL")


class TournamentState(enum.Enum):
    """Where a tournament stands."""

    PLANNING = "planning"
    """Its games are being stored: nobody sees it, and a start that finds it drops it."""
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class Tournament(Base):
    """Pairings between bots, planned by a format."""

    __tablename__ = "tournament"
    __table_args__ = (
        Index(
            "tournament_not_finished",
            "state",
            "id",
            sqlite_where=NOT_FINISHED,
            postgresql_where=NOT_FINISHED,
        ),
        Index(
            "tournament_no_challenge",
            "id",
            sqlite_where=_NO_CHALLENGE,
            postgresql_where=_NO_CHALLENGE,
        ),
        Index("tournament_end", "end_sequence"),
        Index(
            "tournament_of_owner",
            "owner_id",
            "id",
            sqlite_where=_HAS_OWNER,
            postgresql_where=_HAS_OWNER,
        ),
    )

    id: Mapped[TournamentId] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(String(100))
    format: Mapped[FormatName]
    rounds: Mapped[int]
    """0 where the format has none."""
    seed: Mapped[int] = mapped_column(INT64)
    variant: Mapped[Variant]
    time_control: Mapped[TimeControl]
    max_games: Mapped[int]
    """The most games at once; 0 leaves it to the bots."""
    ladder_id: Mapped[LadderId | None] = mapped_column(ForeignKey("ladder.id"))
    """Of the games with its own time control; ``None`` when its games are not rated."""
    create_time: Mapped[datetime]
    request_id: Mapped[str | None] = mapped_column(String(100), unique=True, default=None)
    state: Mapped[TournamentState] = mapped_column(default=TournamentState.RUNNING)
    end_time: Mapped[datetime | None] = mapped_column(default=None)
    openings: Mapped[bytes] = mapped_column(default=b"")
    """Those it was given: of each its length in plies in two bytes, and two bytes a cell, all
    little-endian. Empty when they are the server's own."""
    options: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """The settings of the format's own; ``None`` for one that has none."""
    verdict: Mapped[str] = mapped_column(String(200), default="", server_default="")
    """Why it ended; empty when its games were simply played."""
    planned: Mapped[int] = mapped_column(default=0, server_default="0")
    """Its pairings. These three change with what they count, so that no list counts games."""
    running: Mapped[int] = mapped_column(default=0, server_default="0")
    """Its running games."""
    finished: Mapped[int] = mapped_column(default=0, server_default="0")
    """Its games with a result."""
    time_controls: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """By the id of a bot, where they differ, its time control; ``None`` where they don't."""
    adjudication: Mapped[Adjudication | None] = mapped_column(default=None)
    """Which games end early by the bots' scores; ``None`` for none."""
    max_faults: Mapped[int] = mapped_column(default=0, server_default="0")
    """It is cancelled when a bot has forfeited so many games; 0 for never."""
    end_sequence: Mapped[int | None] = mapped_column(INT64, default=None)
    """Orders tournaments by their last ends; ``None`` before the first. It stays when one is taken
    up again, so that no number is given twice."""
    owner_id: Mapped[OwnerId | None] = mapped_column(ForeignKey("owner.id"), default=None)
    """Who has made it; ``None`` for an operator's, and for a challenge, whose own row says it."""


class Entrant(Base):
    """A bot in a tournament."""

    __tablename__ = "entrant"

    tournament_id: Mapped[TournamentId] = mapped_column(
        ForeignKey("tournament.id"), primary_key=True
    )
    seat: Mapped[int] = mapped_column(primary_key=True)
    """From 0 on, in the order of entry; below 0 for those who came to one where all may play."""
    bot_id: Mapped[BotId] = mapped_column(ForeignKey("bot.id"))


class Pairing(Base):
    """One planned game: played exactly once, which the index `game_once` sees to."""

    __tablename__ = "pairing"
    __table_args__ = (UniqueConstraint("tournament_id", "number"),)

    id: Mapped[PairingId] = mapped_column(primary_key=True, init=False)
    tournament_id: Mapped[TournamentId] = mapped_column(ForeignKey("tournament.id"))
    number: Mapped[int]
    """The place in the schedule, from 1 on."""
    round: Mapped[int]
    black_id: Mapped[BotId] = mapped_column(ForeignKey("bot.id"))
    white_id: Mapped[BotId] = mapped_column(ForeignKey("bot.id"))
    opening: Mapped[bytes]
    """Two bytes a cell, little-endian."""
    reason: Mapped[str] = mapped_column(String(200), default="", server_default="")
    """Why the two were to meet; empty when a schedule said so."""
    time_control: Mapped[TimeControl | None] = mapped_column(default=None)
    """``None`` where it is the tournament's."""
    ladder_id: Mapped[LadderId | None] = mapped_column(ForeignKey("ladder.id"), default=None)
    """Where its time control is of another class than the tournament's; else ``None``."""
