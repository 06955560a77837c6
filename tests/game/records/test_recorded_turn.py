"""The turns of a recorded game."""

from dataclasses import replace
from datetime import timedelta

import pytest

from meijin.game import (
    FREE,
    GOMOKU,
    SWAP2,
    Choose,
    Color,
    Decision,
    GameRecord,
    OpeningRule,
    Placement,
    Seat,
    TimeControl,
    Variant,
)
from meijin.game.records.recorded_turn import player_of, recorded_clocks, recorded_turns

SECOND_NS = 10**9


def record(
    seconds: tuple[float, ...],
    *,
    opening_plies: int = 0,
    rule: OpeningRule = FREE,
    decisions: tuple[Decision, ...] = (),
    control: str = "60+1",
) -> GameRecord:
    """A game whose moves took this many seconds, and half a second of lag each."""
    times = tuple(timedelta(seconds=each) for each in seconds)
    variant = Variant(width=15, height=15, opening_rule=rule)
    return GameRecord(
        variant,
        "ada",
        "bob",
        tuple(range(0, 2 * len(seconds), 2)),
        times=times,
        raw_times=tuple(time + timedelta(seconds=0.5) for time in times),
        opening_plies=opening_plies,
        time_control=TimeControl.parse(control),
        decisions=decisions,
    )


def test_clocks_stand_as_they_did() -> None:
    """Less what each side was charged, with its increments; the opening took nothing.

    Each player is told its own last charge, raw and charged.
    """
    turns = list(recorded_turns(record((0, 0, 3, 4, 5), opening_plies=2)))
    assert [turn.ply for turn in turns] == [2, 3, 4, 5]
    assert [turn.own_ns // SECOND_NS for turn in turns] == [60, 60, 58, 57]
    assert [turn.opponent_ns // SECOND_NS for turn in turns] == [60, 58, 57, 54]
    assert [turn.color for turn in turns] == [Color.BLACK, Color.WHITE] * 2
    assert [turn.answer for turn in turns] == [4, 6, 8, None]
    half = SECOND_NS // 2  # of lag
    charged = [3 * SECOND_NS, 4 * SECOND_NS]
    last = [None, None, *((each + half, each) for each in charged)]
    assert [turn.last_charge_ns for turn in turns] == last


def test_a_game_that_is_won_has_no_further_turn() -> None:
    """The last one is the winning move's."""
    moves = (0, 30, 1, 31, 2, 32, 3, 33, 4)
    won = GameRecord(GOMOKU, "ada", "bob", moves, time_control=TimeControl.parse("5/move"))
    turns = list(recorded_turns(won))
    assert [turn.ply for turn in turns] == list(range(9))
    assert turns[-1].answer == 4


def test_a_swapped_opening_is_asked_as_it_was() -> None:
    """Three stones, two more instead of a choice, the choice with its own time, and a stone.

    A seat keeps its clock when the colours are exchanged: who has white in the end has white's.
    """
    game = record((3, 0, 0, 4, 0, 6), rule=SWAP2, decisions=(Decision(5, Choose(Color.WHITE)),))
    turns = list(recorded_turns(game, [timedelta(seconds=5)]))
    assert [(turn.ply, turn.seat, turn.answer) for turn in turns] == [
        (0, Seat.FIRST, Placement((0, 2, 4))),
        (3, Seat.SECOND, Placement((6, 8))),
        (5, Seat.FIRST, Choose(Color.WHITE)),
        (5, Seat.FIRST, 10),
        (6, Seat.SECOND, None),
    ]
    assert [turn.own_ns // SECOND_NS for turn in turns] == [60, 60, 58, 54, 57]
    assert turns[3].color is Color.WHITE
    assert turns[3].last_charge_ns == (5 * SECOND_NS, 5 * SECOND_NS)
    assert (player_of(game, Seat.FIRST), player_of(game, Seat.SECOND)) == ("bob", "ada")
    faster = replace(game, white_time_control=TimeControl.parse("30"))
    assert [turn.own_ns // SECOND_NS for turn in recorded_turns(faster)][:3] == [30, 60, 27]


def test_an_opening_may_break_off() -> None:
    """Whoever was asked for the choice is the last."""
    *_, last = recorded_turns(record((3, 0, 0), rule=SWAP2))
    assert (last.ply, last.seat, last.answer) == (3, Seat.SECOND, None)
    assert last.task is not None
    assert last.task.may_choose


def test_a_clock_that_can_not_be_is_told() -> None:
    """Such as one of a file that was changed."""
    with pytest.raises(ValueError, match="ply 0: the move took more than its player had left"):
        list(recorded_turns(record((61,))))
    with pytest.raises(ValueError, match="no time control"):
        list(recorded_turns(GameRecord(GOMOKU, "ada", "bob", ())))


SECONDS = (6, 0, 0, 8, 0, 9, 10, 11)
"""Of a swap2 opening of three stones and two, and three moves."""


def seconds(game: GameRecord, choice: float = 0) -> list[tuple[int, int]]:
    readings = recorded_clocks(game, [timedelta(seconds=choice)])
    return [(black // SECOND_NS, white // SECOND_NS) for black, white in readings]


def test_each_side_is_charged_for_its_moves() -> None:
    """From the move on, with the increment; the opening took nothing."""
    read = seconds(record((0, 0, 3, 4, 5), opening_plies=2))
    assert read == [(60, 60)] * 3 + [(58, 60), (58, 57), (54, 57)]


def test_an_opening_of_several_stones_is_one_turn() -> None:
    """It gets one increment, and the choice of a side is charged to who has made it."""
    decisions = (Decision(5, Choose(Color.WHITE)),)  # the first player's, after two more stones
    read = seconds(record(SECONDS, rule=SWAP2, decisions=decisions), choice=2)
    # White, the first player, took 6 s for three stones and 2 s for its choice.
    assert read[0] == (60, 60)
    assert read[1:4] == [(60, 55)] * 3
    assert read[4] == (53, 55)
    assert read[5] == (53, 54)
    assert read[6] == (53, 46)  # move 6 is white's
    assert read[8] == (44, 36)


@pytest.mark.parametrize(
    ("rule", "decisions"),
    [
        (FREE, ()),
        (SWAP2, (Decision(3, Choose(Color.WHITE)),)),
        (SWAP2, (Decision(5, Choose(Color.BLACK)),)),
    ],
)
def test_they_are_those_that_the_players_were_told(
    rule: OpeningRule, decisions: tuple[Decision, ...]
) -> None:
    """With every turn of the record, whoever had which colour; black may have more time."""
    game = replace(
        record(SECONDS, rule=rule, decisions=decisions),
        white_time_control=TimeControl.parse("50+2"),
    )
    read = list(recorded_clocks(game))
    turns = [turn for turn in recorded_turns(game) if turn.task is None]
    assert turns
    for turn in turns:
        own, opponent = read[turn.ply][:: 1 if turn.color is Color.BLACK else -1]
        assert (own, opponent) == (turn.own_ns, turn.opponent_ns)


def test_clocks_that_can_not_be_shown() -> None:
    """One that ran out shows nothing, whatever a file says of the move; others aren't known."""
    assert seconds(record((70,)))[-1] == (0, 60)
    for control in (TimeControl.parse("5/move"), None):
        game = replace(record((1,)), time_control=control)
        with pytest.raises(ValueError, match="no clocks"):
            list(recorded_clocks(game))
