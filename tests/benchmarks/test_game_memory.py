"""What a running game takes in memory."""

from __future__ import annotations

import game_memory

from meijin.game import GOMOKU, Board


def test_nobody_wins_by_the_moves_that_are_played() -> None:
    """Not before the board is full."""
    board = Board.from_moves(game_memory.CELLS)
    assert board.ply == GOMOKU.cells
    assert board.winner is None


def test_a_running_game_takes_three_kilobytes_at_most() -> None:
    """At move 60; bytes that are allocated don't depend on the machine."""
    assert 1000 < game_memory.allocated_bytes(games=200, plies=60) < 3072
