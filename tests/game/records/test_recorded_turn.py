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
    GameRecord,
    OpeningRule,
    Placement,
    Seat,
    SideChoice,
    TimeControl,
    Variant,
)
from meijin.game.records.recorded_turn import player_of, recorded_turns

SECOND_NS = 10**9


def record(
    seconds: tuple[float, ...],
    *,
    opening_plies: int = 0,
    rule: OpeningRule = FREE,
    choice: SideChoice | None = None,
    control: str = "60+1",
) -> GameRecord:
    """A game whose moves took so many seconds, and half a second of lag each."""
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
        choice=choice,
    )


def test_clocks_stand_as_they_did() -> None:
    """Less what each side was charged, with its increments; the opening took nothing."""
    turns = list(recorded_turns(record((0, 0, 3, 4, 5), opening_plies=2)))
    assert [turn.ply for turn in turns] == [2, 3, 4, 5]
    assert [turn.own_ns // SECOND_NS for turn in turns] == [60, 60, 58, 57]
    assert [turn.opponent_ns // SECOND_NS for turn in turns] == [60, 58, 57, 54]
    assert [turn.color for turn in turns] == [Color.BLACK, Color.WHITE] * 2
    assert [turn.answer for turn in turns] == [4, 6, 8, None]


def test_each_player_is_told_its_own_last_charge() -> None:
    """Raw and charged; nothing at its first turn."""
    turns = list(recorded_turns(record((3, 4, 5))))
    charges = [turn.last_charge_ns for turn in turns]
    half = SECOND_NS // 2
    assert charges[:2] == [None, None]
    assert charges[2:] == [
        (3 * SECOND_NS + half, 3 * SECOND_NS),
        (4 * SECOND_NS + half, 4 * SECOND_NS),
    ]


def test_a_game_that_is_won_has_no_further_turn() -> None:
    """The last one is the winning move's."""
    moves = (0, 30, 1, 31, 2, 32, 3, 33, 4)
    won = GameRecord(GOMOKU, "ada", "bob", moves, time_control=TimeControl.parse("5/move"))
    turns = list(recorded_turns(won))
    assert [turn.ply for turn in turns] == list(range(9))
    assert turns[-1].answer == 4


def test_a_swapped_opening_is_asked_as_it_was() -> None:
    """Three stones, two more instead of a choice, the choice with its own time, and a stone."""
    game = record((3, 0, 0, 4, 0, 6), rule=SWAP2, choice=SideChoice(5, Color.WHITE))
    turns = list(recorded_turns(game, timedelta(seconds=5)))
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


def test_a_seat_keeps_its_clock_when_the_colours_are_exchanged() -> None:
    """The first seat has white in the end, and so white's clock from the first turn on."""
    game = record((3, 0, 0, 4, 0, 6), rule=SWAP2, choice=SideChoice(5, Color.WHITE))
    turns = list(recorded_turns(replace(game, white_time_control=TimeControl.parse("30"))))
    assert [(turn.seat, turn.own_ns // SECOND_NS) for turn in turns[:3]] == [
        (Seat.FIRST, 30),
        (Seat.SECOND, 60),
        (Seat.FIRST, 27),
    ]
    assert game.control_of(Color.WHITE) == game.control_of(Color.BLACK) == game.time_control


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
