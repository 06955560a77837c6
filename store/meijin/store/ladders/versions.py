"""Versions on ladders: what each came from, and what published runs rate it."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, func, select

from meijin.store.rows import columns_of, read_rows
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    Ladder,
    LadderId,
    RatingLine,
    aliased,
)


class ParentOf(NamedTuple):
    """What a version came from."""

    version_id: BotVersionId
    parent_id: BotVersionId


def parents_of(connection: Connection, versions: Iterable[BotVersionId]) -> Sequence[ParentOf]:
    """The parents of some versions, and of those in turn, sorted.

    A version's parent never changes, so later versions change nothing of it.
    """
    query = select(BotVersion.id, BotVersion.parent_id).where(BotVersion.parent_id.is_not(None))
    parents = {child: parent for child, parent in connection.execute(query) if parent is not None}
    found: dict[BotVersionId, BotVersionId] = {}
    for version in versions:
        child = version
        while child in parents and child not in found:
            found[child] = parents[child]
            child = parents[child]
    return sorted(ParentOf(*link) for link in found.items())


class BotRating(NamedTuple):
    """What a bot is rated in the ladder that has most of its games."""

    ladder: str
    """The ladder's name."""
    elo: float
    """Of the newest of its versions there."""


_GAMES = (
    RatingLine.wins_as_black
    + RatingLine.draws_as_black
    + RatingLine.losses_as_black
    + RatingLine.wins_as_white
    + RatingLine.draws_as_white
    + RatingLine.losses_as_white
)


def bot_ratings(connection: Connection, bots: Collection[BotId]) -> dict[BotId, BotRating]:
    """The ratings of some bots; those that no published run rates are left out."""
    query = _published(BotVersion.bot_id, Ladder.name, RatingLine.elo, _GAMES)
    games: dict[tuple[BotId, str], int] = {}
    found: dict[BotId, BotRating] = {}
    rows = connection.execute(query.where(BotVersion.bot_id.in_(bots)).order_by(BotVersion.id))
    for bot_id, ladder, elo, more in rows:
        games[bot_id, ladder] = count = games.get((bot_id, ladder), 0) + more
        best = found.get(bot_id)
        if best is None or ladder == best.ladder or count > games[bot_id, best.ladder]:
            found[bot_id] = BotRating(ladder, elo)
    return found


class PublishedLine(NamedTuple):
    """What ranks depend on of a line of a published run."""

    bot_id: BotId
    version_id: BotVersionId
    elo: float
    is_anchor: bool
    is_hidden: bool


def published_lines(connection: Connection, ladder: str) -> Sequence[PublishedLine]:
    """The published run of the ladder of that name, best first; nothing before the first."""
    columns = columns_of(PublishedLine, RatingLine, BotVersion, Bot)
    query = _published(*columns).join(Bot, Bot.id == BotVersion.bot_id)
    rows = connection.execute(query.where(Ladder.name == ladder).order_by(RatingLine.rank))
    return list(map(PublishedLine._make, rows))


def ratings_by_name(connection: Connection, names: Collection[str]) -> dict[str, float]:
    """The same in Elo, by the names of bots."""
    rows = connection.execute(select(Bot.id, Bot.name).where(Bot.name.in_(names)))
    known = dict(rows.all())
    return {known[key]: found.elo for key, found in bot_ratings(connection, known).items()}


def version_ratings(
    connection: Connection, ladder: str, versions: Collection[BotVersionId]
) -> dict[BotVersionId, RatingLine]:
    """The lines of some versions in a ladder's published run, which may not have all of them."""
    query = _published(*columns_of(RatingLine))
    rows = connection.execute(query.where(Ladder.name == ladder, BotVersion.id.in_(versions)))
    return {line.version_id: line for line in read_rows(RatingLine, rows)}


def published_elo(
    connection: Connection, ladder_id: LadderId, versions: Collection[BotVersionId]
) -> dict[BotVersionId, float]:
    """What the published run of a ladder rates some versions; others are missing."""
    query = _published(BotVersion.id, RatingLine.elo)
    rows = connection.execute(query.where(Ladder.id == ladder_id, BotVersion.id.in_(versions)))
    return dict(rows.all())


def published_ratings(connection: Connection, ladder: str) -> dict[BotId, float]:
    """The Elo of each bot whose newest version is rated in the ladder's published run."""
    other = aliased(BotVersion)
    newest = select(func.max(other.id)).where(other.bot_id == BotVersion.bot_id)
    query = _published(BotVersion.bot_id, RatingLine.elo)
    is_newest = BotVersion.id == newest.scalar_subquery()
    return dict(connection.execute(query.where(Ladder.name == ladder, is_newest)).all())


def rated_bots(connection: Connection, ladder: str) -> set[BotId]:
    """The bots in the published run of the ladder of that name; none before the first."""
    return set(connection.scalars(_published(BotVersion.bot_id).where(Ladder.name == ladder)))


def newest_rated_version(
    connection: Connection, ladder_id: LadderId, bot_id: BotId
) -> BotVersionId | None:
    """The bot's newest version in a ladder's published run; ``None`` where it has none there."""
    mine = (Ladder.id == ladder_id, BotVersion.bot_id == bot_id)
    found: BotVersionId | None = connection.scalar(_published(func.max(BotVersion.id)).where(*mine))
    return found


def _published(*columns: ColumnElement[Any]) -> Select[*tuple[Any, ...]]:
    """Columns of the lines of published runs, with their ladders and versions."""
    return (
        select(*columns)
        .select_from(RatingLine)
        .join(Ladder, Ladder.run_id == RatingLine.run_id)
        .join(BotVersion, BotVersion.id == RatingLine.version_id)
    )
