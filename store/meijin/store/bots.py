"""Bots, their versions, their owners and their tokens."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, func, select, update
from sqlalchemy.orm import Session

from meijin.store.errors import TooManyVersionsError, UnknownBotError
from meijin.store.rows import columns_of, read_row, read_rows
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    Owner,
    OwnerId,
    Token,
    TokenId,
    TokenKind,
)
from meijin.store.similar import did_you_mean

MAX_VERSIONS = 1000
"""Of one bot."""

MAX_VERSIONS_A_DAY = 100
"""New ones of one bot, in 24 hours."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a token belongs to."""

    kind: TokenKind
    bot_id: BotId | None
    """The bot that it lets play; ``None`` for an operator's."""
    token_id: TokenId


@dataclass(frozen=True, slots=True)
class EngineRow:
    """The program behind a bot as it introduced itself."""

    label: str
    digest: str
    configuration: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BotRow:
    """A bot as it is listed."""

    id: BotId
    name: str
    owner: str
    """Empty when it has none."""
    create_time: datetime


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version of a bot as it is listed."""

    id: BotVersionId
    digest: str
    label: str
    """May be empty."""
    configuration: Sequence[str]
    create_time: datetime
    parent_id: BotVersionId | None
    """The version before; ``None`` for the first."""


def new_token(kind: TokenKind) -> str:
    """A fresh secret of 256 bits; its prefix lets scanners find a leaked one."""
    return f"gmk_{kind.value}_{secrets.token_urlsafe(32)}"


def token_digest(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def authenticate(connection: Connection, token: str) -> Identity | None:
    """Whose token it is; ``None`` when it is unknown or revoked."""
    query = select(*columns_of(Identity, Token, token_id=Token.id)).where(
        Token.digest == token_digest(token), Token.revoke_time.is_(None)
    )
    return read_row(Identity, connection.execute(query))


def is_revoked(connection: Connection, token_id: TokenId) -> bool:
    """Whether a token that was valid is so no more."""
    query = select(Token.id).where(Token.id == token_id, Token.revoke_time.is_(None))
    return connection.scalar(query) is None


def add_token(
    connection: Connection, token: str, kind: TokenKind, now: datetime, bot_id: BotId | None = None
) -> None:
    """Keep the hash of a new token."""
    with Session(connection) as session:
        session.add(
            Token(
                digest=token_digest(token),
                suffix=token[-6:],
                kind=kind,
                create_time=now,
                bot_id=bot_id,
            )
        )
        session.flush()


def rotate_token(connection: Connection, token: str, bot_id: BotId, now: datetime) -> None:
    """Revoke the bot's tokens and keep the hash of its new one; without it nobody plays."""
    connection.execute(update(Bot).where(Bot.id == bot_id).values(is_open=False))
    old = update(Token).where(Token.bot_id == bot_id, Token.revoke_time.is_(None))
    connection.execute(old.values(revoke_time=now))
    add_token(connection, token, TokenKind.BOT, now, bot_id)


def has_admin_token(connection: Connection) -> bool:
    """Whether an operator's token was ever made."""
    return connection.scalar(select(Token.id).where(Token.kind == TokenKind.ADMIN)) is not None


def find_bot(connection: Connection, name: str) -> BotId | None:
    """The bot of that name, if any."""
    return connection.scalar(select(Bot.id).where(Bot.name == name))


def get_bot(connection: Connection, name: str) -> BotId:
    """The bot of that name.

    Raises:
        UnknownBotError: there is none.
    """
    bot_id = find_bot(connection, name)
    if bot_id is None:
        hint = did_you_mean(connection, Bot.name, name) or "list the bots to see their names"
        raise UnknownBotError(f'no bot "{name}"; {hint}')
    return bot_id


def is_open_bot(connection: Connection, bot_id: BotId) -> bool:
    """Whether the bot came by open registration."""
    return bool(connection.scalar(select(Bot.is_open).where(Bot.id == bot_id)))


def bot_name(connection: Connection, bot_id: BotId) -> str:
    """A bot's name."""
    return connection.scalars(select(Bot.name).where(Bot.id == bot_id)).one()


def add_bot(
    connection: Connection, name: str, now: datetime, *, owner: str = "", is_open: bool = False
) -> BotId:
    """Register a bot.

    Raises:
        sqlalchemy.exc.IntegrityError: the name is taken.
    """
    with Session(connection) as session:
        owner_id = _owner(session, owner, now) if owner else None
        bot = Bot(name=name, create_time=now, owner_id=owner_id, is_open=is_open)
        session.add(bot)
        session.flush()
        return bot.id


def _owner(session: Session, name: str, now: datetime) -> OwnerId:
    found = session.scalar(select(Owner).where(Owner.name == name))
    if found is None:
        found = Owner(name=name, create_time=now)
        session.add(found)
        session.flush()
    return found.id


def bot_version(
    connection: Connection, bot_id: BotId, engine: EngineRow, now: datetime
) -> BotVersionId:
    """The version of a bot with this digest; made, with its lineage, when it is new.

    Raises:
        TooManyVersionsError: it is new, and the bot has as many as it may have.
    """
    mine = BotVersion.bot_id == bot_id
    same = select(BotVersion.id).where(mine, BotVersion.digest == engine.digest)
    known = connection.scalar(same)
    if known is not None:
        return known
    _check_versions(connection, bot_id, now)
    newest = select(func.max(BotVersion.id)).where(mine)
    version = BotVersion(
        bot_id=bot_id,
        digest=engine.digest,
        label=engine.label,
        configuration=list(engine.configuration),
        create_time=now,
        parent_id=connection.scalar(newest),
    )
    with Session(connection) as session:
        session.add(version)
        session.flush()
        return version.id


def _check_versions(connection: Connection, bot_id: BotId, now: datetime) -> None:
    """Refuse a new version to a bot that has too many: each is kept for ever.

    The oldest of the last so many is looked up in the order of the versions, none is counted.
    """
    times = select(BotVersion.create_time).where(BotVersion.bot_id == bot_id)
    newest_first = times.order_by(BotVersion.id.desc()).limit(1)
    if connection.scalar(newest_first.offset(MAX_VERSIONS - 1)) is not None:
        message = f"the bot has {MAX_VERSIONS} versions, the most; register another bot"
        raise TooManyVersionsError(message)
    of_today = connection.scalar(newest_first.offset(MAX_VERSIONS_A_DAY - 1))
    if of_today is not None and of_today > now - timedelta(days=1):
        message = f"the bot has {MAX_VERSIONS_A_DAY} new versions in a day, the most; come with one"
        raise TooManyVersionsError(f"{message} that was here before, or tomorrow")


def list_bots(connection: Connection, *, limit: int, after: str = "") -> Sequence[BotRow]:
    """Bots in the order of their names, from the one after `after`."""
    query = _bots().where(Bot.name > after).order_by(Bot.name).limit(limit)
    return read_rows(BotRow, connection.execute(query))


def get_bots(connection: Connection, bots: Mapping[str, BotId]) -> Sequence[BotRow]:
    """Some bots, in the order in which they are named."""
    query = _bots().where(Bot.id.in_(bots.values()))
    rows = {row.name: row for row in read_rows(BotRow, connection.execute(query))}
    return [rows[name] for name in bots]


def _bots() -> Select[*tuple[Any, ...]]:
    owner = func.coalesce(Owner.name, "")
    return select(*columns_of(BotRow, Bot, owner=owner)).select_from(Bot).outerjoin(Owner)


def version_ids(connection: Connection, bot_id: BotId) -> Sequence[BotVersionId]:
    """All versions of a bot, oldest first; none when it has never been there."""
    query = select(BotVersion.id).where(BotVersion.bot_id == bot_id)
    return connection.scalars(query.order_by(BotVersion.id)).all()


def newest_versions(connection: Connection, bot_id: BotId, limit: int) -> Sequence[BotVersionId]:
    """The newest versions of a bot, newest first."""
    query = select(BotVersion.id).where(BotVersion.bot_id == bot_id)
    return connection.scalars(query.order_by(BotVersion.id.desc()).limit(limit)).all()


def list_versions(
    connection: Connection, bot_id: BotId, *, limit: int, after: int = 0
) -> Sequence[VersionRow]:
    """A bot's versions, oldest first, from the one after the id `after`."""
    query = (
        select(*columns_of(VersionRow, BotVersion))
        .where(BotVersion.bot_id == bot_id, BotVersion.id > after)
        .order_by(BotVersion.id)
        .limit(limit)
    )
    return read_rows(VersionRow, connection.execute(query))
