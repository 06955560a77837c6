"""Fouls of renju in the compiled core, against the judge of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from tests.bots.conftest import cells
from tests.bots.core.conftest import Core

from meijin.bots.core.engine import Engine
from meijin.bots.core.fouls import allowed_cells, may_play
from meijin.bots.core.limits import Options, SearchLimits
from meijin.bots.core.movegen import add_candidates
from meijin.bots.core.state import rebuild
from meijin.bots.core.threats import OPEN_FOUR_PLIES
from meijin.game import RENJU, Board, Color, Variant
from meijin.game.records.chances import WIN_SCORE

GOLDEN = Path(__file__).parents[2] / "data" / "renju_forbidden_points.tsv"
RENJU_15 = Variant(RENJU)


class Position(Core):
    """A position of the core with any stones."""

    def __init__(self, variant: Variant, stones: Sequence[int], side: int = 0) -> None:
        super().__init__(variant)
        self.state.stones[: len(stones)] = stones
        self.state.side = side
        rebuild(self.state, self.tables)

    def forbidden(self) -> set[int]:
        """The empty cells that the side to move may not play on."""
        width = self.variant.width
        found = set()
        for row in range(self.variant.height):
            cells = range(row * width, (row + 1) * width)
            mask = sum(1 << cell - row * width for cell in cells if not self.state.stones[cell])
            allowed = allowed_cells(self.state, self.tables, row, mask)
            assert allowed & ~mask == 0
            found |= {cell for cell in cells if (mask & ~allowed) >> cell - row * width & 1}
        return found


def test_golden_positions() -> None:
    """Every forbidden point of 250 positions is found, and the lines are left as they were."""
    for number, text in enumerate(GOLDEN.read_text().splitlines()[::10]):
        symbols, _, listed = text.partition("\t")
        points = (point.split(",") for point in listed.split(";") if point)
        expected = {15 * int(row) + int(column) for column, row in points}
        position = Position(RENJU_15, [".ox".index(symbol) for symbol in symbols])
        before = position.state.lines.copy()
        assert position.forbidden() == expected, number
        assert (position.state.lines == before).all()


@pytest.mark.parametrize("size", [(5, 5), (7, 9), (15, 15), (22, 22)])
def test_other_sizes(size: tuple[int, int]) -> None:
    """The judge of the rules finds the same on boards of any size, and white has no fouls."""
    variant, rng = Variant(RENJU, *size), Random(7)
    for _ in range(20):
        share = rng.uniform(0.1, 0.5)
        stones = [
            rng.choice((1, 1, 2)) if rng.random() < share else 0 for _ in range(variant.cells)
        ]
        board = Board(variant)
        for at, stone in zip(board.grid.index, stones, strict=True):
            board.stones[at] = stone
        empty = [cell for cell in range(variant.cells) if not stones[cell]]
        expected = {cell for cell in empty if RENJU.forbids(board, cell, Color.BLACK)}
        position = Position(variant, stones)
        assert position.forbidden() == expected
        assert {
            cell for cell in empty if not may_play(position.state, position.tables, cell)
        } == expected
        assert Position(variant, stones, side=1).forbidden() == set()


def test_candidates_are_allowed() -> None:
    """A double-three of black's is no candidate, and is one of white's."""
    stones = [0] * 225
    for cell in cells("f8 g8 h9 h10"):
        stones[cell] = 1
    for side in range(2):
        position = Position(RENJU_15, stones, side)
        count = add_candidates(position.state, position.tables, 0)
        moves = {int(cell) for cell in position.state.moves[0, :count]}
        assert (cells("h8")[0] in moves) is bool(side)


def search(black: str, white: str, *, depth: int = 6) -> tuple[int, int]:
    """The cell and the score that a search finds with black's stones and white's played in turn."""
    pairs = zip(cells(black), cells(white), strict=False)
    moves = [cell for pair in pairs for cell in pair]
    moves += cells(black)[len(cells(white)) :]
    engine = Engine(RENJU_15, Options(table_bits=12))
    result = engine.search(moves, SearchLimits(depth=depth))
    return result.cell, result.score


def test_black_wins_by_an_exact_five() -> None:
    """Of two cells beside a four the one that would make six in a row is left alone."""
    assert search("d8 e8 f8 g8 i8", "d1 f1 h1 j1 l1")[0] == cells("c8")[0]


def test_white_wins_where_black_may_not_block() -> None:
    """A four whose only block is six in a row for black has won."""
    cell, score = search("c8 d8 e8 g8 h8 f11", "f9 f10 f7 o15 a15")
    assert (cell, score) == (cells("f6")[0], WIN_SCORE - OPEN_FOUR_PLIES)


def test_black_does_not_count_on_a_foul() -> None:
    """Black to move has no win by a cell that is forbidden."""
    cell, score = search("f8 g8 h9 h10", "a1 c1 e1 o15")
    assert cell != cells("h8")[0]
    assert abs(score) <= 30_000
