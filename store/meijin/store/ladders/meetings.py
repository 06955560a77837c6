"""Meetings of two versions on a ladder: what they scored without forfeits, and by openings."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from meijin.game import Party, Result, Variant
from meijin.store.ladders.rated_games import is_rated
from meijin.store.ladders.runs import NO_GAMES, Score
from meijin.store.schema import BotId, BotVersion, BotVersionId, Game, Ladder, LadderId, Rating

MAX_GAMES = 10_000
"""The newest games of two versions that are counted by openings: each is looked up."""

_SCORES = {
    Result.BLACK_WINS: Score(1, 0, 0),
    Result.DRAW: Score(0, 1, 0),
    Result.WHITE_WINS: Score(0, 0, 1),
}
"""Black's of one game."""


@dataclass(frozen=True, slots=True)
class ColorScores:
    """What one scored against another, by its own colours."""

    as_black: Score = NO_GAMES
    as_white: Score = NO_GAMES

    @property
    def games(self) -> int:
        """How many there are."""
        return self.as_black.games + self.as_white.games

    def with_games(self, result: Result, games: int, *, is_black: bool) -> "ColorScores":
        """These and some more that ended alike."""
        one = _SCORES[result]
        more = Score(one.wins * games, one.draws * games, one.losses * games)
        if is_black:
            return ColorScores(self.as_black + more, self.as_white)
        return ColorScores(self.as_black, self.as_white + more.reversed)


def scores_without_faults(
    connection: Connection, ladder_id: LadderId, one: BotVersionId, other: BotVersionId
) -> ColorScores:
    """What one version scored against another in the rated games that nobody forfeited."""
    query = (
        select(Game.black_id, Game.result, func.count())
        .where(
            *is_rated(ladder_id),
            _between(one, other),
            Game.at_fault.not_in((Party.BLACK, Party.WHITE)),
        )
        .group_by(Game.black_id, Game.result)
    )
    scores = ColorScores()
    for black_id, result, games in connection.execute(query):
        scores = scores.with_games(result, games, is_black=black_id == one)
    return scores


def scores_by_opening(
    connection: Connection, ladder_id: LadderId, one: BotVersionId, other: BotVersionId
) -> Sequence[tuple[bytes, ColorScores]]:
    """What one version scored against another on each opening, the most played first.

    Of their newest `MAX_GAMES` rated games; an opening is two bytes a cell, little-endian.
    """
    newest = (
        select(
            Game.black_id,
            Game.result,
            func.substr(Game.moves, 1, 2 * Game.opening_plies).label("opening"),
        )
        .where(*is_rated(ladder_id), _between(one, other))
        .order_by(Game.id.desc())
        .limit(MAX_GAMES)
        .subquery()
    )
    groups = (newest.c.opening, newest.c.black_id, newest.c.result)
    query = select(*groups, func.count()).group_by(*groups)
    scores: dict[bytes, ColorScores] = defaultdict(ColorScores)
    for found, black_id, result, games in connection.execute(query):
        opening = found or b""  # SQLite's substring of nothing is NULL
        scores[opening] = scores[opening].with_games(result, games, is_black=black_id == one)
    return sorted(scores.items(), key=lambda item: (-item[1].games, item[0]))


def newest_rated_version(
    connection: Connection, ladder_id: LadderId, bot_id: BotId
) -> BotVersionId | None:
    """The bot's newest version in a ladder's published run; ``None`` where it has none there."""
    published = select(Ladder.run_id).where(Ladder.id == ladder_id).scalar_subquery()
    query = (
        select(func.max(BotVersion.id))
        .join(Rating, Rating.version_id == BotVersion.id)
        .where(Rating.run_id == published, BotVersion.bot_id == bot_id)
    )
    return connection.scalar(query)


def variant_of(connection: Connection, ladder_id: LadderId) -> Variant:
    """What is played on a ladder."""
    return connection.scalars(select(Ladder.variant).where(Ladder.id == ladder_id)).one()


def _between(one: BotVersionId, other: BotVersionId) -> ColumnElement[bool]:
    return or_(
        and_(Game.black_id == one, Game.white_id == other),
        and_(Game.black_id == other, Game.white_id == one),
    )
