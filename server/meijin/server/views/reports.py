"""Reports of tournaments: made anew only when a game has ended."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sqlalchemy import Connection

from meijin.server.views.tallies import TournamentTally
from meijin.server.views.tournaments import TournamentSummary, summary_of, with_detail
from meijin.store.schema import TournamentId
from meijin.store.tournaments import TournamentRow, get_tournament

MOST_KEPT = 16
"""Tournaments whose reports are kept."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TournamentReport(Generic[T]):
    tally: TournamentTally
    summary: TournamentSummary
    shown: T
    """What was made of it to be shown, which nobody may change."""

    def is_of(self, row: TournamentRow) -> bool:
        """Whether nothing that it shows has changed since but how many games run."""
        return replace(self.summary.row, running=row.running) == row


def look_at(
    connection: Connection,
    tournament_id: TournamentId,
    kept: TournamentReport[T] | None,
    render: Callable[[Connection, TournamentSummary, TournamentTally], T],
) -> TournamentReport[T]:
    """A tournament as it stands.

    Args:
        kept: Of an earlier look.
        render: Makes what is shown of it.

    Raises:
        RowNotFoundError: there is none of that id.
    """
    row = get_tournament(connection, tournament_id)
    before = TournamentTally() if kept is None else kept.tally
    tally = before.at(connection, row)
    if kept is not None and tally.last_end == before.last_end and kept.is_of(row):
        summary = with_detail(connection, row, kept.summary.detail)
        return TournamentReport(tally, summary, kept.shown)
    summary = summary_of(connection, row)
    return TournamentReport(tally, summary, render(connection, summary, tally))
