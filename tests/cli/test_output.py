"""What commands print."""

import pytest

from meijin.cli.output import games_text
from meijin.v1 import tournament_service_pb2 as pb


@pytest.mark.parametrize(
    ("form", "planned", "words"),
    [
        (pb.TOURNAMENT_FORMAT_ROUND_ROBIN, 60, "12 of 60 games"),
        (pb.TOURNAMENT_FORMAT_SPRT, 400, "12 of at most 400 games"),
        (pb.TOURNAMENT_FORMAT_LADDER, 60, "12 of at most 60 games"),
        (pb.TOURNAMENT_FORMAT_LADDER, 0, "12 games"),
    ],
)
def test_how_far_a_tournament_is(
    form: pb.TournamentFormat.ValueType, planned: int, words: str
) -> None:
    """By its schedule, by what bounds it, or by neither."""
    tournament = pb.Tournament(
        settings=pb.TournamentSettings(format=form), planned_games=planned, finished_games=12
    )
    assert games_text(tournament) == words
