"""Answers: what the points that an engine names mean, as a move or in an opening."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from meijin.bots.bridge.dialogue import Point
from meijin.bots.bridge.messages import read_analysis
from meijin.bots.sdk.answer import Answer, Choice, Unchecked
from meijin.game import Board, Color, OpeningRule, Placement, Variant

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


def is_legal(points: Sequence[Point], rule: OpeningRule, variant: Variant) -> bool:
    """Whether points are the first stones of an opening."""
    cells = placement(points, variant).cells
    return len(set(cells)) == len(cells) == rule.stones and max(cells) < variant.cells
