"""One bot as it is shown: with its versions, their ratings and what its games have come to."""

from dataclasses import dataclass

from sqlalchemy import Connection

from meijin.server.views.bots import ListedBot, with_ratings
from meijin.store.bot_results import BotResults, bot_results
from meijin.store.bots import VersionRow, get_bot, get_bots, newest_version_rows
from meijin.store.ladders.bot_ratings import VersionRating, version_ratings

MAX_VERSIONS = 100
"""The newest of a bot that are shown, and whose games are counted."""


@dataclass(frozen=True, slots=True)
class RatedVersionRow:
    """A version with its rating in the ladder that has most of its bot's games."""

    row: VersionRow
    rating: VersionRating | None
    """``None`` where the published run has none."""


@dataclass(frozen=True, slots=True)
class BotDetail:
    """A stored bot, its versions and its results."""

    listed: ListedBot
    versions: tuple[RatedVersionRow, ...] = ()
    """Newest first."""
    results: BotResults | None = None
    """``None`` where they were not asked for."""


def bot_detail(connection: Connection, name: str) -> BotDetail:
    """A bot alone.

    Raises:
        UnknownBotError: no bot has the name.
    """
    bot_id = get_bot(connection, name)
    (listed,) = with_ratings(connection, get_bots(connection, {name: bot_id}))
    return BotDetail(listed)


def bot_detail_with_results(connection: Connection, name: str) -> BotDetail:
    """A bot with its versions and its results.

    Raises:
        UnknownBotError: no bot has the name.
    """
    listed = bot_detail(connection, name).listed
    rows = newest_version_rows(connection, listed.row.id, MAX_VERSIONS)
    versions = [row.id for row in rows]
    ladder = "" if listed.rating is None else listed.rating.ladder
    ratings = version_ratings(connection, ladder, versions)
    return BotDetail(
        listed,
        tuple(RatedVersionRow(row, ratings.get(row.id)) for row in rows),
        bot_results(connection, versions),
    )
