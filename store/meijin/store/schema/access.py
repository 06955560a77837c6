"""Who may do what, and the audit log of what was changed."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String

from meijin.store.schema.base import Field, Record, column
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
    HOST = "host"
    """To run the programs of bots."""
    SEAT = "seat"
    """To play as one bot with a program that is seated on a host."""


class Token(Record, table="token"):
    """A secret's hash and what the secret allows."""

    id: Field[TokenId] = column(primary_key=True, default=0)
    digest: Field[str] = column(String(64), unique=True)
    """SHA-256 of the token, hexadecimal: 256 random bits need no slow hash."""
    suffix: Field[str] = column(String(6))
    """The token's last characters, to tell it by."""
    kind: Field[TokenKind]
    create_time: Field[datetime]
    bot_id: Field[BotId | None] = column(ForeignKey("bot.id"), index=True, default=None)
    """The one bot, or person, that it lets play; ``None`` for other kinds."""
    owner_id: Field[OwnerId | None] = column(
        ForeignKey("owner.id", name="token_owner"), index=True, default=None
    )
    """The one owner whose bots it lets manage; ``None`` for other kinds."""
    label: Field[str] = column(String(LABEL), default="")
    """What it is for, for people."""
    creator: Field[str] = column(String(LABEL), default="")
    """Who made it."""
    expire_time: Field[datetime | None] = column(default=None)
    """From when on it is refused; ``None`` for never."""
    use_time: Field[datetime | None] = column(default=None)
    """When it was last shown, a minute late at most; ``None`` for never."""
    revoke_time: Field[datetime | None] = column(default=None)


class Invitation(Record, table="invitation"):
    """A secret's hash, by which some may become owners."""

    id: Field[InvitationId] = column(primary_key=True, default=0)
    digest: Field[str] = column(String(64), unique=True)
    suffix: Field[str] = column(String(6))
    uses_left: Field[int]
    """How many may still become owners by it."""
    create_time: Field[datetime]
    creator: Field[str] = column(String(LABEL))
    expire_time: Field[datetime]
    quota: Field[int | None] = column(default=None)
    """Of the owners that come by it."""
    revoke_time: Field[datetime | None] = column(default=None)


class AuditRow(Record, table="audit"):
    """What an owner or an operator has changed; rows are only ever added."""

    id: Field[ActId] = column(primary_key=True, default=0)
    time: Field[datetime]
    token_id: Field[TokenId | None]
    """Of who did it; ``None`` without a token."""
    kind: Field[str] = column(String(20))
    """``owner``, ``operator``, ``bot``, or ``anyone`` without a token."""
    actor: Field[str] = column(String(LABEL))
    """The owner's or bot's name, or the label of the token."""
    method: Field[str] = column(String(100))
    """The one that was called."""
    action: Field[str] = column(String(40))
    """What was done, such as ``ban bot``."""
    subject: Field[str] = column(String(140), index=True)
    """To what, such as ``bot ada``."""
    before: Field[dict[str, Any] | None]
    """What it was before; ``None`` when it is new."""
    after: Field[dict[str, Any] | None]
    """What it is now; ``None`` when it is no more."""
    peer: Field[str] = column(String(200))
    """The address that it came from."""
    request_id: Field[str] = column(String(64))
    """Of the call, as the log has it."""
