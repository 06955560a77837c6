"""Tournaments as they are shown: with their standings, meetings, crosstables and faults."""

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from meijin.server.tournaments.creation import MAX_BOTS
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.report import Meeting, TournamentStanding
from meijin.server.views.tallies import Tally
from meijin.store.ladders.runs import final_run
from meijin.store.schema import RatingRunId, TournamentId, TournamentState
from meijin.store.tournaments import TournamentRow, get_tournament

MAX_CELLS = 10_000
"""Of a crosstable: a hundred bots that have all met. One of a thousand would be 40 MB."""

MAX_MEETINGS = 5000
"""The newest that are shown."""


@dataclass(frozen=True, slots=True)
class CrosstableCell:
    """What one bot scored against another, both colours together."""

    bot: str
    opponent: str
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True, slots=True)
class FaultLine:
    """How many games a bot forfeited."""

    bot: str
    faults: int


@dataclass(frozen=True, slots=True)
class TournamentSummary:
    """A tournament in a list."""

    row: TournamentRow
    planned_games: int
    """Those that there are to be, or the most that there may be; 0 for no bound."""
    may_end_early: bool
    """It may be decided before all of them are played."""
    detail: object | None = None
    """What only its format tells; see `Format.detail`. Not looked up for a list."""
    final_run: RatingRunId | None = None
    """Of one that has settled its ladder; ``None`` before it is published, and in a list."""


@dataclass(frozen=True, slots=True)
class TournamentDetail:
    """A tournament with its standings and its crosstable."""

    summary: TournamentSummary
    standings: tuple[TournamentStanding, ...]
    """Best first; empty where the format ranks nobody."""
    meetings: tuple[Meeting, ...]
    """By number, the newest of them; empty where each two meet as the crosstable tells."""
    crosstable: tuple[CrosstableCell, ...]
    """Of every two that have met, both ways round; empty where these are too many."""
    faults: tuple[FaultLine, ...]
    """Of each bot in the order of entry, of the first thousand."""


def listed_tournament(row: TournamentRow) -> TournamentSummary:
    """A stored tournament in a list."""
    form = FORMATS[row.format]
    return TournamentSummary(row, form.planned_games(row), form.MAY_END_EARLY)


def tournament_summary(connection: Connection, tournament_id: TournamentId) -> TournamentSummary:
    """A tournament as it stands, with what only its format tells.

    Raises:
        UnknownTournamentError: there is none of that id.
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


def tournament_detail(
    connection: Connection, summary: TournamentSummary, tally: Tally
) -> TournamentDetail:
    """A tournament with its standings and its crosstable."""
    row, table = summary.row, tally.crosstable
    report = FORMATS[row.format].report(connection, row, table)
    names = dict(row.bots)
    return TournamentDetail(
        summary,
        standings=report.standings,
        meetings=report.meetings[-MAX_MEETINGS:],
        crosstable=tuple(
            CrosstableCell(
                names[score.bot_id],
                names[score.opponent_id],
                score.wins,
                score.draws,
                score.losses,
            )
            for score in (table if 2 * len(table) <= MAX_CELLS else ())
        ),
        faults=tuple(
            FaultLine(name, tally.faults.get(bot_id, 0)) for bot_id, name in row.bots[:MAX_BOTS]
        ),
    )
