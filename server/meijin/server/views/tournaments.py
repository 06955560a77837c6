"""Tournaments as they are shown: with their crosstables and faults."""

from dataclasses import dataclass

from sqlalchemy import Connection

from meijin.store.schema import TournamentId
from meijin.store.tournaments import TournamentRow, crosstable, fault_counts, get_tournament


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
class TournamentDetail:
    """A tournament with its crosstable."""

    tournament: TournamentRow
    crosstable: tuple[CrosstableCell, ...]
    """Of every two that have met, both ways round."""
    faults: tuple[FaultLine, ...]
    """Of every bot, in the order of entry."""


def tournament_detail(connection: Connection, tournament_id: TournamentId) -> TournamentDetail:
    """A tournament as it stands.

    Raises:
        UnknownTournamentError: there is none of that id.
    """
    row = get_tournament(connection, tournament_id)
    names, faults = dict(row.bots), fault_counts(connection, tournament_id)
    return TournamentDetail(
        tournament=row,
        crosstable=tuple(
            CrosstableCell(
                names[score.bot_id],
                names[score.opponent_id],
                score.wins,
                score.draws,
                score.losses,
            )
            for score in crosstable(connection, tournament_id)
        ),
        faults=tuple(FaultLine(name, faults.get(bot_id, 0)) for bot_id, name in row.bots),
    )
