"""People: who plays with a person's token, kept as bots are, by names that no bot can have."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, func, select

from meijin.store.schema import PERSON_PREFIX, Bot, BotId, BotVersion, Challenge, Token


def is_person_name(name: str) -> bool:
    return name.startswith(PERSON_PREFIX)


def is_person() -> ColumnElement[bool]:
    return Bot.name.like(f"{PERSON_PREFIX}%")


def idle_people(connection: Connection, since: datetime, *, limit: int) -> Sequence[BotId]:
    """People, at most this many, who have never challenged and were not here since."""
    query = select(Bot.id).where(is_person(), *_is_idle(since)).limit(limit)
    return connection.scalars(query).all()


def forget_idle(connection: Connection, since: datetime, people: Sequence[BotId]) -> None:
    """Delete those of some people who are idle still, with their tokens."""
    still = select(Bot.id).where(Bot.id.in_(people), *_is_idle(since))
    idle = connection.scalars(still).all()
    connection.execute(delete(Token).where(Token.bot_id.in_(idle)))
    connection.execute(delete(BotVersion).where(BotVersion.bot_id.in_(idle)))
    connection.execute(delete(Bot).where(Bot.id.in_(idle)))


def _is_idle(since: datetime) -> tuple[ColumnElement[bool], ...]:
    challenged = select(Challenge.tournament_id).where(Challenge.challenger_id == Bot.id)
    return func.coalesce(Bot.last_seen_time, Bot.create_time) < since, ~challenged.exists()
