"""A board as pixels: what `board_svg` draws, for PNG."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageDraw

from meijin.game import Board, Color, Variant
from meijin.game.board.coordinates import COLUMNS
from meijin.game.board.svg import FILLS, INK, LAST, LINE, WOOD
from meijin.game.board.winning_line import winning_line
from meijin.web.pictures.lettering import font

FINE = 3
"""Stones and lines are drawn so much larger, and then reduced: Pillow draws hard edges."""
BORDER = 1.2
"""From the outermost lines to the edge, in cells."""
SMALLEST_NUMBER = 16
"""Pixels between two lines from which on stones have numbers that can be read."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where the cells of a board lie in a square."""

    variant: Variant
    cell: float
    """Pixels between two lines."""
    left: float
    """Of the first column."""
    top: float

    @classmethod
    def within(cls, variant: Variant, side: int) -> _Grid:
        """The largest that fits, in the middle."""
        columns, rows = (each - 1 for each in (variant.width, variant.height))
        cell = side / (max(columns, rows) + 2 * BORDER)
        return cls(variant, cell, (side - columns * cell) / 2, (side - rows * cell) / 2)

    def at(self, cell: int) -> tuple[float, float]:
        row, column = divmod(cell, self.variant.width)
        return self.left + column * self.cell, self.top + row * self.cell


def board_image(board: Board, side: int) -> Image.Image:
    """The stones of a board in a square, with the last one and a winning line marked."""
    image = _shapes(board, side * FINE).reduce(FINE)
    grid = _Grid.within(board.variant, side)
    draw = ImageDraw.Draw(image)
    _names(draw, grid)
    if grid.cell >= SMALLEST_NUMBER:
        _numbers(draw, grid, board)
    return image


def _shapes(board: Board, side: int) -> Image.Image:
    image = Image.new("RGB", (side, side), WOOD)
    draw, grid = ImageDraw.Draw(image), _Grid.within(board.variant, side)
    _lines(draw, grid)
    for cell, color in _stones(board):
        _disc(draw, grid, cell, 0.46, fill=FILLS[color], outline="#333", width=0.04)
    for cell in winning_line(board):
        _disc(draw, grid, cell, 0.5, outline=LINE, width=0.09)
    for cell in board.moves[-1:]:
        _disc(draw, grid, cell, 0.4, outline=LAST, width=0.08)
    return image


def _stones(board: Board) -> list[tuple[int, Color]]:
    found = ((cell, board.stone(cell)) for cell in range(board.variant.cells))
    return [(cell, color) for cell, color in found if color is not None]


def _lines(draw: ImageDraw.ImageDraw, grid: _Grid) -> None:
    right, bottom = grid.at(grid.variant.cells - 1)
    width = max(1, round(grid.cell / 24))
    for column in range(grid.variant.width):
        x = grid.left + column * grid.cell
        draw.line((x, grid.top, x, bottom), fill=INK, width=width)
    for row in range(grid.variant.height):
        y = grid.top + row * grid.cell
        draw.line((grid.left, y, right, y), fill=INK, width=width)


def _disc(
    draw: ImageDraw.ImageDraw,
    grid: _Grid,
    cell: int,
    radius: float,
    *,
    fill: str | None = None,
    outline: str,
    width: float,
) -> None:
    """A circle about a cell; the radius and the width of its line are in cells."""
    x, y = grid.at(cell)
    reach = radius * grid.cell
    box = (x - reach, y - reach, x + reach, y + reach)
    draw.ellipse(box, fill=fill, outline=outline, width=max(1, round(width * grid.cell)))


def _names(draw: ImageDraw.ImageDraw, grid: _Grid) -> None:
    letters = font(max(8, round(min(grid.cell * 0.45, 20))))
    _, bottom = grid.at(grid.variant.cells - 1)
    gap = grid.cell * 0.82
    for column in range(grid.variant.width):
        place = (grid.left + column * grid.cell, bottom + gap)
        draw.text(place, COLUMNS[column], fill=INK, font=letters, anchor="mm")
    for row in range(grid.variant.height):
        place = (grid.left - gap, grid.top + row * grid.cell)
        draw.text(place, str(grid.variant.height - row), fill=INK, font=letters, anchor="mm")


def _numbers(draw: ImageDraw.ImageDraw, grid: _Grid, board: Board) -> None:
    letters = font(round(min(grid.cell * 0.42, 40)))
    for number, cell in enumerate(board.moves, start=1):
        color = board.stone(cell) or Color.BLACK
        fill = FILLS[color.other]
        draw.text(grid.at(cell), str(number), fill=fill, font=letters, anchor="mm")
