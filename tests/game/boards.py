"""Boards with stones that nobody has played."""

from collections.abc import Iterable

from meijin.game import GOMOKU, Board, Color, Variant


def place(black: Iterable[int], white: Iterable[int], variant: Variant = GOMOKU) -> Board:
    """A board with stones on these cells, and black to move."""
    board = Board(variant)
    for cells, color in ((black, Color.BLACK), (white, Color.WHITE)):
        for cell in cells:
            board.stones[board.grid.index[cell]] = color
    return board


def set_up(diagram: str, variant: Variant = GOMOKU) -> Board:
    """A board with the stones of a diagram: its rows from the top, with slashes between them."""
    cells: dict[str, list[int]] = {symbol: [] for symbol in "xo."}
    for row, symbols in enumerate(diagram.split("/")):
        for column, symbol in enumerate(symbols):
            cells[symbol].append(row * variant.width + column)
    return place(cells["x"], cells["o"], variant)


def has_won(board: Board, color: Color) -> bool:
    """Whether a side has a winning line, looking at every stone of the board."""
    cells = (cell for cell in range(board.variant.cells) if board.stone(cell) is color)
    return any(board.variant.rule.wins(board, cell) for cell in cells)
