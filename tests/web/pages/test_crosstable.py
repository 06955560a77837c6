"""Crosstables: their order, and as files."""

import csv
import io

import pytest

from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.pages.tournaments.crosstable import crosstable, crosstable_csv, share


def response(*, standings: bool) -> pb.GetTournamentResponse:
    """Ada has lost to bob, and drawn with eve, who has not met bob."""
    cells = [("ada", "bob", 0, 0, 1), ("bob", "ada", 1, 0, 0), ("ada", "eve", 0, 1, 0)]
    cells.append(("eve", "ada", 0, 1, 0))
    made = pb.GetTournamentResponse(faults=[pb.FaultCount(bot="ada", faults=1)])
    made.tournament.settings.bots.extend(["ada", "bob", "eve"])
    for bot, opponent, wins, draws, losses in cells:
        made.crosstable.add(bot=bot, opponent=opponent, wins=wins, draws=draws, losses=losses)
    if standings:
        made.standings.extend(pb.TournamentStanding(bot=bot) for bot in ("eve", "ada", "bob"))
    return made


def test_lines_are_in_the_order_of_points() -> None:
    assert [line.bot for line in crosstable(response(standings=False))] == ["bob", "ada", "eve"]
    assert [line.bot for line in crosstable(response(standings=True))] == ["eve", "ada", "bob"]


def test_line_adds_up() -> None:
    """Who has not met has no cell."""
    bob, ada, eve = crosstable(response(standings=False))
    assert (ada.points, ada.wins, ada.draws, ada.losses, ada.faults) == (0.5, 0, 1, 1, 1)
    assert [cell is None for cell in bob.cells] == [True, False, True]
    assert eve.number == 3


def test_file_has_the_same() -> None:
    """A row a bot, with a column for each."""
    head, *rows = csv.reader(io.StringIO(crosstable_csv(response(standings=False))))
    assert head[:5] == ["number", "bot", "bob", "ada", "eve"]
    assert rows[1] == ["2", "ada", "0.0", "", "0.5", "0.5", "0", "1", "1", "1"]


def test_tournament_without_cells_has_no_table() -> None:
    """As one before its first result."""
    assert crosstable(pb.GetTournamentResponse()) == ()


@pytest.mark.parametrize(
    ("scores", "fifth"),
    [((0, 0, 2), 0), ((0, 1, 1), 1), ((1, 1, 1), 2), ((3, 0, 2), 3), ((2, 0, 0), 4)],
)
def test_cell_is_coloured_by_its_share(scores: tuple[int, int, int], fifth: int) -> None:
    """Half of the points are in the middle, all of them in the last fifth."""
    wins, draws, losses = scores
    assert share(pb.CrosstableCell(wins=wins, draws=draws, losses=losses)) == fifth
