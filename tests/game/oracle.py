"""Slow judges of positions, written from the definitions of the rules alone.

They know sets of points, and nothing of how a board keeps its stones. A point is a pair of column
and row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from meijin.game import CARO, CARO_EXACT, FREESTYLE, RENJU, STANDARD, Board, Color, Variant

Point = tuple[int, int]

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (-1, 1))
FIVE = 5


@dataclass(frozen=True)
class Position:
    """The stones of both sides on a board."""

    width: int
    height: int
    black: frozenset[Point]
    white: frozenset[Point]

    @classmethod
    def of(cls, board: Board) -> Position:
        variant = board.variant
        stones: dict[Color | None, set[Point]] = {Color.BLACK: set(), Color.WHITE: set()}
        for cell in range(variant.cells):
            point = cell % variant.width, cell // variant.width
            stones.setdefault(board.stone(cell), set()).add(point)
        black, white = frozenset(stones[Color.BLACK]), frozenset(stones[Color.WHITE])
        return cls(variant.width, variant.height, black, white)

    def has(self, point: Point) -> bool:
        return 0 <= point[0] < self.width and 0 <= point[1] < self.height

    def is_empty(self, point: Point) -> bool:
        return self.has(point) and point not in self.black and point not in self.white

    def with_black(self, point: Point) -> Position:
        return Position(self.width, self.height, self.black | {point}, self.white)

    def fives(self, point: Point) -> Iterator[frozenset[Point]]:
        """Every five cells in a row with the point that can be black, and would be no six."""
        for dx, dy in DIRECTIONS:
            for back in range(FIVE):
                x, y = point[0] - back * dx, point[1] - back * dy
                row = [(x + n * dx, y + n * dy) for n in range(-1, FIVE + 1)]
                if row[0] in self.black or row[-1] in self.black:
                    continue
                if all(self.has(cell) and cell not in self.white for cell in row[1:-1]):
                    yield frozenset(row[1:-1])


def runs(stones: frozenset[Point]) -> Iterator[list[Point]]:
    for x, y in stones:
        for dx, dy in DIRECTIONS:
            if (x - dx, y - dy) not in stones:
                row = [(x - dx, y - dy), (x, y)]
                while row[-1] in stones:
                    row.append((row[-1][0] + dx, row[-1][1] + dy))
                yield row


def has_won(position: Position, color: Color, variant: Variant) -> bool:
    stones = position.black if color is Color.BLACK else position.white
    return any(wins(position, row, color, variant) for row in runs(stones))


def wins(position: Position, row: list[Point], color: Color, variant: Variant) -> bool:
    """Whether a row of stones wins; the first and the last point are those beside it."""
    length, line = len(row) - 2, variant.line
    is_blocked = not position.is_empty(row[0]) and not position.is_empty(row[-1])
    rule = variant.rule
    if rule is FREESTYLE:
        return length >= line
    if rule is STANDARD:
        return length == line
    if rule is CARO:
        return length > line or (length == line and not is_blocked)
    if rule is CARO_EXACT:
        return length == line and not is_blocked
    assert rule is RENJU
    return length == line or (length > line and color is Color.WHITE)


def makes_five(position: Position, point: Point) -> bool:
    after = position.with_black(point)
    return any(five <= after.black for five in after.fives(point))


def fours(position: Position, point: Point) -> dict[frozenset[Point], set[Point]]:
    """The fours that a stone stands in, with the points where each becomes a five."""
    found: dict[frozenset[Point], set[Point]] = {}
    for five in position.fives(point):
        missing = five - position.black
        if len(missing) == 1:
            found.setdefault(five - missing, set()).update(missing)
    return found


def threes(position: Position, point: Point) -> set[frozenset[Point]]:
    """The threes that a stone stands in: each becomes a straight four by a move that is allowed."""
    near = {
        (point[0] + n * dx, point[1] + n * dy) for dx, dy in DIRECTIONS for n in range(-3, 4) if n
    }
    found: set[frozenset[Point]] = set()
    for move in filter(position.is_empty, near):
        after = position.with_black(move)
        straight = [four for four, ends in fours(after, point).items() if len(ends) == 2]
        made = {four - {move} for four in straight if move in four}
        if made - found and not makes_five(position, move) and not is_foul(position, move):
            found |= made
    return found


def is_foul(position: Position, point: Point) -> bool:
    if makes_five(position, point):
        return False
    after = position.with_black(point)
    if any(point in row[1:-1] and len(row) - 2 > FIVE for row in runs(after.black)):
        return True
    if len(fours(after, point)) > 1:
        return True
    return len(threes(after, point)) > 1


def allows(position: Position, point: Point, color: Color, variant: Variant) -> bool:
    return variant.rule is not RENJU or color is Color.WHITE or not is_foul(position, point)


def forbidden_points(position: Position) -> set[Point]:
    points = ((x, y) for x in range(position.width) for y in range(position.height))
    return {point for point in points if position.is_empty(point) and is_foul(position, point)}
