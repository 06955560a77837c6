"""What a run found, in words."""

from typing import Any

import pytest

from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.run_notes import draws_note, foretold_note, width_note


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ({"factor": 1.04, "correlation": 0.3, "correlation_is_sure": True}, ""),
        (
            {"factor": 1.09, "correlation": 0.3, "pair_deviation": 43.2},
            "intervals are 1.09 times as wide as for independent games, to be safe",
        ),
        (
            {"factor": 1.3, "pair_deviation": 71.6, "pair_deviation_is_sure": True},
            (
                "intervals are 1.30 times as wide as for independent games: results depend on who "
                "meets whom (by 72 Elo)"
            ),
        ),
        (
            {
                "factor": 1.3,
                "correlation": 0.3,
                "correlation_is_sure": True,
                "pair_deviation": 71.6,
                "pair_deviation_is_sure": True,
            },
            (
                "intervals are 1.30 times as wide as for independent games: results of one opening "
                "hang together (correlation 0.30) and results depend on who meets whom (by 72 Elo)"
            ),
        ),
    ],
)
def test_a_cause_is_named_where_it_is_sure(found: dict[str, Any], told: str) -> None:
    """And nowhere else, however large it was estimated."""
    assert width_note(pb.Overdispersion(**found)) == told


def test_draws_that_surely_depend_on_strength_are_told() -> None:
    """By what equals draw; with 40 Elo to be better by, that is tanh(ln 10 * 40 / 800)."""
    run = pb.RatingRun(draws=40, draw_slope=0.301, draw_level=1700)
    assert draws_note(run) == ""
    run.draw_slope_is_sure = True
    assert draws_note(run) == (
        "stronger bots draw more: two rated 1500 draw 8.1% of their games, "
        "two rated 1900 draw 16.1% of their games"
    )
    run.opening_deviation = 140
    assert draws_note(run).endswith("two rated 1900 draw 14.2% of their games")  # by 40 nodes, too
    run.draw_slope = -0.301
    assert draws_note(run).startswith("stronger bots draw less: two rated 1500 draw 14.2%")


def test_how_often_chances_came_true_is_told_of_enough_games() -> None:
    found = pb.CalibrationBin(games=1240, expected_score=0.713, score=0.708)
    found.score_low, found.score_high = 0.682, 0.7333
    assert foretold_note(found) == (
        "favourites were told 71.3% of the points and got 70.8% (95 % interval 68.2% to 73.3%) in "
        "1,240 games of the last 30 days, told by those before each day"
    )
    found.games = 99
    assert foretold_note(found) == ""
