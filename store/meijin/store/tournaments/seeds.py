"""Published ratings, by which a tournament's bots are seeded."""

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import aliased

from meijin.store.schema import BotId, BotVersion, Ladder, Rating


def published_ratings(connection: Connection, ladder: str) -> dict[BotId, float]:
    """The Elo of each bot whose newest version is rated in the ladder's published run."""
    other = aliased(BotVersion)
    newest = select(func.max(other.id)).where(other.bot_id == BotVersion.bot_id)
    query = (
        select(BotVersion.bot_id, Rating.elo)
        .join(Rating, Rating.version_id == BotVersion.id)
        .join(Ladder, Ladder.run_id == Rating.run_id)
        .where(Ladder.name == ladder, BotVersion.id == newest.scalar_subquery())
    )
    return {BotId(bot_id): elo for bot_id, elo in connection.execute(query)}
