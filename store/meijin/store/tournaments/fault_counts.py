"""Counts of the games that the bots of a tournament have lost by their own faults."""

from collections import Counter

from sqlalchemy import Connection, func, select

from meijin.game import Color, Party
from meijin.store.schema import BotId, BotVersion, Game, GameState, TournamentId

_SIDES = {Color.BLACK: Game.black_id, Color.WHITE: Game.white_id}


def fault_counts(connection: Connection, tournament_id: TournamentId) -> Counter[BotId]:
    """How many games each bot has forfeited, void ones left out; without those that have none."""
    counts: Counter[BotId] = Counter()
    for color, side in _SIDES.items():
        query = (
            select(BotVersion.bot_id, func.count())
            .join(Game, side == BotVersion.id)
            .where(
                Game.tournament_id == tournament_id,
                Game.state == GameState.FINISHED,
                Game.at_fault == Party.of(color),
            )
            .group_by(BotVersion.bot_id)
        )
        for bot_id, count in connection.execute(query):
            counts[bot_id] += count
    return counts
