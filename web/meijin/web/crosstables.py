"""Crosstables: what each bot of a tournament has scored against each other one."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from meijin.v1 import tournament_service_pb2 as pb


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
    order = _order(response)
    return tuple(
        _line(number, bot, tuple(cells.get((bot, other)) for other in order), faults.get(bot, 0))
        for number, bot in enumerate(order, start=1)
    )


def crosstable_csv(response: pb.GetTournamentResponse) -> str:
    """The same as a file: a row a bot, with its points against each."""
    lines = crosstable(response)
    file = io.StringIO()
    writer = csv.writer(file)
    names = [line.bot for line in lines]
    writer.writerow(["number", "bot", *names, "points", "wins", "draws", "losses", "faults"])
    for line in lines:
        points = ["" if cell is None else cell.wins + cell.draws / 2 for cell in line.cells]
        counts = (line.points, line.wins, line.draws, line.losses, line.faults)
        writer.writerow([line.number, line.bot, *points, *counts])
    return file.getvalue()


def _order(response: pb.GetTournamentResponse) -> Sequence[str]:
    if response.standings:
        return [standing.bot for standing in response.standings]
    points = dict.fromkeys(response.tournament.settings.bots, 0.0)
    for cell in response.crosstable:
        points[cell.bot] = points.get(cell.bot, 0.0) + cell.wins + cell.draws / 2
    return sorted(points, key=lambda bot: -points[bot])


def _line(
    number: int, bot: str, cells: tuple[pb.CrosstableCell | None, ...], faults: int
) -> CrosstableLine:
    met = [cell for cell in cells if cell is not None]
    wins, draws = sum(cell.wins for cell in met), sum(cell.draws for cell in met)
    losses = sum(cell.losses for cell in met)
    return CrosstableLine(number, bot, cells, wins + draws / 2, wins, draws, losses, faults)
