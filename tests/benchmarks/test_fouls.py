"""How long the judge of fouls takes."""

from __future__ import annotations

from itertools import islice

import fouls

from meijin.game import Color


def test_positions() -> None:
    """Each source gives positions to ask about, with no five of black's."""
    boards = [*islice(fouls.known_positions(), 3), *islice(fouls.random_positions(1), 3)]
    assert len(boards) == 6
    assert not any(board.has_won(Color.BLACK) for board in boards)


def test_rows() -> None:
    """Every empty cell is of one kind, and no foul is among the quiet ones."""
    made = list(fouls.measure(2, seed=1, repeat=1))
    assert [row["positions"] for row in made[::2]] == ["tests/data", "random", "hardest"]
    quiet, others = made[0], made[1]
    cells = sum(int(str(row["cells"]).split()[0]) for row in (quiet, others))
    boards = islice(fouls.known_positions(), 2)
    assert cells == sum(str(board).count(".") for board in boards)
    assert quiet["fouls"] == 0
    assert int(others["fouls"]) == 11
