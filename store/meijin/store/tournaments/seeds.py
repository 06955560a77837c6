"""Published ratings, by which a tournament's bots are seeded."""

from sqlalchemy import Connection, func, select

from meijin.store.schema import BotId, BotVersion, Ladder, Rating


def published_ratings(connection: Connection, ladder: str) -> dict[BotId, float]:
    """The Elo of each bot whose newest version is rated in the ladder's published run."""
    newest = select(func.max(BotVersion.id)).group_by(BotVersion.bot_id)
    query = (
        select(BotVersion.bot_id, Rating.elo)
        .join(Rating, Rating.version_id == BotVersion.id)
        .join(Ladder, Ladder.run_id == Rating.run_id)
        .where(Ladder.name == ladder, BotVersion.id.in_(newest))
    )
    return {BotId(bot_id): elo for bot_id, elo in connection.execute(query)}
