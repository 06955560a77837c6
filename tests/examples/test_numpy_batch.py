"""The bot that evaluates all its games at once."""

from random import Random
from typing import Any

from tests.examples.conftest import EXAMPLES

from meijin.bots import Position, load_bot
from meijin.game import GOMOKU, STANDARD, Board, TimeControl, Variant

CONTROL = TimeControl.parse("10/move")
VARIANTS = (
    GOMOKU,
    Variant(STANDARD, 7, 9),
    Variant(width=5, height=12),
    Variant(width=6, height=5),
)


def scatter(variant: Variant, rng: Random) -> Position:
    board = Board(variant)
    for cell in rng.sample(range(variant.cells), rng.randrange(variant.cells // 2)):
        board.play(cell)
        if board.is_over:
            board.undo()
            break
    return Position(board, CONTROL)


def best_cells(position: Position) -> set[int]:
    """The cells of the highest value, counted line by line."""
    board, own = position.board, position.color
    own_values, their_values = (1, 20, 400, 8_000, 1_000_000), (1, 10, 200, 4_000, 100_000)
    width, height = board.variant.width, board.variant.height
    values = dict.fromkeys(board.legal_cells(), 0)
    for y in range(height):
        for x in range(width):
            for dx, dy in ((1, 0), (0, 1), (1, 1), (-1, 1)):
                if not (0 <= x + 4 * dx < width and y + 4 * dy < height):
                    continue
                line = [(y + n * dy) * width + x + n * dx for n in range(5)]
                stones = [board.stone(cell) for cell in line]
                mine, theirs = stones.count(own), stones.count(own.other)
                if mine and theirs:
                    continue
                for cell in values.keys() & set(line):
                    values[cell] += own_values[mine] if mine else their_values[theirs]
    return {cell for cell, value in values.items() if value == max(values.values())}


def test_many_games_of_all_sizes_at_once() -> None:
    """Each game gets a cell that is best when it is looked at alone, line by line."""
    rng = Random(1)
    positions = [scatter(rng.choice(VARIANTS), rng) for _ in range(60)]
    bot: Any = load_bot(str(EXAMPLES / "numpy-batch" / "numpy_bot.py"))
    for position, answer in zip(positions, bot.choose_many(positions), strict=True):
        assert answer in best_cells(position), position.board
