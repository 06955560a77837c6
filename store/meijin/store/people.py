"""People: who plays with a person's token, kept as bots are, by names that no bot can have."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, func, select

from meijin.store.schema import PERSON_PREFIX, Bot, BotId, BotVersion, Challenge, Token


def is_person_name(name: str) -> bool:
    """Whether a name is a person's."""
    return name.startswith(PERSON_PREFIX)


def is_person() -> ColumnElement[bool]:
    """The condition of a person among the bots."""
    return Bot.name.like(f"{PERSON_PREFIX}%")


def forget_idle(connection: Connection, since: datetime, *, limit: int) -> int:
    """Delete people, at most so many, who have never challenged and were not here since.

    Returns:
        How many there were.
    """
    challenged = select(Challenge.tournament_id).where(Challenge.challenger_id == Bot.id)
    last = func.coalesce(Bot.last_seen_time, Bot.create_time)
    idle = select(Bot.id).where(is_person(), last < since, ~challenged.exists()).limit(limit)
    people: Sequence[BotId] = connection.scalars(idle).all()
    if people:
        connection.execute(delete(Token).where(Token.bot_id.in_(people)))
        connection.execute(delete(BotVersion).where(BotVersion.bot_id.in_(people)))
        connection.execute(delete(Bot).where(Bot.id.in_(people)))
    return len(people)
