"""Answers: what the points that an engine names mean, and the analysis in its messages.

No protocol says how evaluation, depth, nodes and the principal variation are written. What is read
here are words that Rapfi ("Depth 12-24 | Eval 45 | Node 120K | Bestline h8 i9"), Yixin ("depth 9
value 30 bestline [7,7] [8,8]"), Embryo and pela ("ev 45 d 12 n 120K pv 7,7 8,8") and many others
have in common.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence

from meijin.bots.bridge.dialogue import Point
from meijin.bots.sdk.answer import Analysis, Answer, Choice, Unchecked
from meijin.game import Board, Color, Placement, Variant

MATE_SCORE = 30_000
"""The score of a win that is proven, less the plies to it."""
MAX_MESSAGE = 1024
"""Characters of a message that are looked at."""
_MAX_PV = 64

_DEPTH = re.compile(r"\b(?:depth|d)\s*[:=]?\s*([0-9]{1,4})\b", re.IGNORECASE)
_SCORE = re.compile(
    r"\b(?:eval(?:uation)?|ev|value|val|score)\s*[:=]?\s*"
    r"(?:([+-]?)M([0-9]{1,4})|([+-]?[0-9]{1,9}))(?![0-9])",
    re.IGNORECASE,
)
_NODES = re.compile(
    r"\b(?:nodes?|n|visits?)\s*[:=]?\s*([0-9]{1,18}(?:\.[0-9]{1,6})?)([KMGT])?\b", re.IGNORECASE
)
_PV = re.compile(r"\b(?:best\s?line|pv|line)\s*[:=]?\s*(\S.*)", re.IGNORECASE)
_POINT = re.compile(r"\[?\s*([0-9]{1,2})\s*,\s*([0-9]{1,2})\s*\]?|\b([A-Va-v])([0-9]{1,2})\b")
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def read_analysis(messages: Iterable[str], variant: Variant, cell: int) -> Analysis | None:
    """What the engine has said of its move to `cell`: the last that it said of each.

    Its principal variation counts only where it begins with that move. ``None`` where nothing
    of an analysis was said.
    """
    score, depth, nodes = 0, 0, 0
    pv: Sequence[int] = ()
    found = False
    for message in messages:
        text = message[:MAX_MESSAGE]
        if match := _SCORE.search(text):
            score, found = _score(match), True
        if match := _DEPTH.search(text):
            depth, found = int(match[1]), True
        if match := _NODES.search(text):
            nodes, found = int(float(match[1]) * _UNITS.get((match[2] or "").upper(), 1)), True
        if (match := _PV.search(text)) and (line := _line(match[1], variant, cell)):
            pv, found = line, True
    return Analysis(score, depth, nodes, pv) if found else None


def _score(match: re.Match[str]) -> int:
    sign, mate, plain = match.groups()
    if mate is None:
        return int(plain)
    return (-1 if sign == "-" else 1) * (MATE_SCORE - int(mate))


def _line(text: str, variant: Variant, cell: int) -> list[int]:
    """Read a line that begins with `cell`, counting lettered rows from either side."""
    points = _POINT.findall(text)[:_MAX_PV]
    for from_below in (True, False):
        cells = _cells(points, variant, from_below=from_below)
        if cells[:1] == [cell]:
            return cells
    return []


def _cells(points: Iterable[Sequence[str]], variant: Variant, *, from_below: bool) -> list[int]:
    """The cells up to the first that is off the board, or that comes again."""
    cells: list[int] = []
    for x, y, letter, number in points:
        if letter:
            column = ord(letter.lower()) - ord("a")
            row = variant.height - int(number) if from_below else int(number) - 1
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


def move_answer(point: Point, messages: Sequence[str], board: Board) -> Answer:
    """The move to `point` with what the engine said of it; if it is illegal, for all to see."""
    x, y = point
    cell = cell_of(point, board.variant)
    if cell == board.variant.cells:
        logger.error("the engine plays %d,%d, off the %s board", x, y, board.variant.size)
        return Unchecked(cell)
    if not board.is_legal(cell):
        logger.error("the engine plays %d,%d, which is illegal", x, y)
        return Unchecked(cell)
    return Choice(cell, read_analysis(messages, board.variant, cell)) if messages else cell


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
