"""The ratings of bots and of their versions, out of the published runs."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, select

from meijin.store.schema import BotId, BotVersion, BotVersionId, Ladder, Rating


class BotRating(NamedTuple):
    """What a bot is rated in the ladder that has most of its games."""

    ladder: str
    """The ladder's name."""
    elo: float
    """Of the newest of its versions there."""


class VersionRating(NamedTuple):
    """What a version is rated in one ladder."""

    elo: float
    margin: float
    """Half of the 95 % interval; Elo."""
    games: int
    """Rated ones."""


_GAMES = (
    Rating.wins_as_black
    + Rating.draws_as_black
    + Rating.losses_as_black
    + Rating.wins_as_white
    + Rating.draws_as_white
    + Rating.losses_as_white
)


def bot_ratings(connection: Connection, bots: Collection[BotId]) -> dict[BotId, BotRating]:
    """The ratings of some bots; those that no published run rates are left out.

    Ladders from before there were classes of time controls are left out: their games have gone
    to others.
    """
    query = (
        select(BotVersion.bot_id, Ladder.name, Rating.elo, _GAMES)
        .select_from(BotVersion)
        .join(Rating, Rating.version_id == BotVersion.id)
        .join(Ladder, Ladder.run_id == Rating.run_id)
        .where(BotVersion.bot_id.in_(bots), Ladder.time_class.is_not(None))
        .order_by(BotVersion.id)
    )
    games: dict[tuple[BotId, str], int] = {}
    found: dict[BotId, BotRating] = {}
    for bot_id, ladder, elo, more in connection.execute(query):
        games[bot_id, ladder] = count = games.get((bot_id, ladder), 0) + more
        best = found.get(bot_id)
        if best is None or ladder == best.ladder or count > games[bot_id, best.ladder]:
            found[bot_id] = BotRating(ladder, elo)
    return found


def version_ratings(
    connection: Connection, ladder: str, versions: Collection[BotVersionId]
) -> dict[BotVersionId, VersionRating]:
    """The ratings of some versions by a ladder's published run, which may not have all of them."""
    query = (
        select(Rating.version_id, Rating.elo, Rating.margin, _GAMES)
        .join(Ladder, Ladder.run_id == Rating.run_id)
        .where(Ladder.name == ladder, Rating.version_id.in_(versions))
    )
    rows = connection.execute(query)
    return {key: VersionRating(elo, margin, games) for key, elo, margin, games in rows}
