"""Bots with their ratings, versions and results."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from sqlalchemy import Connection

from meijin.store.bots import BotRow, get_bot, get_bots, newest_version_rows
from meijin.store.ladders.results import BotResults, bot_results
from meijin.store.ladders.versions import (
    BotRating,
    VersionRating,
    bot_ratings,
    version_ratings,
)
from meijin.store.schema import BotVersion

MAX_VERSIONS = 100
"""The newest of a bot that are shown, and whose games are counted."""

RatedVersions: TypeAlias = Sequence[tuple[BotVersion, VersionRating | None]]
"""Versions with their ratings in the ladder that has most of their bot's games, newest first."""


class RatedBot(NamedTuple):
    row: BotRow
    rating: BotRating | None
    """In the ladder with most of its games; ``None`` where no run rates it."""


def rated_bots(connection: Connection, rows: Sequence[BotRow]) -> Sequence[RatedBot]:
    ratings = bot_ratings(connection, [row.id for row in rows])
    return [RatedBot(row, ratings.get(row.id)) for row in rows]


def rated_bot(connection: Connection, name: str) -> RatedBot:
    """A bot with its rating.

    Raises:
        RowNotFoundError: no bot has the name.
    """
    bot_id = get_bot(connection, name)
    (found,) = rated_bots(connection, get_bots(connection, {name: bot_id}))
    return found


def bot_with_results(
    connection: Connection, name: str
) -> tuple[RatedBot, RatedVersions, BotResults]:
    """A bot with its versions and its results.

    Raises:
        RowNotFoundError: no bot has the name.
    """
    found = rated_bot(connection, name)
    rows = newest_version_rows(connection, found.row.id, MAX_VERSIONS)
    versions = [row.id for row in rows]
    ladder = "" if found.rating is None else found.rating.ladder
    ratings = version_ratings(connection, ladder, versions)
    rated = [(row, ratings.get(row.id)) for row in rows]
    return found, rated, bot_results(connection, versions)
