"""A bot that evaluates all its games at once: ``meijin bot run numpy_bot.py``.

The boards of all games that wait are stacked, and every line of every board is looked at by the
same few operations on arrays. A neural network would take the same stacks in and give a value for
each cell out: put it in the place of `evaluate`.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from meijin.bots import Bot, Capabilities, Position, run
from meijin.game import CARO, CARO_EXACT, FREESTYLE, STANDARD

OWN = (1, 20, 400, 8_000, 1_000_000)
THEIRS = (1, 10, 200, 4_000, 100_000)
"""What a stone in a line of five is worth, by the stones of one side that are there already."""
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def stack(positions: Sequence[Position]) -> NDArray[np.int64]:
    """The boards, all of one size, as (games, 2, height, width): own stones, then the opponent's."""
    variant = positions[0].variant
    planes = np.zeros((len(positions), 2, variant.cells), dtype=np.int64)
    for game, position in enumerate(positions):
        moves = np.asarray(position.board.moves)
        mover = len(moves) % 2  # 0 for black, who has the even plies
        planes[game, 0, moves[mover::2]] = 1
        planes[game, 1, moves[1 - mover :: 2]] = 1
    return planes.reshape(len(positions), 2, variant.height, variant.width)


def evaluate(planes: NDArray[np.int64], line: int = 5) -> NDArray[np.int64]:
    """What a stone on each cell is worth to the side to move, as (games, height, width).

    A line counts as long as it has stones of one side at most: the sums over each are a
    convolution with a row of ones, and their values are spread back over its cells.
    """
    games, _, height, width = planes.shape
    values = np.zeros((games, height, width), dtype=np.int64)
    table = np.zeros((line + 1, line + 1), dtype=np.int64)  # by the stones of both sides
    table[:line, 0], table[0, 1:line] = OWN, THEIRS[1:]  # full ones count nothing
    for down, right in DIRECTIONS:
        rows, columns = height - (line - 1) * down, width - (line - 1) * abs(right)
        if rows <= 0 or columns <= 0:
            continue
        left = (line - 1) * (right < 0)  # of the cell where the lines begin
        corners = [(n * down, left + n * right) for n in range(line)]
        windows = [np.s_[..., y : y + rows, x : x + columns] for y, x in corners]
        sums = np.add.reduce([planes[window] for window in windows])
        worth = table[sums[:, 0], sums[:, 1]]
        for window in windows:
            values[window] += worth
    return values


class NumpyBot(Bot):
    """Plays the cell of the highest value in each game."""

    name = "numpy-batch"
    capabilities = Capabilities(
        rules=(FREESTYLE, STANDARD, CARO, CARO_EXACT), min_size=5, max_size=22, max_games=256
    )

    def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:
        """Evaluate the boards of each size together."""
        by_size = defaultdict(list)
        for index, position in enumerate(positions):
            by_size[position.variant.height, position.variant.width].append(index)
        cells = [0] * len(positions)
        for indices in by_size.values():
            planes = stack([positions[index] for index in indices])
            values = np.where(planes.any(axis=1), -1, evaluate(planes))
            for index, cell in zip(
                indices, values.reshape(len(indices), -1).argmax(1), strict=True
            ):
                cells[index] = int(cell)
        return cells


if __name__ == "__main__":
    run(NumpyBot())
