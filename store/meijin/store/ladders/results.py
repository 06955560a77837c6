"""Results: of two versions on a ladder, and of a bot by colour, opening, ending and opponent."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Subquery,
    and_,
    func,
    literal,
    or_,
    select,
    union_all,
)

from meijin.game import Ending, Party, Result, Variant
from meijin.store.games import newest_games
from meijin.store.ladders.games import is_rated, settled_opening
from meijin.store.schema import (
    Bot,
    BotVersion,
    BotVersionId,
    Game,
    GameId,
    GameState,
    LadderId,
    Score,
    Tournament,
)

MAX_GAMES = 10_000
"""The newest games of two versions, or of a bot, that are counted: each is looked up."""

BLACK_SCORES = {
    Result.BLACK_WINS: Score(1, 0, 0),
    Result.DRAW: Score(0, 1, 0),
    Result.WHITE_WINS: Score(0, 0, 1),
}
"""Black's of one game."""


@dataclass(frozen=True, slots=True)
class ColorScores:
    """What one scored against another, by its own colours."""

    as_black: Score = field(default_factory=Score)
    as_white: Score = field(default_factory=Score)

    @property
    def games(self) -> int:
        return self.as_black.games + self.as_white.games

    def with_games(self, result: Result, games: int, *, is_black: bool) -> "ColorScores":
        """These and some more that ended alike."""
        one = BLACK_SCORES[result]
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


def _between(one: BotVersionId, other: BotVersionId) -> ColumnElement[bool]:
    return or_(
        and_(Game.black_id == one, Game.white_id == other),
        and_(Game.black_id == other, Game.white_id == one),
    )


MAX_OPENINGS = 50
MAX_OPPONENTS = 10


@dataclass(frozen=True, slots=True)
class OpeningResults:
    """What a bot scored on one opening."""

    variant: Variant
    opening: bytes
    """Two bytes a cell, little-endian."""
    scores: ColorScores


@dataclass(frozen=True, slots=True)
class EndingResults:
    """A bot's games that ended alike."""

    ending: Ending
    score: Score = field(default_factory=Score)
    own_faults: int = 0
    """Those that it forfeited."""
    opponents_faults: int = 0


@dataclass(frozen=True, slots=True)
class OpponentResults:
    """What a bot scored against another, all versions together."""

    bot: str
    scores: ColorScores


@dataclass(frozen=True, slots=True)
class BotResults:
    """What a bot's newest games with a result have come to."""

    since: datetime | None
    """When the first of the newest `MAX_GAMES` began; ``None`` where there are no others."""
    scores: ColorScores
    openings: tuple[OpeningResults, ...]
    """The most played first."""
    endings: tuple[EndingResults, ...]
    """The most frequent first."""
    opponents: tuple[OpponentResults, ...]
    """Those most met, without hidden ones."""


def bot_results(connection: Connection, versions: Sequence[BotVersionId]) -> BotResults:
    """What the newest games of some versions of a bot have come to.

    Args:
        versions: Newest first.
    """
    newest = newest_games(connection, versions, MAX_GAMES + 1)
    first = newest[MAX_GAMES - 1] if len(newest) > MAX_GAMES else None
    games = _finished_games(versions, first or GameId(0))
    scores, opponents = _by_opponent(connection, games)
    return BotResults(
        since=None if first is None else _start_time(connection, first),
        scores=scores,
        openings=tuple(_by_opening(connection, games)),
        endings=tuple(_by_ending(connection, games)),
        opponents=opponents,
    )


def _finished_games(versions: Sequence[BotVersionId], first: GameId) -> Subquery:
    """The games with a result from one on, from the side of the bot."""

    def side(
        mine: Column[BotVersionId],
        other: Column[BotVersionId],
        *,
        is_black: bool,
    ) -> Select[*tuple[Any, ...]]:
        columns = (
            Game.id,
            Game.tournament_id,
            Game.opening,
            Game.result,
            Game.ending,
            Game.at_fault,
        )
        query = select(literal(is_black).label("is_black"), other.label("opponent_id"), *columns)
        return query.where(mine.in_(versions), Game.id >= first, Game.state == GameState.FINISHED)

    return union_all(
        side(Game.black_id, Game.white_id, is_black=True),
        side(Game.white_id, Game.black_id, is_black=False),
    ).subquery()


def _by_opponent(
    connection: Connection, games: Subquery
) -> tuple[ColorScores, tuple[OpponentResults, ...]]:
    groups = (Bot.name, Bot.is_hidden, games.c.is_black, games.c.result)
    query = (
        select(*groups, func.count())
        .select_from(games)
        .join(BotVersion, BotVersion.id == games.c.opponent_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .group_by(*groups)
    )
    total = ColorScores()
    met: dict[str, ColorScores] = defaultdict(ColorScores)
    for name, is_hidden, is_black, result, count in connection.execute(query):
        total = total.with_games(result, count, is_black=is_black)
        if not is_hidden:
            met[name] = met[name].with_games(result, count, is_black=is_black)
    most = sorted(met.items(), key=lambda item: (-item[1].games, item[0]))[:MAX_OPPONENTS]
    return total, tuple(OpponentResults(name, scores) for name, scores in most)


def _by_ending(connection: Connection, games: Subquery) -> list[EndingResults]:
    groups = (games.c.ending, games.c.at_fault, games.c.is_black, games.c.result)
    query = select(*groups, func.count()).group_by(*groups)
    found: dict[Ending, EndingResults] = {}
    for ending, at_fault, is_black, result, count in connection.execute(query):
        mine, other = (Party.BLACK, Party.WHITE) if is_black else (Party.WHITE, Party.BLACK)
        before = found.get(ending, EndingResults(ending))
        scores = ColorScores().with_games(result, count, is_black=is_black)
        found[ending] = EndingResults(
            ending,
            before.score + scores.as_black + scores.as_white,
            before.own_faults + count * (at_fault is mine),
            before.opponents_faults + count * (at_fault is other),
        )
    return sorted(found.values(), key=lambda each: (-each.score.games, each.ending.value))


def _by_opening(connection: Connection, games: Subquery) -> list[OpeningResults]:
    keys = (games.c.opening, Tournament.variant)
    played = select(*keys).select_from(games)
    played = played.join(Tournament, Tournament.id == games.c.tournament_id)
    most = connection.execute(
        played.add_columns(func.max(games.c.id))
        .group_by(*keys)
        .order_by(func.count().desc(), games.c.opening)
        .limit(MAX_OPENINGS)
    ).all()
    colors = (games.c.is_black, games.c.result)
    counted = (
        played.add_columns(*colors, func.count())
        .where(games.c.opening.in_([opening for opening, _, _ in most]))
        .group_by(*keys, *colors)
    )
    scores: dict[tuple[int, Variant], ColorScores] = defaultdict(ColorScores)
    for opening, variant, is_black, result, count in connection.execute(counted):
        key = (opening, variant)
        scores[key] = scores[key].with_games(result, count, is_black=is_black)
    stones = _openings_of(connection, [example for _, _, example in most])
    return [
        OpeningResults(variant, stones[example], scores[opening, variant])
        for opening, variant, example in most
    ]


def _openings_of(connection: Connection, games: Sequence[GameId]) -> dict[GameId, bytes]:
    columns = (Game.id, Game.moves, Game.opening_plies, Game.decisions)
    query = select(*columns).where(Game.id.in_(games))
    return {
        game_id: settled_opening(moves, plies, decided)
        for game_id, moves, plies, decided in connection.execute(query)
    }


def _start_time(connection: Connection, game_id: GameId) -> datetime:
    return connection.scalars(select(Game.start_time).where(Game.id == game_id)).one()
