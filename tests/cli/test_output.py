"""What commands print."""

import pytest
from rich.console import Console

from meijin.cli.output import games_text, standings_table
from meijin.v1 import tournament_service_pb2 as pb


@pytest.mark.parametrize(
    ("may_end_early", "planned", "words"),
    [
        (False, 60, "12 of 60 games"),
        (True, 400, "12 of at most 400 games"),
        (True, 0, "12 games"),
    ],
)
def test_how_far_a_tournament_is(*, may_end_early: bool, planned: int, words: str) -> None:
    """By its schedule, by what bounds it, or by neither."""
    tournament = pb.Tournament(
        may_end_early=may_end_early, planned_games=planned, finished_games=12
    )
    assert games_text(tournament) == words


def test_standings_have_a_column_for_each_tie_break() -> None:
    """And say what is noted of a bot, within 80 characters."""
    standings = [
        pb.TournamentStanding(
            rank=rank,
            bot=bot,
            points=points,
            games=4,
            wins=int(points),
            losses=4 - int(points),
            tie_breaks=[
                pb.TieBreak(name="Buchholz", value=4.5),
                pb.TieBreak(name="Sonneborn-Berger", value=2),
            ],
            note=note,
        )
        for rank, bot, points, note in ((1, "ada", 4, ""), (2, "bob", 2, "bye"))
    ]
    response = pb.GetTournamentResponse(
        tournament=pb.Tournament(tournament_id="7"),
        faults=[pb.FaultCount(bot="bob", faults=1)],
        standings=standings,
    )
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(standings_table(response))
    title, columns, *rows = (line.split() for line in capture.get().splitlines())
    assert title == ["Tournament", "7"]
    assert columns[:5] == ["#", "bot", "points", "Buchholz", "Sonneborn-Berger"]
    assert rows == [
        ["1", "ada", "4", "4.5", "2", "4", "4", "0", "0", "0"],
        ["2", "bob", "2", "4.5", "2", "4", "2", "0", "2", "1", "bye"],
    ]
