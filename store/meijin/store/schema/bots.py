"""Bots, their versions, and whom they belong to."""

import enum
from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from meijin.store.schema.base import INT64, Base
from meijin.store.schema.ids import BotId, BotVersionId, OwnerId

REASON = 200
"""Characters of why a bot may not play."""

DISPLAY_NAME = 60
"""Characters of what people call a bot."""

PERSON_PREFIX = "~"
"""What the names of people begin with, and those of bots can't."""

HARDWARE = 80
"""Characters of what a bot says that it runs on."""


class BotState(enum.Enum):
    """Whether a bot may play."""

    ACTIVE = "active"
    DISABLED = "disabled"
    """Its owner or an operator keeps it away for a while."""
    BANNED = "banned"
    """An operator keeps it away."""


class ChallengePolicy(enum.Enum):
    """Whose challenges a bot accepts; those of its own owner it always does."""

    NONE = "none"
    OWNERS = "owners"
    """Those of bots' owners and of operators."""
    ANYONE = "anyone"
    """People's too."""


class Owner(Base):
    """Who bots belong to."""

    __tablename__ = "owner"

    id: Mapped[OwnerId] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(String(40), unique=True)
    create_time: Mapped[datetime]
    quota: Mapped[int | None] = mapped_column(default=None)
    """The most bots that it may register; ``None`` for the server's default."""


class Bot(Base):
    """A name that plays: a bot's, or a person's, which begins with ``~``."""

    __tablename__ = "bot"

    id: Mapped[BotId] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(String(40), unique=True)
    create_time: Mapped[datetime]
    owner_id: Mapped[OwnerId | None] = mapped_column(
        ForeignKey("owner.id"), index=True, default=None
    )
    is_open: Mapped[bool] = mapped_column(default=False)
    """It came by open registration and plays without a token."""
    state: Mapped[BotState] = mapped_column(default=BotState.ACTIVE)
    reason: Mapped[str] = mapped_column(String(REASON), default="")
    """Why it may not play, one sentence for its owner; empty while it may."""
    is_hidden: Mapped[bool] = mapped_column(default=False)
    """It is left out of lists of bots and of ladders' tables."""
    former_names: Mapped[list[str]] = mapped_column(default_factory=list, insert_default=list)
    """Of before it was renamed; its process may still introduce itself so."""
    last_seen_time: Mapped[datetime | None] = mapped_column(default=None)
    """When a stream of it was open last, to a minute; ``None`` where none was."""
    games: Mapped[int] = mapped_column(INT64, default=0, server_default="0")
    """Its games with a result; it changes with them, so that no list counts games."""
    display_name: Mapped[str] = mapped_column(String(DISPLAY_NAME), default="", server_default="")
    """What people call it, in any script; empty where it has its name alone."""
    challenges: Mapped[ChallengePolicy] = mapped_column(
        default=ChallengePolicy.OWNERS, server_default=ChallengePolicy.OWNERS.value
    )
    """Whose it accepts."""


class BotVersion(Base):
    """A bot as it was, the entity that is rated: never changed but for machine and examination."""

    __tablename__ = "bot_version"
    __table_args__ = (
        UniqueConstraint("bot_id", "digest"),
        Index("bot_version_order", "bot_id", "id"),
        Index("bot_version_label", "bot_id", "label", "id"),
    )

    id: Mapped[BotVersionId] = mapped_column(primary_key=True, init=False)
    bot_id: Mapped[BotId] = mapped_column(ForeignKey("bot.id"))
    digest: Mapped[str] = mapped_column(String(64))
    label: Mapped[str] = mapped_column(String(40))
    configuration: Mapped[list[str]]
    create_time: Mapped[datetime]
    parent_id: Mapped[BotVersionId | None] = mapped_column(
        ForeignKey("bot_version.id"), default=None
    )
    """The version before; ``None`` for the first."""
    hardware: Mapped[str] = mapped_column(String(HARDWARE), default="")
    """What it said last that it runs on; empty where it said nothing."""
    nodes_per_second: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    """Of the reference search there, as it said last; 0 where it said nothing."""
    doctor_time: Mapped[datetime | None] = mapped_column(default=None)
    """When its author last reported that it has passed the doctor; ``None`` if it has not."""
