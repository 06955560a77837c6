"""Game records."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from meijin.game import STANDARD, Board, GameRecord, IllegalMoveError, Variant

RECORD = GameRecord(Variant(STANDARD), "ann", "bob", (112, 113, 98))
SECOND = timedelta(seconds=1)


def test_board() -> None:
    """The board of a record is the one after its last move."""
    assert RECORD.board() == Board.from_moves([112, 113, 98], Variant(STANDARD))


def test_board_of_an_illegal_game() -> None:
    """A record whose moves are no game has no board."""
    with pytest.raises(IllegalMoveError, match="h8 is occupied"):
        replace(RECORD, moves=(112, 112)).board()


@pytest.mark.parametrize("times", [(SECOND,), (SECOND,) * 4])
def test_times_fit_the_moves(times: tuple[timedelta, ...]) -> None:
    """There is a time for each move or for none."""
    with pytest.raises(ValueError, match=f"{len(times)} times don't fit 3 moves"):
        replace(RECORD, times=times)


def test_negative_time() -> None:
    """A move takes no less than no time."""
    with pytest.raises(ValueError, match="a move can't take -1 day, 23:59:59"):
        replace(RECORD, times=(SECOND, SECOND, -SECOND))


@pytest.mark.parametrize("plies", [-1, 4])
def test_opening_fits_the_moves(plies: int) -> None:
    """The opening is part of the moves."""
    with pytest.raises(ValueError, match=f"an opening of {plies} plies doesn't fit 3 moves"):
        replace(RECORD, opening_plies=plies)


def test_opening_alone() -> None:
    """All of the moves may be the opening and take no time; by default none are."""
    record = replace(RECORD, opening_plies=3, times=(timedelta(0),) * 3)
    assert (record.opening_plies, RECORD.opening_plies) == (3, 0)


def test_start_time_is_aware() -> None:
    """An instant without a time zone is refused."""
    moment = datetime(2025, 11, 20, 18, 2, tzinfo=UTC)
    assert replace(RECORD, start_time=moment).start_time == moment
    with pytest.raises(ValueError, match="start time 2025-11-20 18:02:00 needs a time zone"):
        replace(RECORD, start_time=moment.replace(tzinfo=None))
