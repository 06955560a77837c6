"""Tokens: secrets of which a hash is kept, and whom each lets do what."""

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    func,
    literal,
    or_,
    select,
    update,
)

from meijin.store.errors import RowNotFoundError
from meijin.store.rows import add_row, columns_of, read_row, read_rows
from meijin.store.schema import (
    Bot,
    BotId,
    Instant,
    Owner,
    OwnerId,
    Token,
    TokenId,
    TokenKind,
    computed,
)

SUFFIX = 6
"""Characters at a token's end that are kept as they are, to tell it by."""

USES_AT_ONCE = 500
"""Tokens whose last use is written by one statement."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a token belongs to."""

    kind: TokenKind
    bot_id: BotId | None
    """The bot, or person, that it lets play; ``None`` for other kinds."""
    token_id: TokenId
    owner_id: OwnerId | None = None
    """The owner whose bots it lets manage; ``None`` for other kinds."""


_OWNER_ID = func.coalesce(Token.owner_id, Bot.owner_id)


class TokenRow(Token):
    """A token as it is listed; its owner is its bot's, where it lets a bot play."""

    owner_id: OwnerId | None = computed(_OWNER_ID)
    bot: str = computed(func.coalesce(Bot.name, ""))
    """The name of the bot that it lets play; empty for other kinds."""
    owner: str = computed(func.coalesce(Owner.name, ""))
    """The owner's name; may be empty."""


def new_secret(kind: str) -> str:
    """A fresh secret of 256 bits; its prefix lets scanners find a leaked one."""
    return f"gmk_{kind}_{secrets.token_urlsafe(32)}"


def token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def is_valid(now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    """The condition of a token that is neither revoked nor expired."""
    lasts = or_(Token.expire_time.is_(None), Token.expire_time > now)
    return and_(Token.revoke_time.is_(None), lasts)


def authenticate(connection: Connection, token: str, now: datetime) -> Identity | None:
    """Whose token it is; ``None`` when it is unknown, revoked or expired."""
    query = select(*columns_of(Identity, Token, token_id=Token.id)).where(
        Token.digest == token_digest(token), is_valid(now)
    )
    return read_row(Identity, connection.execute(query))


def add_token(
    connection: Connection,
    secret: str,
    kind: TokenKind,
    now: datetime,
    *,
    bot_id: BotId | None = None,
    owner_id: OwnerId | None = None,
    label: str = "",
    creator: str = "",
    expire_time: datetime | None = None,
) -> TokenId:
    """Keep the hash of a new token."""
    row = Token(
        digest=token_digest(secret),
        suffix=secret[-SUFFIX:],
        kind=kind,
        create_time=now,
        bot_id=bot_id,
        owner_id=owner_id,
        label=label,
        creator=creator,
        expire_time=expire_time,
    )
    return add_row(connection, row).id


def revoke_token(connection: Connection, token_id: TokenId, now: datetime) -> bool:
    """Revoke a token; false when it was revoked before."""
    change = update(Token).where(Token.id == token_id, Token.revoke_time.is_(None))
    return bool(connection.execute(change.values(revoke_time=now)).rowcount)


def revoke_tokens_of(connection: Connection, bot_id: BotId, now: datetime) -> None:
    old = update(Token).where(Token.bot_id == bot_id, Token.revoke_time.is_(None))
    connection.execute(old.values(revoke_time=now))


def has_operator_token(connection: Connection, now: datetime) -> bool:
    query = select(Token.id).where(Token.kind == TokenKind.OPERATOR, is_valid(now)).limit(1)
    return connection.scalar(query) is not None


def get_token(connection: Connection, token_id: TokenId) -> TokenRow:
    """A token as it is listed.

    Raises:
        RowNotFoundError: none has the id.
    """
    row = read_row(TokenRow, connection.execute(_tokens().where(Token.id == token_id)))
    if row is None:
        raise RowNotFoundError(f"no token {token_id}; list the tokens to see their ids")
    return row


def list_tokens(
    connection: Connection,
    *,
    limit: int,
    now: datetime,
    after: int = 0,
    owner_id: OwnerId | None = None,
    with_invalid: bool = False,
    with_people: bool = False,
) -> Sequence[TokenRow]:
    """Tokens, oldest first, from the one after the id `after`.

    Args:
        owner_id: Those of this owner and of its bots alone.
        with_invalid: Those that are revoked or expired too.
        with_people: Those of people too.
    """
    query = _tokens().where(Token.id > after).order_by(Token.id).limit(limit)
    if owner_id is not None:
        query = query.where(or_(Token.owner_id == owner_id, Bot.owner_id == owner_id))
    if not with_people:
        query = query.where(Token.kind != TokenKind.PERSON)
    if not with_invalid:
        query = query.where(is_valid(now))
    return read_rows(TokenRow, connection.execute(query))


def count_tokens(
    connection: Connection,
    kind: TokenKind,
    now: datetime,
    *,
    bot_id: BotId | None,
    owner_id: OwnerId | None,
) -> int:
    """How many valid tokens of a kind a bot or an owner has, or nobody in particular."""
    mine = (Token.kind == kind, Token.bot_id == bot_id, Token.owner_id == owner_id)
    query = select(func.count()).select_from(Token).where(*mine, is_valid(now))
    return connection.scalar(query) or 0


def find_secret(connection: Connection, secret: str) -> TokenId | None:
    """The token of a secret, valid or not."""
    return connection.scalar(select(Token.id).where(Token.digest == token_digest(secret)))


def write_uses(connection: Connection, uses: Mapping[TokenId, datetime]) -> None:
    """Write when tokens were last used, hundreds of them by one statement."""
    ids = list(uses)
    for first in range(0, len(ids), USES_AT_ONCE):
        part = ids[first : first + USES_AT_ONCE]
        times = {key: literal(uses[key], Instant()) for key in part}
        change = update(Token).where(Token.id.in_(part))
        connection.execute(change.values(use_time=case(times, value=Token.id)))


def valid_among(
    connection: Connection, token_ids: Iterable[TokenId], now: datetime
) -> frozenset[TokenId]:
    """Those of some tokens that are valid."""
    query = select(Token.id).where(Token.id.in_(list(token_ids)), is_valid(now))
    return frozenset(connection.scalars(query))


def _tokens() -> Select[*tuple[Any, ...]]:
    listed = select(*columns_of(TokenRow)).select_from(Token).outerjoin(Bot)
    return listed.outerjoin(Owner, Owner.id == _OWNER_ID)
