"""How late answers come."""

from __future__ import annotations

from datetime import timedelta

import deadline

from meijin.game import Board


def test_summary() -> None:
    """Early answers are counted apart; the others make the figures."""
    assert deadline.summary([4.0, -30.0, 1.0, 2.0, 3.0]) == {
        "searches": 4,
        "early": 1,
        "median_ms": 2.5,
        "p99_ms": 3.97,
        "worst_ms": 4.0,
    }


def test_nothing_to_sum_up() -> None:
    """Without late answers there is nothing to say."""
    assert deadline.summary([-1.0, -2.0])["worst_ms"] == ""


def test_positions() -> None:
    """Half of the positions are openings, the others have more stones; none is over."""
    boards = deadline.positions(6)
    assert len(boards) == 6
    assert not any(board.is_over for board in boards)
    for opening, middle in zip(boards[::2], boards[1::2], strict=True):
        assert opening.ply < middle.ply <= opening.ply + deadline.MIDGAME_PLIES


def test_rows() -> None:
    """There is a row for each player and limit, and every search counts once."""
    limits = [timedelta(milliseconds=10), timedelta(milliseconds=20)]
    made = list(deadline.rows([Board.from_moves([112, 113, 97])] * 3, limits))
    assert [(row["player"], row["limit_ms"]) for row in made] == [
        ("engine", 10),
        ("engine", 20),
        ("bot", 10),
        ("bot", 20),
    ]
    for row in made:
        assert int(row["searches"]) + int(row["early"]) == 3
