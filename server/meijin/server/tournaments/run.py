"""Tournaments taken from the store to be played."""

from collections import OrderedDict
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from meijin.game import encode_moves, openings_for
from meijin.server.match.live_game import TournamentRun
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import Supply
from meijin.server.tournaments.formats.ladder import LadderSupply
from meijin.server.tournaments.formats.ladder_plan import LadderPlan
from meijin.server.tournaments.formats.sprt import SprtSupply
from meijin.server.tournaments.formats.sprt_plan import SprtPlan
from meijin.store.ladders.planning import planned_games, unplayed_games
from meijin.store.match_counts import pairing_results
from meijin.store.schema import TournamentFormat, TournamentState
from meijin.store.tournaments import TournamentRow, entrants, last_number, pending_pairings


def load_run(connection: Connection, row: TournamentRow, storage: Storage) -> TournamentRun:
    """A stored tournament as it is played; its running games are entered by the arena.

    Args:
        storage: For what is read while it is played.
    """
    make_supply = SUPPLIES.get(row.format)
    pairings = pending_pairings(connection, row.id)
    return TournamentRun(
        id=row.id,
        variant=row.variant,
        time_control=row.time_control,
        max_games=row.max_games,
        ladder_id=row.ladder_id,
        remaining=0 if make_supply else row.planned - row.finished,
        pending=OrderedDict((pairing.id, pairing) for pairing in pairings),
        cancelled=row.state is TournamentState.CANCELLED,
        is_finished=row.state is TournamentState.FINISHED,
        supply=make_supply(connection, row, storage) if make_supply else None,
        last_number=last_number(connection, row.id),
    )


def _sprt_supply(connection: Connection, row: TournamentRow, _: Storage) -> SprtSupply:
    plan = SprtPlan.of(row)
    assert plan is not None
    return SprtSupply(
        plan,
        row.bots,
        _openings(row),
        seed=row.seed,
        planned=last_number(connection, row.id),
        results=pairing_results(connection, row.id),
    )


def _ladder_supply(connection: Connection, row: TournamentRow, storage: Storage) -> LadderSupply:
    plan = LadderPlan.of(row)
    assert plan is not None
    assert row.ladder_id is not None
    return LadderSupply(
        plan,
        storage,
        (row.id, row.ladder_id),
        entrants(connection, row.id),
        _openings(row),
        seed=row.seed,
        planned=planned_games(connection, row.id),
        unplayed=unplayed_games(connection, row.id),
        finished=row.finished,
    )


def _openings(row: TournamentRow) -> Sequence[bytes]:
    """Those it was given, or the server's own."""
    return row.openings or [encode_moves(opening) for opening in openings_for(row.variant)]


SUPPLIES: dict[TournamentFormat, Callable[[Connection, TournamentRow, Storage], Supply]] = {
    TournamentFormat.LADDER: _ladder_supply,
    TournamentFormat.SPRT: _sprt_supply,
}
"""What makes the supply of each format that has no schedule."""
