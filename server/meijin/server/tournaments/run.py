"""A tournament that is being played, taken from the store."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from meijin.game import Result, TimeControl, Variant, encode_moves, openings_for
from meijin.server.match.live_game import LiveGame
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import Supply
from meijin.server.tournaments.formats.ladder import LadderSupply
from meijin.server.tournaments.formats.ladder_plan import LadderPlan
from meijin.server.tournaments.formats.sprt import SprtSupply
from meijin.server.tournaments.formats.sprt_plan import SprtPlan
from meijin.store.ladders.planning import planned_games, unplayed_games
from meijin.store.match_counts import PairingResult, pairing_results
from meijin.store.schema import (
    LadderId,
    PairingId,
    TournamentFormat,
    TournamentId,
    TournamentState,
)
from meijin.store.tournaments import (
    PendingPairing,
    TournamentRow,
    entrants,
    last_number,
    pending_pairings,
)


@dataclass(slots=True, eq=False)
class TournamentRun:
    """A tournament whose games are being played."""

    id: TournamentId
    variant: Variant
    time_control: TimeControl
    max_games: int
    """The most games at once; 0 leaves it to the bots."""
    ladder_id: LadderId | None
    remaining: int
    """Games of the schedule without a result; 0 where there is no schedule."""
    pending: OrderedDict[PairingId, PendingPairing] = field(default_factory=OrderedDict)
    """Planned games in the order of the schedule.

    They are taken from the front, where a plain dictionary's search would pass all that were
    there before.
    """
    running: int = 0
    cancelled: bool = False
    is_finished: bool = False
    """Its end is stored, or is about to be."""
    supply: Supply | None = None
    """Plans the games where there is no schedule."""
    last_number: int = 0
    """Of the games that were planned."""

    @property
    def has_ended(self) -> bool:
        """Whether it has come to its end."""
        return bool(self.supply.verdict) if self.supply else self.remaining == 0

    @property
    def is_over(self) -> bool:
        """Whether no game of it is left to play, or none will be."""
        return self.cancelled or self.has_ended

    def count(self, pairing: PendingPairing, result: Result) -> None:
        """A game of it has a result."""
        if self.supply is None:
            self.remaining -= 1
        else:
            self.supply.game_ended(
                PairingResult(pairing.number, pairing.black_id, pairing.white_id, result)
            )


def run_of(game: LiveGame) -> TournamentRun:
    """The tournament that a game is played for."""
    assert isinstance(game.run, TournamentRun)
    return game.run


def load_run(connection: Connection, row: TournamentRow, storage: Storage) -> TournamentRun:
    """A stored tournament as it is played; its running games are entered by the match.

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
