"""A board as a picture: SVG for notebooks and web pages, without a style sheet or a script.

Its elements have classes, by which the style sheet of a page may give them other colours.
"""

from __future__ import annotations

from collections.abc import Iterator

from meijin.game.board.coordinates import COLUMNS, cell_name
from meijin.game.board.winning_line import PlayedStones, winning_line
from meijin.game.color import Color
from meijin.game.rules.variant import Variant

CELL = 24
"""Between two lines, in pixels at the picture's own size."""
MARGIN = 30
"""From the outermost lines to the edge."""
WOOD, INK, LAST, LINE = "#e9c98a", "#5b4a25", "#d22", "#1a9641"
FILLS = {Color.BLACK: "#111", Color.WHITE: "#fafafa"}
"""Of stones; a number on one has the other's."""


def board_svg(board: PlayedStones, *, numbers: bool = True, forbidden: bool = False) -> str:
    """The stones of a board, with the last one and a winning line marked.

    Nothing in it comes from a bot but cells, so that it may stand in any page.

    Args:
        board: Moves and stones.
        numbers: Whether the stones have the numbers of their moves, from 1 on.
        forbidden: Whether crosses show where the rule forbids the side to move a stone.
    """
    variant = board.variant
    width, height = (side * CELL + 2 * MARGIN - CELL for side in (variant.width, variant.height))
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = f'{size} class="board" role="img" font-family="sans-serif"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {head}>',
        f"<title>{_title(board)}</title>",
        f'<rect class="wood" width="{width}" height="{height}" rx="4" fill="{WOOD}"/>',
        *_lines(variant),
        *_names(variant, height),
        *_stones(board),
        *_marks(board),
    ]
    if numbers:
        parts += _numbers(board)
    if forbidden:
        parts += _crosses(board)
    return "\n".join([*parts, "</svg>\n"])


def _title(board: PlayedStones) -> str:
    variant, moves = board.variant, board.moves
    count = "1 move" if len(moves) == 1 else f"{len(moves)} moves"
    last = f", the last one {cell_name(moves[-1], variant)}" if moves else ""
    return f"{variant}, {count}{last}"


def _at(cell: int, variant: Variant) -> tuple[int, int]:
    """The middle of a cell."""
    row, column = divmod(cell, variant.width)
    return MARGIN + column * CELL, MARGIN + row * CELL


def _lines(variant: Variant) -> Iterator[str]:
    right, bottom = _at(variant.cells - 1, variant)
    columns = (f"M{MARGIN + each * CELL} {MARGIN}V{bottom}" for each in range(variant.width))
    rows = (f"M{MARGIN} {MARGIN + each * CELL}H{right}" for each in range(variant.height))
    yield f'<path class="lines" d="{"".join((*columns, *rows))}" stroke="{INK}" fill="none"/>'


def _names(variant: Variant, height: int) -> Iterator[str]:
    yield f'<g class="name" font-size="11" text-anchor="middle" fill="{INK}">'
    for column in range(variant.width):
        yield f'<text x="{MARGIN + column * CELL}" y="{height - 4}">{COLUMNS[column]}</text>'
    for row in range(variant.height):
        y = MARGIN + row * CELL + 4
        yield f'<text x="9" y="{y}">{variant.height - row}</text>'
    yield "</g>"


def _stones(board: PlayedStones) -> Iterator[str]:
    for cell in range(board.variant.cells):
        color = board.stone(cell)
        if color is not None:
            x, y = _at(cell, board.variant)
            yield (
                f'<circle class="{color.name.lower()}" cx="{x}" cy="{y}" r="11" '
                f'fill="{FILLS[color]}" stroke="#333"/>'
            )


def _marks(board: PlayedStones) -> Iterator[str]:
    lines = (("win", winning_line(board), LINE, 12), ("last", board.moves[-1:], LAST, 9))
    for kind, cells, stroke, radius in lines:
        for cell in cells:
            x, y = _at(cell, board.variant)
            yield (
                f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}" fill="none" '
                f'stroke="{stroke}" stroke-width="2"/>'
            )


def _numbers(board: PlayedStones) -> Iterator[str]:
    yield '<g font-size="10" text-anchor="middle">'
    for number, cell in enumerate(board.moves, start=1):
        x, y = _at(cell, board.variant)
        color = board.stone(cell) or Color.BLACK
        name = f"on-{color.name.lower()}"
        fill = FILLS[color.other]
        yield f'<text class="{name}" x="{x}" y="{y + 4}" fill="{fill}">{number}</text>'
    yield "</g>"


def _crosses(board: PlayedStones) -> Iterator[str]:
    """Over the empty cells that may not be played on; none when the game is over."""
    if board.winner is not None:
        return
    for cell in range(board.variant.cells):
        if board.stone(cell) is None and not board.is_legal(cell):
            x, y = _at(cell, board.variant)
            yield (
                f'<path class="forbidden" d="M{x - 5} {y - 5}l10 10m0 -10l-10 10" '
                f'stroke="{LAST}" stroke-width="2"/>'
            )
