"""The fault ledger."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from meijin.game import Ending
from meijin.store.schema.base import Base
from meijin.store.schema.ids import BotVersionId, FaultId, GameId

FAULT_DETAIL = 600
"""Characters of a fault's sentence."""


class FaultKind(enum.Enum):
    """What went wrong."""

    TIME = "time"
    """A move took longer than the clock allowed."""
    ILLEGAL = "illegal"
    """A move on an occupied cell, or off the board."""
    FORBIDDEN = "forbidden"
    """A move that the rule of the game forbids."""
    CRASH = "crash"
    """A bot said that it failed."""
    DISCONNECT = "disconnect"
    """A bot stayed away for longer than the grace period."""
    SUPPLIER = "supplier"
    """What a bot depends on failed, as the bot said."""
    ABSENCE = "absence"
    """A bot was away for a while in games that went on."""
    MASS_DISCONNECT = "mass_disconnect"
    """Half of the bots lost their streams at once."""
    OUTAGE = "outage"
    """The server or its database was away, or has lost moves of a game."""
    STALL = "stall"
    """The server stood still."""
    VOIDED = "voided"
    """An operator stopped or voided a game."""
    PAUSE = "pause"
    """A bot that forfeited game after game gets no new ones for a while."""


class FaultParty(enum.Enum):
    """Whose fault it is."""

    BOT = "bot"
    SUPPLIER = "supplier"
    """Whom a bot depends on, such as the host of its model."""
    CONNECTION = "connection"
    """A bot's own way to the server."""
    NETWORK = "network"
    """The network between the server and several bots."""
    SERVER = "server"
    OPERATOR = "operator"


class Fault(Base):
    """An entry of the fault ledger: why a game ended off the board, or an incident."""

    __tablename__ = "fault"
    __table_args__ = (Index("fault_of_version", "version_id", "kind", "id"),)

    id: Mapped[FaultId] = mapped_column(primary_key=True, init=False)
    kind: Mapped[FaultKind]
    party: Mapped[FaultParty]
    detail: Mapped[str] = mapped_column(String(FAULT_DETAIL))
    """One sentence for people."""
    evidence: Mapped[dict[str, Any]]
    create_time: Mapped[datetime]
    game_id: Mapped[GameId | None] = mapped_column(ForeignKey("game.id"), index=True, default=None)
    """``None`` where it concerns no game, or several."""
    ending: Mapped[Ending | None] = mapped_column(default=None)
    """What it ended the game by; ``None`` where games went on."""
    ply: Mapped[int | None] = mapped_column(default=None)
    """How many stones lay on the game's board."""
    version_id: Mapped[BotVersionId | None] = mapped_column(
        ForeignKey("bot_version.id"), default=None
    )
    """The bot concerned; ``None`` when it was no bot."""
