"""What the games of a continuous ladder are planned from."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Select, case, func, select

from meijin.store.rated_games import PairCount, ScoredGame, pair_counts, results_since
from meijin.store.rating_runs import Covariances, Standings, covariances, standings
from meijin.store.tables import (
    BotId,
    BotVersion,
    BotVersionId,
    Game,
    GameState,
    Ladder,
    LadderId,
    Pairing,
    RatingRunId,
    TournamentId,
)

BotPair = tuple[BotId, BotId]
"""The lower id first."""
MAX_RESULTS = 1_000
"""The most games since a run that are looked at: the next run is not far, then."""


@dataclass(frozen=True, slots=True)
class LadderState:
    """A ladder and a tournament for it, at one instant."""

    table: Standings
    covariances: Covariances | None
    versions: dict[BotId, BotVersionId]
    """The newest of every bot."""
    pair_counts: Sequence[PairCount]
    results: Sequence[ScoredGame]
    """Those that the published run does not have."""
    unplayed: Counter[BotPair]
    """How many planned games of the tournament have no result."""
    repeats: Counter[BotPair]
    """How many of its games repeated others."""


def published_run(connection: Connection, ladder_id: LadderId) -> RatingRunId | None:
    """The ladder's newest run; ``None`` before the first."""
    return connection.scalar(select(Ladder.run_id).where(Ladder.id == ladder_id))


def ladder_state(
    connection: Connection, ladder_id: LadderId, tournament_id: TournamentId
) -> LadderState:
    """Read it all in one reading transaction.

    Raises:
        UnknownLadderError: no ladder has the id.
    """
    table = standings(connection, ladder_id)
    cutoff = 0 if table.run is None else table.run.cutoff
    newest = select(BotVersion.bot_id, func.max(BotVersion.id)).group_by(BotVersion.bot_id)
    return LadderState(
        table=table,
        covariances=covariances(connection, ladder_id),
        versions=dict(connection.execute(newest).all()),
        pair_counts=pair_counts(connection, ladder_id),
        results=results_since(connection, ladder_id, cutoff, limit=MAX_RESULTS),
        unplayed=_unplayed(connection, tournament_id),
        repeats=_repeats(connection, tournament_id),
    )


_LOW = case((Pairing.black_id < Pairing.white_id, Pairing.black_id), else_=Pairing.white_id)
_HIGH = case((Pairing.black_id < Pairing.white_id, Pairing.white_id), else_=Pairing.black_id)


def planned_games(connection: Connection, tournament_id: TournamentId) -> Counter[BotPair]:
    """How many games of the tournament were planned for each two bots."""
    query = (
        select(_LOW, _HIGH, func.count())
        .where(Pairing.tournament_id == tournament_id)
        .group_by(_LOW, _HIGH)
    )
    return _counted(connection, query)


def _counted(connection: Connection, query: Select[BotId, BotId, int]) -> Counter[BotPair]:
    return Counter({(low, high): games for low, high, games in connection.execute(query)})


def finished_games(connection: Connection, tournament_id: TournamentId) -> int:
    """How many games of the tournament have a result."""
    query = select(func.count()).where(
        Game.tournament_id == tournament_id, Game.state == GameState.FINISHED
    )
    return connection.scalar(query) or 0


def _unplayed(connection: Connection, tournament_id: TournamentId) -> Counter[BotPair]:
    finished = (Game.pairing_id == Pairing.id) & (Game.state == GameState.FINISHED)
    query = (
        select(_LOW, _HIGH, func.count())
        .outerjoin(Game, finished)
        .where(Pairing.tournament_id == tournament_id, Game.id.is_(None))
        .group_by(_LOW, _HIGH)
    )
    return _counted(connection, query)


def _repeats(connection: Connection, tournament_id: TournamentId) -> Counter[BotPair]:
    query = (
        select(_LOW, _HIGH, func.count())
        .join(Game, Game.pairing_id == Pairing.id)
        .where(
            Game.tournament_id == tournament_id,
            Game.state == GameState.FINISHED,
            Game.is_repeat.is_(True),
        )
        .group_by(_LOW, _HIGH)
    )
    return _counted(connection, query)
