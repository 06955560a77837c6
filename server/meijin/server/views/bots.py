"""Bots with their ratings, versions and results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sqlalchemy import Connection

from meijin.server.views.ladders import rank_of
from meijin.store.bots import BotRow, VersionRow, get_bot, get_bots, newest_version_rows
from meijin.store.ladders.results import BotResults, bot_results
from meijin.store.ladders.versions import BotRating, bot_ratings, version_ratings
from meijin.store.schema import RatingLine

MAX_VERSIONS = 100
"""The newest of a bot that are shown, and whose games are counted."""

RatedVersions: TypeAlias = Sequence[tuple[VersionRow, RatingLine | None]]
"""Versions with their lines in the ladder that has most of their bot's games, newest first."""


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


@dataclass(frozen=True, slots=True)
class BotInFull:
    """A bot with all that its games have come to."""

    bot: RatedBot
    rank: int
    """In the table of the ladder with most of its games; 0 where that does not show it."""
    ranked: int
    """The lines of that table."""
    versions: RatedVersions
    results: BotResults


def bot_in_full(connection: Connection, name: str) -> BotInFull:
    """A bot with its rank, its versions and its results.

    Raises:
        RowNotFoundError: no bot has the name.
    """
    found = rated_bot(connection, name)
    rows = newest_version_rows(connection, found.row.id, MAX_VERSIONS)
    versions = [row.id for row in rows]
    ladder = "" if found.rating is None else found.rating.ladder
    ratings = version_ratings(connection, ladder, versions)
    rated = [(row, ratings.get(row.id)) for row in rows]
    rank, ranked = rank_of(connection, ladder, found.row.id) if ladder else (0, 0)
    return BotInFull(found, rank, ranked, rated, bot_results(connection, versions))
