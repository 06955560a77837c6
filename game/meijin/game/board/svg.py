"""A board as a picture: SVG for web pages, notebooks and files, without a style sheet or a script.

Its elements have classes, by which the style sheet of a page may give them other colours. Numbers
are pixels at the picture's own size; ``board.js`` of the web pages draws the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from meijin.game.board.coordinates import COLUMNS, cell_name
from meijin.game.board.winning_line import PlayedStones, winning_lines
from meijin.game.color import Color
from meijin.game.rules.variant import Variant

SVG = "http://www.w3.org/2000/svg"
CELL = 24
"""Between two lines."""
MARGIN = 28
"""From the outermost lines to the edge, on all sides."""
BARE_MARGIN = 15
"""The same where rows and columns have no names."""
WOOD, INK, LAST, LINE = "#e6bd74", "#4f3c16", "#d4261c", "#1fa34f"
STONES = {Color.BLACK: ("#5c5c5c", "#0d0d0d"), Color.WHITE: ("#ffffff", "#d9d4c9")}
"""The light of a stone's body and its shade."""
FILLS = {Color.BLACK: "#111", Color.WHITE: "#fafafa"}
"""Of numbers, each on stones of the other colour."""
STAR_LINES = {12: 3, 9: 2}
"""How far dots are from the edge, by how many lines a side has at least."""
HALF_WAY_STARS, HALF_WAY_CELLS = 9, 19 * 19
"""Dots with those half-way, and the cells of the smallest board that has these."""


def board_svg(
    board: PlayedStones,
    *,
    numbers: bool = True,
    forbidden: bool = False,
    names: bool = True,
    winning: bool = True,
    inside: str = "",
) -> str:
    """The stones of a board, with a ring on the last one and a line through those that have won.

    Nothing in it comes from a bot but cells, so that it may stand in any page.

    Args:
        board: Moves and stones.
        numbers: Whether the stones have the numbers of their moves, from 1 on.
        forbidden: Whether crosses show where the rule forbids the side to move a stone.
        names: Whether rows and columns have their names: small boards have no room for them.
        winning: Whether a line is drawn through the stones that have won.
        inside: More elements, drawn over the stones.
    """
    variant, margin = board.variant, MARGIN if names else BARE_MARGIN
    width, height = ((side - 1) * CELL + 2 * margin for side in (variant.width, variant.height))
    x = y = -margin  # places count from the outermost lines
    box = f'width="{width}" height="{height}" viewBox="{x} {y} {width} {height}"'
    head = f'{box} class="board" role="img" font-family="sans-serif"'
    parts = [
        f'<svg xmlns="{SVG}" {head}>',
        f"<title>{_title(board)}</title>",
        *stone_bodies(),
        f'<rect class="wood" x="{x}" y="{y}" width="{width}" height="{height}" fill="{WOOD}"/>',
        *_grid(variant),
        *(_names(variant) if names else ()),
        *_stones(board),
        *(_winning(board) if winning else ()),
        *(_numbers(board) if numbers else ()),
        *_last(board),
        *(_crosses(board) if forbidden else ()),
        inside,
    ]
    return "\n".join([*filter(None, parts), "</svg>\n"])


def place(cell: int, variant: Variant) -> tuple[int, int]:
    """The middle of a cell: x and y from the first line."""
    row, column = divmod(cell, variant.width)
    return column * CELL, row * CELL


def star_points(variant: Variant) -> tuple[int, ...]:
    """The cells marked by dots: four near the corners, and on odd boards the middle.

    From 19 lines on also half-way between the four, as on a board of go.
    """
    columns, rows = _stars(variant.width), _stars(variant.height)
    cells = tuple(row * variant.width + column for row in rows for column in columns)
    has_middle = len(cells) == HALF_WAY_STARS
    return cells[::2] if has_middle and variant.cells < HALF_WAY_CELLS else cells


def _stars(side: int) -> tuple[int, ...]:
    """Of the lines of a side, those with dots."""
    edge = next((edge for lines, edge in STAR_LINES.items() if side >= lines), None)
    if edge is None:
        return ()
    middle = (side // 2,) if side % 2 else ()
    return (edge, *middle, side - 1 - edge)


def _title(board: PlayedStones) -> str:
    variant, moves = board.variant, board.moves
    count = "1 move" if len(moves) == 1 else f"{len(moves)} moves"
    last = f", the last one {cell_name(moves[-1], variant)}" if moves else ""
    return f"{variant}, {count}{last}"


def stone_bodies() -> Iterator[str]:
    """How light falls on stones: from above, on the left; circles are filled with it by its id."""
    yield "<defs>"
    for color, (light, shade) in STONES.items():
        yield (
            f'<radialGradient id="stone-{color.name.lower()}" cx=".36" cy=".32" r=".72">'
            f'<stop stop-color="{light}"/><stop offset="1" stop-color="{shade}"/></radialGradient>'
        )
    yield "</defs>"


def _grid(variant: Variant) -> Iterator[str]:
    right, bottom = place(variant.cells - 1, variant)
    columns = (f"M{each * CELL} 0V{bottom}" for each in range(variant.width))
    rows = (f"M0 {each * CELL}H{right}" for each in range(variant.height))
    yield f'<path class="lines" d="{"".join((*columns, *rows))}" stroke="{INK}" fill="none"/>'
    # A line of no length with round ends is a dot.
    dots = "".join("M{} {}h0".format(*place(cell, variant)) for cell in star_points(variant))
    if dots:
        yield (
            f'<path class="stars" d="{dots}" stroke="{INK}" stroke-width="6" '
            'stroke-linecap="round"/>'
        )


def _names(variant: Variant) -> Iterator[str]:
    _, bottom = place(variant.cells - 1, variant)
    yield f'<g class="names" font-size="11" text-anchor="middle" fill="{INK}">'
    for column in range(variant.width):
        yield f'<text x="{column * CELL}" y="{bottom + 22}">{COLUMNS[column]}</text>'
    for row in range(variant.height):
        yield f'<text x="-18" y="{row * CELL + 4}">{variant.height - row}</text>'
    yield "</g>"


def _stones(board: PlayedStones) -> Iterator[str]:
    for cell in range(board.variant.cells):
        color = board.stone(cell)
        if color is not None:
            yield stone_svg(cell, color, board.variant)


def stone_svg(cell: int, color: Color, variant: Variant) -> str:
    """A stone in a picture with the `stone_bodies`."""
    (x, y), name = place(cell, variant), color.name.lower()
    return (
        f'<circle class="{name}" cx="{x}" cy="{y}" r="11" fill="url(#stone-{name})" '
        'stroke="#000" stroke-opacity=".35"/>'
    )


def _winning(board: PlayedStones) -> Iterator[str]:
    for line in winning_lines(board):
        (x, y), (to_x, to_y) = (place(cell, board.variant) for cell in (line[0], line[-1]))
        yield (
            f'<path class="win" d="M{x} {y}L{to_x} {to_y}" stroke="{LINE}" stroke-width="5" '
            'stroke-linecap="round" stroke-opacity=".75"/>'
        )


def _last(board: PlayedStones) -> Iterator[str]:
    for cell in board.moves[-1:]:
        x, y = place(cell, board.variant)
        yield (
            f'<circle class="last" cx="{x}" cy="{y}" r="9" fill="none" stroke="{LAST}" '
            'stroke-width="2"/>'
        )


def _numbers(board: PlayedStones) -> Iterator[str]:
    yield '<g font-size="10" text-anchor="middle">'
    for number, cell in enumerate(board.moves, start=1):
        x, y = place(cell, board.variant)
        color = board.stone(cell) or Color.BLACK
        name, fill = f"on-{color.name.lower()}", FILLS[color.other]
        yield f'<text class="{name}" x="{x}" y="{y + 4}" fill="{fill}">{number}</text>'
    yield "</g>"


def _crosses(board: PlayedStones) -> Iterator[str]:
    """Over the empty cells that may not be played on; none when the game is over."""
    if board.winner is not None:
        return
    for cell in range(board.variant.cells):
        if board.stone(cell) is None and not board.is_legal(cell):
            x, y = place(cell, board.variant)
            yield (
                f'<path class="forbidden" d="M{x - 5} {y - 5}l10 10m0 -10l-10 10" '
                f'stroke="{LAST}" stroke-width="2"/>'
            )
