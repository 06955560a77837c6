"""Boards as text: ``x`` black, ``o`` white, ``.`` empty, one line per row."""

import re

from meijin.game.board.coordinates import cell_at
from meijin.game.color import Color
from meijin.game.rules.variant import Variant

EMPTY_SYMBOL = "."

_COLORS = {color.symbol: color for color in Color}


def parse_diagram(text: str, variant: Variant) -> dict[int, Color]:
    """The stones of a printed board by cell, in ascending order of cells.

    Rows run from the top and end at a newline or a slash. Cells missing at the end of a
    row and rows missing at the bottom are empty; other white space means nothing.

    Raises:
        ValueError: a symbol is unknown, or a row or a symbol lies off the board.
    """
    rows = re.split(r"[\n/]", text.strip())
    if len(rows) > variant.height:
        raise ValueError(f"{len(rows)} rows are too many for the {variant.size} board")
    stones: dict[int, Color] = {}
    for number, row in enumerate(rows):
        for column, symbol in enumerate("".join(row.split())):
            cell = cell_at(column, number, variant)
            if symbol in _COLORS:
                stones[cell] = _COLORS[symbol]
            elif symbol != EMPTY_SYMBOL:
                raise ValueError(f'"{symbol}" is no stone; write x, o or {EMPTY_SYMBOL}')
    return stones


def format_diagram(symbols: str, width: int) -> str:
    """The printed board of one symbol per cell, top row first."""
    return "\n".join(symbols[at : at + width] for at in range(0, len(symbols), width))
