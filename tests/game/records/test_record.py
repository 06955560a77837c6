"""Game records."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from tests.game.made_records import records

from meijin.game import (
    GOMOKU,
    STANDARD,
    Board,
    Color,
    Decision,
    Declare,
    Ending,
    GameRecord,
    IllegalMoveError,
    Outcome,
    Variant,
)
from meijin.game.records.record import format_position, from_position, parse_position

RECORD = GameRecord(Variant(STANDARD), "ann", "bob", (112, 113, 98))
SECOND = timedelta(seconds=1)


def test_board() -> None:
    """It is the one after the last move; a record whose moves are no game has none."""
    assert RECORD.board() == Board.from_moves([112, 113, 98], Variant(STANDARD))
    with pytest.raises(IllegalMoveError, match="h8 is occupied"):
        replace(RECORD, moves=(112, 112)).board()


MOMENT = datetime(2025, 11, 20, 18, 2, tzinfo=UTC)
NAIVE = MOMENT.replace(tzinfo=None)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"times": (SECOND,)}, "1 times don't fit 3 moves"),
        ({"raw_times": (SECOND,) * 4}, "4 times don't fit 3 moves"),
        ({"times": (SECOND, SECOND, -SECOND)}, "a move can't take -1 day, 23:59:59"),
        ({"analysis": (None, None)}, "2 analyses don't fit 3 moves"),
        ({"opening_plies": -1}, "an opening of -1 plies doesn't fit 3 moves"),
        ({"opening_plies": 4}, "an opening of 4 plies doesn't fit 3 moves"),
        ({"decisions": (Decision(4, Declare(1)),)}, "a decision at ply 4 doesn't fit 3 moves"),
        ({"start_time": NAIVE}, "start time 2025-11-20 18:02:00 needs a time zone"),
        ({"end_time": NAIVE}, "end time 2025-11-20 18:02:00 needs a time zone"),
    ],
)
def test_what_does_not_fit_the_moves(changed: dict[str, Any], message: str) -> None:
    """There is a time for each move or for none, and the opening is part of the moves."""
    with pytest.raises(ValueError, match=message):
        replace(RECORD, **changed)
    replace(RECORD, opening_plies=3, times=(timedelta(0),) * 3, start_time=MOMENT)


# -- position strings ---------------------------------------------------------------


@given(records())
def test_a_position_is_read_as_it_was_written(record: GameRecord) -> None:
    """The moves of any game."""
    written = format_position(record.moves, record.variant)
    assert parse_position(written, record.variant) == record.moves
    assert from_position(written, record.variant).moves == record.moves


@pytest.mark.parametrize("text", ["h8i9o1", "H8I9O1", "h8 i9 o1", " h8\ti9 o1 "])
def test_white_space_and_capitals(text: str) -> None:
    """Neither means anything to those who read; moves are written one behind the other."""
    assert parse_position(text, GOMOKU) == (112, 98, 224)
    assert format_position((112, 98, 224), GOMOKU) == "h8i9o1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h8i", 'at "i"'),
        ("h8,i9", 'at ",i9"'),
        ("h8p1", "off the 15x15 board"),
        ("h8h16", "off the 15x15 board"),
        ("h0", "no cell"),
        ("h8" * 226, 'no move of the 15x15 board at "h8"'),
    ],
)
def test_refused(text: str, message: str) -> None:
    """The error says where it stands."""
    with pytest.raises(ValueError, match=message):
        parse_position(text, GOMOKU)


def test_a_game_is_replayed_as_it_is_read() -> None:
    assert from_position("a1a2b1b2c1c2d1d2e1", GOMOKU).outcome == Outcome(Ending.FIVE, Color.BLACK)
    assert from_position("a1", GOMOKU).outcome is None
    with pytest.raises(ValueError, match="h8 is occupied"):
        from_position("h8h8", GOMOKU)
