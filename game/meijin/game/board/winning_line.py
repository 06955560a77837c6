"""The winning line: which stones have won."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

from meijin.game.color import Color
from meijin.game.grid import BORDER, Grid
from meijin.game.rules.rule import Stones
from meijin.game.rules.variant import Variant


class PlayedStones(Stones, Protocol):
    """A board, which is what is seen of it once moves are made."""

    @property
    def variant(self) -> Variant:
        """What is played."""

    @property
    def winner(self) -> Color | None:
        """The side with a winning line."""

    @property
    def moves(self) -> array[int]:
        """The cells in the order played."""

    def stone(self, cell: int) -> Color | None:
        """The colour of the stone on `cell`."""

    def is_legal(self, cell: int) -> bool:
        """Whether the side to move may play on `cell`."""


@dataclass(frozen=True, slots=True)
class _OneLine:
    """A board as a rule sees it, with the stones of one line alone."""

    stones: bytearray
    grid: Grid
    line: int


def winning_line(board: PlayedStones) -> tuple[int, ...]:
    """The cells of the line that has won, ascending; of all where the last stone made several.

    None where nobody has won.
    """
    return tuple(sorted({cell for line in winning_lines(board) for cell in line}))


def winning_lines(board: PlayedStones) -> tuple[tuple[int, ...], ...]:
    """The lines that have won, the cells of each ascending: from one of its ends to the other."""
    if board.winner is None:
        return ()
    cells = {place: cell for cell, place in enumerate(board.grid.index)}
    last = board.moves[-1]
    runs = _winning_runs(board, board.grid.index[last], last)
    return tuple(tuple(sorted(cells[place] for place in run)) for run in runs)


def _winning_runs(board: PlayedStones, at: int, cell: int) -> Iterator[list[int]]:
    """The runs through a stone that win, as places in the array.

    The rule tells only whether any line wins, so it is asked about each of them alone.
    """
    stones = board.stones
    for step in board.grid.steps:
        before, after = list(_walk(stones, at, -step)), list(_walk(stones, at, step))
        alone = _OneLine(bytearray(board.grid.empty), board.grid, board.line)
        for place in (*before, at, *after):
            alone.stones[place] = stones[place]
        if board.variant.rule.wins(alone, cell):
            run = [at]
            for side in (before, after):
                run += takewhile(lambda place: stones[place] == stones[at], side)
            yield run


def _walk(stones: bytearray, at: int, step: int) -> Iterator[int]:
    """The places in a direction, up to the border."""
    while stones[at + step] != BORDER:
        at += step
        yield at
