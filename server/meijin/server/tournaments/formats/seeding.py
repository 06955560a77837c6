"""Seeding: in which order the bots of a tournament are numbered before its first round."""

from enum import Enum

from sqlalchemy import Connection

from meijin.server.tournaments.formats.base import Request
from meijin.store.schema import BotId
from meijin.store.tournaments.seeds import published_ratings


class Seeding(Enum):
    """What the bots are ordered by."""

    LADDER = "ladder"
    """By the published ratings of the ladder of its variant and time control; those without one last, as given."""
    GIVEN = "given"
    """As they were given."""


def seeding_of(request: Request) -> Seeding:
    """What a request asks to order by; the ladder when it was left out."""
    return Seeding((request.options or {}).get("seeding", Seeding.LADDER))


def seeded(connection: Connection, request: Request) -> tuple[BotId, ...]:
    """The bots of a request, the first seed first."""
    if seeding_of(request) is Seeding.GIVEN:
        return request.bots
    ratings = published_ratings(connection, request.ladder)
    return tuple(sorted(request.bots, key=lambda bot: -ratings.get(bot, float("-inf"))))
