"""What commands print."""

import pytest

from meijin.cli.output import games_text
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
