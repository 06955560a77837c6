"""Input of matchmaking: what the games of a continuous ladder are planned from."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Select, case, func, or_, select

from meijin.store.ladders.days import last_versions
from meijin.store.ladders.games import ScoredGame, results_since
from meijin.store.ladders.runs import Standings, covariances, standings
from meijin.store.ladders.versions import ParentOf, parents_of
from meijin.store.schema import (
    BotId,
    BotVersion,
    BotVersionId,
    Game,
    GameState,
    LadderId,
    Pairing,
    Posterior,
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
    covariances: Posterior | None
    versions: dict[BotId, BotVersionId]
    """The newest of every bot."""
    parents: Sequence[ParentOf]
    """Of these, and of those in turn."""
    states: bytes
    """Each version's state after the games of the run, as the ladder's job wrote it; after fewer
    of them from the time that one is voided until the next run."""
    results: Sequence[ScoredGame]
    """Those that the published run does not have."""
    repeats: Counter[BotPair]
    """How many of the tournament's games between these versions repeated others."""


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
    versions = dict(connection.execute(newest).all())
    return LadderState(
        table=table,
        covariances=covariances(connection, ladder_id),
        versions=versions,
        parents=parents_of(connection, versions.values()),
        states=last_versions(connection, ladder_id),
        results=results_since(connection, ladder_id, cutoff, limit=MAX_RESULTS),
        repeats=_repeats(connection, ladder_id, tournament_id, versions),
    )


def planned_games(connection: Connection, tournament_id: TournamentId) -> Counter[BotPair]:
    """How many games of the tournament were planned for each two bots."""
    query = (
        select(_LOW, _HIGH, func.count())
        .where(Pairing.tournament_id == tournament_id)
        .group_by(_LOW, _HIGH)
    )
    return _counted(connection, query)


def unplayed_games(connection: Connection, tournament_id: TournamentId) -> Counter[BotPair]:
    """How many planned games of the tournament have no result yet."""
    # Not "no finished game": the index of a pairing's games leaves out the void ones alone.
    begun = (Game.pairing_id == Pairing.id) & (Game.state != GameState.VOID)
    query = (
        select(_LOW, _HIGH, func.count())
        .outerjoin(Game, begun)
        .where(
            Pairing.tournament_id == tournament_id,
            or_(Game.id.is_(None), Game.state == GameState.RUNNING),
        )
        .group_by(_LOW, _HIGH)
    )
    return _counted(connection, query)


def _counted(connection: Connection, query: Select[BotId, BotId, int]) -> Counter[BotPair]:
    return Counter({(low, high): games for low, high, games in connection.execute(query)})


def _repeats(
    connection: Connection,
    ladder_id: LadderId,
    tournament_id: TournamentId,
    versions: dict[BotId, BotVersionId],
) -> Counter[BotPair]:
    bots = {version: bot_id for bot_id, version in versions.items()}
    query = (
        select(Game.black_id, Game.white_id, func.count())
        .where(
            Game.ladder_id == ladder_id,  # for its index, which knows the few that are repeats
            Game.state == GameState.FINISHED,
            Game.is_repeat.is_(True),
            Game.tournament_id == tournament_id,
        )
        .group_by(Game.black_id, Game.white_id)
    )
    repeats: Counter[BotPair] = Counter()
    for black, white, games in connection.execute(query):
        if black in bots and white in bots:
            low, high = sorted((bots[black], bots[white]))
            repeats[low, high] += games
    return repeats


_LOW = case((Pairing.black_id < Pairing.white_id, Pairing.black_id), else_=Pairing.white_id)
_HIGH = case((Pairing.black_id < Pairing.white_id, Pairing.white_id), else_=Pairing.black_id)
