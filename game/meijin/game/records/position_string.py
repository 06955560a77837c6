"""Position strings: the moves of a game without anything between them, such as ``h8i9j10``.

Columns are letters from the left and rows numbers from the bottom, as `coordinates` has them.
Engines that count rows from the top mean the mirror image, which is the same game.
"""

import re
from collections.abc import Iterable

from meijin.game.board.board import Board
from meijin.game.board.coordinates import cell_name, parse_cell
from meijin.game.records.imported import finished_outcome
from meijin.game.records.record import GameRecord
from meijin.game.rules.variant import Variant

_CELL = re.compile(r"\s*([A-Za-z][0-9]{1,2})")


def format_position(cells: Iterable[int], variant: Variant) -> str:
    """Write moves one behind the other."""
    return "".join(cell_name(cell, variant) for cell in cells)


def parse_position(text: str, variant: Variant) -> tuple[int, ...]:
    """Read moves, with or without white space between them.

    Raises:
        ValueError: what stands somewhere is no cell of the board, or there are too many.
    """
    cells: list[int] = []
    place = 0
    text = text.rstrip()
    while place < len(text):
        cell = _CELL.match(text, place)
        if cell is None or len(cells) == variant.cells:
            rest = text[place : place + 10]
            raise ValueError(f'no move of the {variant.size} board at "{rest}"')
        cells.append(parse_cell(cell[1], variant))
        place = cell.end()
    return tuple(cells)


def from_position(text: str, variant: Variant) -> GameRecord:
    """Read a game, of which nothing but the moves is known.

    Raises:
        ValueError: the text is none, or the moves are no legal game.
    """
    moves = parse_position(text, variant)
    board = Board.from_moves(moves, variant)
    return GameRecord(variant, "", "", moves, outcome=finished_outcome(board))
