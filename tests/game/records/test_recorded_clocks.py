"""What the clocks of a recorded game showed."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.game.records.test_recorded_turn import SECOND_NS, record

from meijin.game import FREE, SWAP2, Color, GameRecord, OpeningRule, SideChoice, TimeControl
from meijin.game.records.recorded_clocks import recorded_clocks
from meijin.game.records.recorded_turn import recorded_turns

SECONDS = (6, 0, 0, 8, 0, 9, 10, 11)
"""Of a swap2 opening of three stones and two, and three moves."""


def seconds(game: GameRecord, choice: float = 0) -> list[tuple[int, int]]:
    """Whole seconds on black's and white's clocks."""
    readings = recorded_clocks(game, timedelta(seconds=choice))
    return [(black // SECOND_NS, white // SECOND_NS) for black, white in readings]


def test_each_side_is_charged_for_its_moves() -> None:
    """From the move on, with the increment; the opening took nothing."""
    read = seconds(record((0, 0, 3, 4, 5), opening_plies=2))
    assert read == [(60, 60)] * 3 + [(58, 60), (58, 57), (54, 57)]


def test_an_opening_of_several_stones_is_one_turn() -> None:
    """It gets one increment, and the choice of a side is charged to who has made it."""
    choice = SideChoice(5, Color.WHITE)  # the first player's, after two more stones
    read = seconds(record(SECONDS, rule=SWAP2, choice=choice), choice=2)
    # White, the first player, took 6 s for three stones and 2 s for its choice.
    assert read[0] == (60, 60)
    assert read[1:4] == [(60, 55)] * 3
    assert read[4] == (53, 55)
    assert read[5] == (53, 54)
    assert read[6] == (53, 46)  # move 6 is white's
    assert read[8] == (44, 36)


@pytest.mark.parametrize(
    ("rule", "choice"),
    [(FREE, None), (SWAP2, SideChoice(3, Color.WHITE)), (SWAP2, SideChoice(5, Color.BLACK))],
)
def test_they_are_those_that_the_players_were_told(
    rule: OpeningRule, choice: SideChoice | None
) -> None:
    """With every turn of the record, whoever had which colour; black may have more time."""
    game = replace(
        record(SECONDS, rule=rule, choice=choice),
        white_time_control=TimeControl.parse("50+2"),
    )
    read = list(recorded_clocks(game))
    turns = [turn for turn in recorded_turns(game) if turn.task is None]
    assert turns
    for turn in turns:
        own, opponent = read[turn.ply][:: 1 if turn.color is Color.BLACK else -1]
        assert (own, opponent) == (turn.own_ns, turn.opponent_ns)


def test_a_clock_that_ran_out_shows_nothing() -> None:
    """Whatever a file says of the move."""
    assert seconds(record((70,)))[-1] == (0, 60)


def test_games_without_clocks_have_no_readings() -> None:
    """Where each move is limited alone, and where nobody knows the time control."""
    for control in (TimeControl.parse("5/move"), None):
        game = replace(record((1,)), time_control=control)
        with pytest.raises(ValueError, match="no clocks"):
            list(recorded_clocks(game))
