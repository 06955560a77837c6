"""What the bots of a tournament scored."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, case, func, select
from sqlalchemy.orm import aliased

from meijin.game import Party
from meijin.store.schema import (
    BotId,
    BotVersion,
    Game,
    GameState,
    TournamentId,
)
from meijin.store.tournaments.match_counts import RESULT_PLACES


@dataclass(frozen=True, slots=True)
class PairScore:
    """What one bot scored against another, both colours together."""

    bot_id: BotId
    opponent_id: BotId
    wins: int
    draws: int
    losses: int


def crosstable(connection: Connection, tournament_id: TournamentId) -> Sequence[PairScore]:
    """What every bot scored against every other, both ways round."""
    black, white = aliased(BotVersion), aliased(BotVersion)
    query = (
        select(black.bot_id, white.bot_id, Game.result, func.count())
        .join(black, black.id == Game.black_id)
        .join(white, white.id == Game.white_id)
        .where(Game.tournament_id == tournament_id, Game.state == GameState.FINISHED)
        .group_by(black.bot_id, white.bot_id, Game.result)
    )
    counts: dict[tuple[BotId, BotId], list[int]] = {}
    for black_id, white_id, result, count in connection.execute(query):
        place = RESULT_PLACES[result]
        counts.setdefault((black_id, white_id), [0, 0, 0])[place] += count
        counts.setdefault((white_id, black_id), [0, 0, 0])[2 - place] += count
    return [PairScore(bot, other, *counts[bot, other]) for bot, other in sorted(counts)]


def fault_counts(connection: Connection, tournament_id: TournamentId) -> dict[BotId, int]:
    """How many games each bot of a tournament forfeited."""
    culprit = case((Game.at_fault == Party.BLACK, Game.black_id), else_=Game.white_id)
    query = (
        select(BotVersion.bot_id, func.count())
        .join(Game, BotVersion.id == culprit)
        .where(
            Game.tournament_id == tournament_id,
            Game.state == GameState.FINISHED,
            Game.at_fault.in_([Party.BLACK, Party.WHITE]),
        )
        .group_by(BotVersion.bot_id)
    )
    return {BotId(bot_id): count for bot_id, count in connection.execute(query)}
