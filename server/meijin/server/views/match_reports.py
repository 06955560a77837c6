"""Reports of matches: what the results of two bots say of the first."""

from dataclasses import dataclass

from sqlalchemy import Connection

from meijin.ladder.statistics.sequential.sprt import Estimate, elo_beyond, estimate_of_match
from meijin.store.match_sums import MatchSums, match_sums
from meijin.store.tournaments import TournamentRow
from meijin.store.tournaments.match_counts import MatchCounts, match_counts

PLAYERS = 2


@dataclass(frozen=True, slots=True)
class MatchReport:
    """A match so far, from its first bot's side."""

    sums: MatchSums
    """Of all games."""
    counts: MatchCounts
    """Of those that repeat no earlier one."""
    estimate: Estimate | None
    """``None`` where the results are all the same."""
    elo_bound: float | None
    """The first bot's advantage is beyond it; ``None`` unless it has won or lost all games."""


def match_report(connection: Connection, row: TournamentRow) -> MatchReport | None:
    """The report of a tournament of two bots that has a result; ``None`` for any other."""
    if len(row.bots) != PLAYERS or not row.finished:
        return None
    (first, _), _ = row.bots
    counts = match_counts(connection, row.id)
    return MatchReport(
        match_sums(connection, row.id, first),
        counts,
        estimate_of_match(counts.games, counts.pairs),
        elo_beyond(counts.games),
    )
