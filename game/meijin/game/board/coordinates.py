"""Names of cells: ``h8`` is column h from the left, row 8 from the bottom; and boards as text."""

import re
from string import ascii_lowercase

from meijin.game.rules.variant import MAX_SIDE, Variant

COLUMNS = ascii_lowercase[:MAX_SIDE]
"""The letters of the columns, none of them skipped."""

_NAME = re.compile(r"([a-z])([1-9][0-9]?)")


def cell_name(cell: int, variant: Variant) -> str:
    """The printed name of `cell`.

    Raises:
        ValueError: the cell is off the board.
    """
    if not 0 <= cell < variant.cells:
        raise ValueError(f"cell {cell} is off the {variant.size} board")
    row, column = divmod(cell, variant.width)
    return f"{COLUMNS[column]}{variant.height - row}"


def parse_cell(text: str, variant: Variant) -> int:
    """The cell with the printed name `text`; capitals are accepted.

    Raises:
        ValueError: the text names no cell of the board.
    """
    name = _NAME.fullmatch(text.strip().lower())
    if name is None:
        raise ValueError(f'"{text}" is no cell; write a column letter and a row, like "h8"')
    column = ord(name[1]) - ord("a")
    row = variant.height - int(name[2])
    return cell_at(column, row, variant)


def cell_at(column: int, row: int, variant: Variant) -> int:
    """The cell at `column` from the left and `row` from the top, both from 0.

    Raises:
        ValueError: there is no such column or row.
    """
    if not (0 <= column < variant.width and 0 <= row < variant.height):
        raise ValueError(f"column {column}, row {row} is off the {variant.size} board")
    return row * variant.width + column


EMPTY_SYMBOL = "."


def format_diagram(symbols: str, width: int) -> str:
    """The printed board of one symbol per cell, top row first."""
    return "\n".join(symbols[at : at + width] for at in range(0, len(symbols), width))
