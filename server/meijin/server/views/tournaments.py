"""Tournaments as they are shown: with their standings, meetings, crosstables and faults."""

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from meijin.server.tournaments.formats import FORMATS
from meijin.store.ladders.runs import final_run
from meijin.store.schema import RatingRunId, TournamentId, TournamentState
from meijin.store.tournaments import TournamentRow, get_tournament


@dataclass(frozen=True, slots=True)
class TournamentSummary:
    row: TournamentRow
    planned_games: int
    """Those that there are to be, or the most that there may be; 0 for no bound."""
    may_end_early: bool
    """It may be decided before all of them are played."""
    detail: object | None = None
    """What only its format tells; see `Format.detail`. Not looked up for a list."""
    final_run: RatingRunId | None = None
    """Of one that has settled its ladder; ``None`` before it is published, and in a list."""


def listed_tournament(row: TournamentRow) -> TournamentSummary:
    form = FORMATS[row.format]
    return TournamentSummary(row, form.planned_games(row), form.MAY_END_EARLY)


def tournament_summary(connection: Connection, tournament_id: TournamentId) -> TournamentSummary:
    """A tournament as it stands, with what only its format tells.

    Raises:
        RowNotFoundError: there is none of that id.
    """
    return summary_of(connection, get_tournament(connection, tournament_id))


def summary_of(connection: Connection, row: TournamentRow) -> TournamentSummary:
    """A stored tournament, with what only its format tells."""
    return with_detail(connection, row, FORMATS[row.format].stored_detail(connection, row))


def with_detail(
    connection: Connection, row: TournamentRow, detail: object | None
) -> TournamentSummary:
    """A stored tournament, where what only its format tells is known."""
    is_settled = row.state is TournamentState.FINISHED and bool((row.options or {}).get("final"))
    return replace(
        listed_tournament(row),
        detail=detail,
        final_run=final_run(connection, row.id) if is_settled else None,
    )
