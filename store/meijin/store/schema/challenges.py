"""Challenges: unrated games that an owner, an operator or a person has started."""

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from meijin.store.schema.base import Base
from meijin.store.schema.ids import BotId, OwnerId, TournamentId


class ChallengeColors(enum.Enum):
    """Which colour the challenger has."""

    ALTERNATE = "alternate"
    """Black in the first game, white in the second, and so on."""
    BLACK = "black"
    WHITE = "white"


class Challenge(Base):
    """Who made the tournament that a challenge's games are of."""

    __tablename__ = "challenge"
    __table_args__ = (
        Index("challenge_of_owner", "owner_id", "tournament_id"),
        Index("challenge_of_challenger", "challenger_id", "tournament_id"),
    )

    tournament_id: Mapped[TournamentId] = mapped_column(
        ForeignKey("tournament.id"), primary_key=True
    )
    challenger_id: Mapped[BotId] = mapped_column(ForeignKey("bot.id"))
    """A bot, or a person."""
    opponent_id: Mapped[BotId] = mapped_column(ForeignKey("bot.id"))
    games: Mapped[int]
    """How many it is for: they count for the budget also where it was taken back."""
    colors: Mapped[ChallengeColors]
    create_time: Mapped[datetime]
    owner_id: Mapped[OwnerId | None] = mapped_column(ForeignKey("owner.id"), default=None)
    """Who made it; ``None`` for a person and for an operator."""
