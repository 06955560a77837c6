"""Games of engines against themselves."""

from __future__ import annotations

from datetime import timedelta

import pytest
import self_play

from meijin.game import RENJU, Board, Variant


def test_rows() -> None:
    """Each engine plays its games under each rule to their end."""
    limit = timedelta(milliseconds=1)
    made = list(self_play.rows(["renju"], list(self_play.ENGINES), games=1, limit=limit, size=7))
    assert [row["engine"] for row in made] == ["alphabeta", "guided", "pure"]
    for row in made:
        assert sum(int(row[end]) for end in ("black", "white", "draws")) == 1
        assert int(row["moves"]) > 0


def test_an_illegal_move_is_shown() -> None:
    """The benchmark ends with the cell and the position."""
    board = Board.from_moves([24], Variant(RENJU, 7, 7))
    with pytest.raises(SystemExit, match=r"illegal: cell 24 after \[24\]"):
        self_play.play(board, lambda _board: 24)
