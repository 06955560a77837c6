"""Answers: what the points that an engine names mean, and the analysis in its messages.

No protocol says how evaluation, depth, nodes and the principal variation are written. What is read
are words that Rapfi ("Depth 12-24 | Eval 45 | Time 5ms | H8 I9"), wine ("depth=8", "best: [7,7]
val=30", "bestLine: [7,7] [8,8]"), Embryo ("depth 12-21 ev 108 n 447k pv Xg9 Og6"), Carbon ("eval
144, depth 7, nodes 95403") and many others have in common; `known` has what one has alone.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from meijin.bots.bridge.dialogue import Point
from meijin.bots.sdk.answer import Analysis, Answer, Choice, Unchecked
from meijin.game import Board, Color, Placement, Variant
from meijin.game.records.chances import WIN_SCORE

MAX_MESSAGE = 1024
"""Characters of a message that are looked at."""
_MAX_PV = 64

_POINT = re.compile(r"\[?\s*([0-9]{1,2})\s*,\s*([0-9]{1,2})\s*\]?|\b[XO]?([A-Va-v])([0-9]{1,2})\b")
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SCORE = re.compile(r"([+-]?)(?:([MV])([0-9]{1,4})|([0-9]{1,9}))", re.IGNORECASE)
_NODES = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?)([KMGT])?", re.IGNORECASE)


class Rows(Enum):
    """Where lettered points count their rows from."""

    BELOW = "below"
    ABOVE = "above"
    ZERO = "zero"
    """Above, beginning with 0."""


@dataclass(frozen=True, slots=True)
class MessagePatterns:
    """How an engine writes what it thinks: patterns with one group each."""

    depth: re.Pattern[str]
    nodes: re.Pattern[str]
    score: re.Pattern[str]
    line: re.Pattern[str]
    rows: Rows = Rows.BELOW


USUAL_MESSAGES = MessagePatterns(
    depth=re.compile(r"\b(?:depth|d)\s*[:=]?\s*([0-9]{1,4})\b", re.IGNORECASE),
    nodes=re.compile(
        r"\b(?:nodes?|nd|n|visits?)\s*[:=]?\s*([0-9]{1,18}(?:\.[0-9]{1,6})?[KMGT]?)\b",
        re.IGNORECASE,
    ),
    score=re.compile(
        r"\b(?:eval(?:uation)?|ev|value|val|score)\s*[:=]?\s*"
        r"([+-]?(?:[MV][0-9]{1,4}|[0-9]{1,9}))(?![0-9])",
        re.IGNORECASE,
    ),
    line=re.compile(
        r"(?:\b(?:best\s?line|pv|line)\s*[:=]?|[|\]](?=[\sA-V0-9,]*$))\s*(\S.*)", re.IGNORECASE
    ),
)
"""The words that most have in common."""


def read_analysis(
    messages: Iterable[str],
    variant: Variant,
    cell: int,
    patterns: MessagePatterns = USUAL_MESSAGES,
) -> Analysis | None:
    """What the engine has said of its move to `cell`: the last that it said of each.

    Its principal variation counts only where it begins with that move. ``None`` where nothing
    of an analysis was said.
    """
    score, depth, nodes = None, None, None
    pv: Sequence[int] = ()
    for message in messages:
        text = message[:MAX_MESSAGE]
        if match := patterns.score.search(text):
            score = _score(match[1])
        if match := patterns.depth.search(text):
            depth = _number(match[1])
        if match := patterns.nodes.search(text):
            nodes = _number(match[1])
        if match := patterns.line.search(text):
            pv = _line(match[1], variant, cell, patterns.rows) or pv
    if score is None and depth is None and nodes is None and not pv:
        return None
    return Analysis(score, depth, nodes, pv)


def _score(text: str) -> int | None:
    match = _SCORE.fullmatch(text)
    if match is None:
        return None
    sign = -1 if match[1] == "-" else 1
    return sign * (WIN_SCORE - int(match[3]) if match[2] else int(match[4]))


def _number(text: str) -> int | None:
    match = _NODES.fullmatch(text)
    if match is None:
        return None
    return int(float(match[1]) * _UNITS.get((match[2] or "").upper(), 1))


def _line(text: str, variant: Variant, cell: int, rows: Rows) -> list[int]:
    """Read a line that begins with `cell`; lettered rows may be counted in other ways."""
    points = _POINT.findall(text)[:_MAX_PV]
    for way in (rows, *Rows):
        cells = _cells(points, variant, way)
        if cells[:1] == [cell]:
            return cells
    return []


def _cells(points: Iterable[Sequence[str]], variant: Variant, rows: Rows) -> list[int]:
    """The cells up to the first that is off the board, or that comes again."""
    cells: list[int] = []
    for x, y, letter, number in points:
        if letter:
            column, row = ord(letter.lower()) - ord("a"), int(number)
            row = {Rows.BELOW: variant.height - row, Rows.ABOVE: row - 1, Rows.ZERO: row}[rows]
        else:
            column, row = int(x), int(y)
        cell = row * variant.width + column
        if not (0 <= column < variant.width and 0 <= row < variant.height) or cell in cells:
            break
        cells.append(cell)
    return cells


logger = logging.getLogger("meijin.bots.engine")


def cell_of(point: Point, variant: Variant) -> int:
    """The cell of a point; one above all cells where it is off the board."""
    x, y = point
    on_board = 0 <= x < variant.width and 0 <= y < variant.height
    return y * variant.width + x if on_board else variant.cells


def move_answer(
    point: Point,
    messages: Sequence[str],
    board: Board,
    patterns: MessagePatterns = USUAL_MESSAGES,
) -> Answer:
    """The move to `point` with what the engine said of it; if it is illegal, for all to see."""
    x, y = point
    cell = cell_of(point, board.variant)
    if cell == board.variant.cells:
        logger.error("the engine plays %d,%d, off the %s board", x, y, board.variant.size)
        return Unchecked(cell)
    if not board.is_legal(cell):
        logger.error("the engine plays %d,%d, which is illegal", x, y)
        return Unchecked(cell)
    if not messages:
        return cell
    return Choice(cell, read_analysis(messages, board.variant, cell, patterns))


def placement(points: Sequence[Point], variant: Variant) -> Placement:
    """The stones that an engine places, legal or not."""
    return Placement(tuple(cell_of(point, variant) for point in points))


def side_and_move(points: Sequence[Point], board: Board) -> tuple[Color, Point | None] | None:
    """The side that an engine chooses, and its move where that side is to move.

    ``None`` where it places stones and lets the opponent choose.
    """
    side = board.side_to_move
    if not points:
        return side.other, None
    return (side, points[0]) if len(points) == 1 else None


def are_stones(cells: Sequence[int], variant: Variant) -> bool:
    """Whether cells are all on the board, and each another."""
    return len(set(cells)) == len(cells) and max(cells, default=0) < variant.cells
