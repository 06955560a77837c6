"""Who may do what, and the audit log of what was changed."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from meijin.store.schema.base import Base
from meijin.store.schema.ids import ActId, BotId, InvitationId, OwnerId, TokenId

LABEL = 60
"""Characters of what a token is called, and of who made it."""


class TokenKind(enum.Enum):
    """The scope of a token: what it allows."""

    BOT = "bot"
    """To play as one bot."""
    OWNER = "owner"
    """To manage the bots of one owner."""
    OPERATOR = "operator"
    """To manage everything."""
    READ = "read"
    """To look."""
    PERSON = "person"
    """To play as one person."""


class Token(Base):
    """A secret's hash and what the secret allows."""

    __tablename__ = "token"

    id: Mapped[TokenId] = mapped_column(primary_key=True, init=False)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256 of the token, hexadecimal: 256 random bits need no slow hash."""
    suffix: Mapped[str] = mapped_column(String(6))
    """The token's last characters, to tell it by."""
    kind: Mapped[TokenKind]
    create_time: Mapped[datetime]
    bot_id: Mapped[BotId | None] = mapped_column(ForeignKey("bot.id"), index=True, default=None)
    """The one bot, or person, that it lets play; ``None`` for other kinds."""
    owner_id: Mapped[OwnerId | None] = mapped_column(
        ForeignKey("owner.id", name="token_owner"), index=True, default=None
    )
    """The one owner whose bots it lets manage; ``None`` for other kinds."""
    label: Mapped[str] = mapped_column(String(LABEL), default="")
    """What it is for, for people."""
    creator: Mapped[str] = mapped_column(String(LABEL), default="")
    """Who made it."""
    expire_time: Mapped[datetime | None] = mapped_column(default=None)
    """From when on it is refused; ``None`` for never."""
    use_time: Mapped[datetime | None] = mapped_column(default=None)
    """When it was last shown, a minute late at most; ``None`` for never."""
    revoke_time: Mapped[datetime | None] = mapped_column(default=None)


class Invitation(Base):
    """A secret's hash, by which some may become owners."""

    __tablename__ = "invitation"

    id: Mapped[InvitationId] = mapped_column(primary_key=True, init=False)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    suffix: Mapped[str] = mapped_column(String(6))
    uses_left: Mapped[int]
    """How many may still become owners by it."""
    create_time: Mapped[datetime]
    creator: Mapped[str] = mapped_column(String(LABEL))
    expire_time: Mapped[datetime]
    quota: Mapped[int | None] = mapped_column(default=None)
    """Of the owners that come by it."""
    revoke_time: Mapped[datetime | None] = mapped_column(default=None)


class AuditRow(Base):
    """What an owner or an operator has changed; rows are only ever added."""

    __tablename__ = "audit"

    id: Mapped[ActId] = mapped_column(primary_key=True, init=False)
    time: Mapped[datetime]
    token_id: Mapped[TokenId | None]
    """Of who did it; ``None`` without a token."""
    kind: Mapped[str] = mapped_column(String(20))
    """``owner``, ``operator``, ``bot``, or ``anyone`` without a token."""
    actor: Mapped[str] = mapped_column(String(LABEL))
    """The owner's or bot's name, or the label of the token."""
    method: Mapped[str] = mapped_column(String(100))
    """The one that was called."""
    action: Mapped[str] = mapped_column(String(40))
    """What was done, such as ``ban bot``."""
    subject: Mapped[str] = mapped_column(String(140), index=True)
    """To what, such as ``bot ada``."""
    before: Mapped[dict[str, Any] | None]
    """What it was before; ``None`` when it is new."""
    after: Mapped[dict[str, Any] | None]
    """What it is now; ``None`` when it is no more."""
    peer: Mapped[str] = mapped_column(String(200))
    """The address that it came from."""
    request_id: Mapped[str] = mapped_column(String(64))
    """Of the call, as the log has it."""
