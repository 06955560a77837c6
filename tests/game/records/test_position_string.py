"""Position strings."""

import pytest
from hypothesis import given
from tests.game.made_records import records

from meijin.game import GOMOKU, Color, Ending, GameRecord, Outcome
from meijin.game.records.position_string import format_position, from_position, parse_position


def test_written_position() -> None:
    """Moves stand one behind the other."""
    assert format_position((112, 98, 224), GOMOKU) == "h8i9o1"


@given(records())
def test_a_position_is_read_as_it_was_written(record: GameRecord) -> None:
    """The moves of any game."""
    written = format_position(record.moves, record.variant)
    assert parse_position(written, record.variant) == record.moves
    assert from_position(written, record.variant).moves == record.moves


@pytest.mark.parametrize("text", ["h8i9o1", "H8I9O1", "h8 i9 o1", " h8\ti9 o1 "])
def test_white_space_and_capitals(text: str) -> None:
    """Neither means anything."""
    assert parse_position(text, GOMOKU) == (112, 98, 224)


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


def test_an_illegal_game_is_refused() -> None:
    """A game is replayed as it is read."""
    with pytest.raises(ValueError, match="h8 is occupied"):
        from_position("h8h8", GOMOKU)


def test_the_board_shows_the_outcome() -> None:
    """A five ends the game."""
    assert from_position("a1a2b1b2c1c2d1d2e1", GOMOKU).outcome == Outcome(Ending.FIVE, Color.BLACK)
    assert from_position("a1", GOMOKU).outcome is None
