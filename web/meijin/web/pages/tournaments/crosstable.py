"""Crosstables: what each bot of a tournament has scored against each other one."""

from dataclasses import dataclass

from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.standings import crosstable_scores, points
from meijin.wire.text import to_csv


@dataclass(frozen=True, slots=True)
class CrosstableLine:
    """One bot's row."""

    number: int
    """From 1 on, best first: also that of its column."""
    bot: str
    cells: tuple[pb.CrosstableCell | None, ...]
    """In the order of the lines; ``None`` where there was no game."""
    points: float
    wins: int
    draws: int
    losses: int
    faults: int
    """Games that it forfeited."""


def crosstable(response: pb.GetTournamentResponse) -> tuple[CrosstableLine, ...]:
    """The lines of a tournament's crosstable, best first; none where it tells no cells."""
    if not response.crosstable:
        return ()
    cells = {(cell.bot, cell.opponent): cell for cell in response.crosstable}
    faults = {count.bot: count.faults for count in response.faults}
    scores = crosstable_scores(response)
    return tuple(
        CrosstableLine(
            number,
            bot,
            tuple(cells.get((bot, other)) for other in scores),
            *(points(score), score.wins, score.draws, score.losses, faults.get(bot, 0)),
        )
        for number, (bot, score) in enumerate(scores.items(), start=1)
    )


def share(cell: pb.CrosstableCell) -> int:
    """The share of the points that a bot has of those against another, in fifths, 0 to 4."""
    games = cell.wins + cell.draws + cell.losses
    return min(4, 5 * (2 * cell.wins + cell.draws) // (2 * games)) if games else 2


def crosstable_csv(response: pb.GetTournamentResponse) -> str:
    """The same as a file: a row a bot, with its points against each."""
    lines = crosstable(response)
    names = [line.bot for line in lines]
    titles = ["number", "bot", *names, "points", "wins", "draws", "losses", "faults"]
    rows: list[list[object]] = [[*titles]]
    for line in lines:
        against = ["" if cell is None else points(cell) for cell in line.cells]
        counts = (line.points, line.wins, line.draws, line.losses, line.faults)
        rows.append([line.number, line.bot, *against, *counts])
    return to_csv(rows, "\r\n")
