"""The audit log: what owners and operators have changed, each in the change's own transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import Connection, func, or_, select

from meijin.store.rows import add_row, read_rows
from meijin.store.schema import LABEL, AuditRow, Bot, Owner, Token, TokenId

NO_TOKEN = "anyone"  # noqa: S105 - a kind of actor
"""The kind of an actor who has shown no token."""

Facts: TypeAlias = Mapping[str, object]
"""What something is, in values of JSON, and no secret among them."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes something, and by which call."""

    token_id: TokenId | None
    """``None`` without a token."""
    method: str
    peer: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Act:
    """A change that is to be kept in the audit log."""

    actor: Actor
    action: str
    """What was done, such as ``ban bot``."""
    subject: str
    """To what, such as ``bot ada``."""
    time: datetime
    before: Facts | None = None
    """``None`` when it is new."""
    after: Facts | None = None
    """``None`` when it is no more."""


@dataclass(frozen=True, slots=True)
class ActorName:
    """Who an actor is, for people."""

    kind: str
    name: str
    """An owner's or a bot's; else a token's label, which may be empty."""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()[:LABEL]


def actor_name(connection: Connection, token_id: TokenId | None) -> ActorName:
    """Who somebody is, by the token that was shown."""
    if token_id is None:
        return ActorName(NO_TOKEN, "")
    query = (
        select(Token.kind, func.coalesce(Owner.name, Bot.name, Token.label))
        .select_from(Token)
        .outerjoin(Owner, Owner.id == Token.owner_id)
        .outerjoin(Bot, Bot.id == Token.bot_id)
        .where(Token.id == token_id)
    )
    kind, name = connection.execute(query).one()
    return ActorName(kind.value, name)


def add_act(connection: Connection, act: Act) -> None:
    who = actor_name(connection, act.actor.token_id)
    row = AuditRow(
        time=act.time,
        token_id=act.actor.token_id,
        kind=who.kind,
        actor=who.name,
        method=act.actor.method,
        action=act.action,
        subject=act.subject,
        before=None if act.before is None else dict(act.before),
        after=None if act.after is None else dict(act.after),
        peer=act.actor.peer,
        request_id=act.actor.request_id,
    )
    add_row(connection, row)


def list_acts(
    connection: Connection, *, limit: int, before: int | None = None, of: str = ""
) -> Sequence[AuditRow]:
    """Acts, newest first, from the one before the id `before`.

    Args:
        of: Those to what has this name, whatever it is, and those by an actor of this name.
    """
    query = select(AuditRow).order_by(AuditRow.id.desc()).limit(limit)
    if before is not None:
        query = query.where(AuditRow.id < before)
    if of:
        subjects = [of, *(f"{kind} {of}" for kind in SUBJECTS)]
        query = query.where(or_(AuditRow.subject.in_(subjects), AuditRow.actor == of))
    return read_rows(AuditRow, connection.execute(query))


SUBJECTS = ("bot", "owner", "token", "invitation", "tournament", "game", "ladder", "program")
"""What things are changed."""
